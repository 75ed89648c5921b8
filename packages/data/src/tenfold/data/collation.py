"""Collation: from a list of samples to one batch, through any nesting of containers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.data.worker_info import get_worker_info

CollateMap = dict[type | tuple[type, ...], Callable[..., Any]]

_ACCEPTED = "batch must contain tensors, numpy arrays, numbers, dicts or lists"


def default_convert(data: Any) -> Any:
    """Turn the NumPy arrays and scalars inside any nesting of containers into tensors; leave all else as it is.

    >>> default_convert({"a": np.float32(2), "b": ["text", 1]})["b"]
    ['text', 1]
    """
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "SUO" else tenfold.as_tensor(data)
    if isinstance(data, Mapping):
        return rebuilt_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        parts = [default_convert(part) for part in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return rebuilt_sequence(data, [default_convert(part) for part in data])
    return data


def collate(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """Merge samples into a batch: the function of the first sample's type (or base) in the map, else by container.

    Functions in the map are called as `fn(batch, collate_fn_map=map)`. Mappings merge per key, named tuples and
    sequences per position; a container whose type cannot be built from its parts becomes a dict or list.

    Raises: TypeError for a type that is neither in the map nor a container; RuntimeError for sequences of unequal lengths.
    """
    first = batch[0]
    handler = _handler(type(first), collate_fn_map or {})
    if handler is not None:
        return handler(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        merged = {key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map) for key in first}
        return rebuilt_mapping(first, merged)
    if not isinstance(first, Sequence):
        raise TypeError(f"default_collate: {_ACCEPTED}; found {type(first)}")
    if any(len(sample) != len(first) for sample in batch):
        lengths = sorted({len(sample) for sample in batch})
        raise RuntimeError(f"default_collate: each element in list of batch should be of equal size; got sizes {lengths}")
    columns = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=True)]
    if isinstance(first, tuple):
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    return rebuilt_sequence(first, columns)


def default_collate(batch: list[Any]) -> Any:
    """Merge samples into a batch: tensors and arrays are stacked, numbers become one tensor, strings stay as they are.

    Python floats become float64 and ints int64. Containers merge as `collate` says.

    Raises: TypeError for other types; RuntimeError for tensors or sequences of unequal sizes.

    >>> default_collate([(1, "a"), (2, "b")])[1]
    ('a', 'b')
    >>> default_collate([{"x": 1.5}, {"x": 2.5}])["x"].tolist()
    [1.5, 2.5]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collates_plainly() -> bool:
    """Whether tensors are stacked, as they are unless the user's map says otherwise."""
    return default_collate_fn_map.get(Tensor) is _collate_tensors


def _handler(kind: type, functions: CollateMap) -> Callable[..., Any] | None:
    if kind in functions:
        return functions[kind]
    return next((function for known, function in functions.items() if issubclass(kind, known)), None)


def rebuilt_mapping(like: Any, parts: dict[Any, Any]) -> Any:
    """A mapping of the type (and attributes) of another one, or a dict where that type cannot be built."""
    try:
        if isinstance(like, MutableMapping):
            clone = copy.copy(like)
            clone.update(parts)
            return clone
        return type(like)(parts)
    except TypeError:
        return parts


def rebuilt_sequence(like: Any, parts: list[Any]) -> Any:
    """A sequence of the type (and attributes) of another one, or a list where that type cannot be built."""
    try:
        if isinstance(like, MutableSequence):
            clone = copy.copy(like)
            for position, part in enumerate(parts):
                clone[position] = part
            return clone
        return type(like)(parts)
    except TypeError:
        return parts


def _collate_tensors(batch: list[Tensor], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    first = batch[0]
    if first.is_nested or first.layout != tenfold.strided:
        kind = "nested" if first.is_nested else "sparse"
        raise RuntimeError(
            f"default_collate: Batches of {kind} tensors are not currently supported by the default collate_fn; give the "
            f"DataLoader a collate_fn of your own, such as `list`"
        )
    if get_worker_info() is None:
        return tenfold.stack(batch, 0)
    from tenfold.data.stacking import stacked_to_send  # only in workers

    return stacked_to_send(batch)


def _collate_arrays(batch: list[np.ndarray], *, collate_fn_map: CollateMap | None = None) -> Any:
    if batch[0].dtype.kind in "SUO":
        raise TypeError(f"default_collate: {_ACCEPTED}; found {batch[0].dtype}")
    return collate([tenfold.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def _collate_numpy_scalars(batch: list[Any], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    alike = all(type(scalar) is type(batch[0]) for scalar in batch)
    return tenfold.as_tensor(np.asarray(batch) if alike else batch)


def _collate_floats(batch: list[float], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    return tenfold.tensor(batch, dtype=tenfold.float64)


def _collate_ints(batch: list[int], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    return tenfold.tensor(batch)


def _collate_strings(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Sequence[Any]:
    return batch


default_collate_fn_map: CollateMap = {
    Tensor: _collate_tensors,
    np.ndarray: _collate_arrays,
    (np.bool_, np.number, np.object_): _collate_numpy_scalars,
    float: _collate_floats,
    int: _collate_ints,
    str: _collate_strings,
    bytes: _collate_strings,
}
