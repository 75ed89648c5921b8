"""Python data as NumPy arrays: nested sequences, numbers, arrays, in the dtype that PyTorch infers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.devices import device
from tenfold.settings.warnings import warn_once
from tenfold.tensor.tensor import Tensor, host, wrap
from tenfold.types import dtypes
from tenfold.types.dtypes import from_numpy as dtype_of, get_default_dtype
from tenfold.types.narrow import limited, narrowed
from tenfold.types.numbers import fits
from tenfold.types.promotion import number_dtype

_DEEPEST = 64  # dimensions of a NumPy array
_NUMBERS = {bool, int, float, complex}


def _is_sequence(data: Any) -> bool:
    """Whether nested data goes on in there: lists, tuples and whatever has a length and numbered items."""
    if isinstance(data, (list, tuple, range)):
        return True
    return not isinstance(data, (str, bytes, dict, int, float)) and hasattr(data, "__getitem__") and hasattr(data, "__len__")


def _infer_dtype(data: Any, leading: bool = True) -> dtypes.dtype:
    """The dtype for nested Python data: the highest category found."""
    if type(data) is not list:
        if isinstance(data, Tensor):
            return data.dtype
        if isinstance(data, (np.generic, np.ndarray)):
            return dtype_of(data.dtype)
    if type(data) is list or _is_sequence(data):
        kinds = set(map(type, data))
        if len(kinds) == 1 and kinds <= _NUMBERS:
            return number_dtype(data[0])
        if kinds <= _NUMBERS:
            found = {number_dtype(kind()) for kind in kinds}
        else:
            found = {_infer_dtype(item, leading and not i) for i, item in enumerate(data)}
        return max(found, key=lambda d: (d.category, d.itemsize)) if found else get_default_dtype()
    if not isinstance(data, (int, float, complex)):
        raise _not_a_number(data, leading)
    return number_dtype(data)


def _not_a_number(data: Any, leading: bool = False) -> Exception:
    """The error for something else where a number should be; a text that is the first item counts as a sequence."""
    kind = type(data).__name__
    if isinstance(data, (str, bytes)):
        return (
            ValueError(f"tensor(): too many dimensions '{kind}'")
            if leading
            else TypeError(f"tensor(): invalid data type '{kind}'")
        )
    return RuntimeError(f"Could not infer dtype of {kind}: tensor() takes numbers, nested sequences or arrays")


def _depth(data: Any) -> int:
    """How many levels of sequences there are along the first items; a tensor among them counts as one number."""
    depth = 0
    while depth <= _DEEPEST and not isinstance(data, (Tensor, np.ndarray)) and _is_sequence(data):  # it may hold itself
        depth += 1
        if not len(data):
            break
        data = data[0]
    if not isinstance(data, np.ndarray):
        return depth
    warn_once(
        "arrays",
        "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a single "
        "numpy.ndarray with numpy.array() before converting to a tensor.",
    )
    return depth + data.ndim


def _nested(data: Any, depth: int) -> Any:
    """Nested sequences with tensors turned into arrays, or into numbers where a number should be."""
    if type(data) in (int, float):
        return data
    if isinstance(data, Tensor):
        if depth > 0:
            return host(data.detach())
        if data.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return host(data.detach()).reshape(())
    if not isinstance(data, np.ndarray) and _is_sequence(data):
        if set(map(type, data)) <= _NUMBERS and isinstance(data, (list, tuple)):
            return data
        return [_nested(item, depth - 1) for item in data]
    return data


_BY_ANOTHER = (dtypes.complex32, dtypes.float8_e4m3fn)


def _by_another(data: Any, dtype: Any, copy: bool) -> Any:
    """An array of a dtype to which NumPy does not convert as PyTorch does."""
    if dtype is dtypes.complex32:
        return narrowed(data if isinstance(data, np.void) else to_array(data, dtypes.complex64, copy=False))
    if isinstance(data, np.ndarray) and data.dtype == dtype.numpy:
        return np.array(data, copy=True if copy else None)
    return limited(to_array(data, dtypes.float32, copy=False)).astype(dtype.numpy)


def to_array(data: Any, dtype: Any, copy: bool) -> Any:
    """A NumPy array of the data, in the dtype that PyTorch would infer."""
    if dtype in _BY_ANOTHER:
        return _by_another(data, dtype, copy)
    if isinstance(data, np.ndarray):
        wanted = dtype_of(data.dtype) if dtype is None else dtype
        return np.array(data, wanted.numpy, copy=True if copy else None).view(wanted.numpy)
    if not isinstance(data, (list, tuple, int, float, complex, np.generic)):
        if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
            return to_array(np.asarray(data), dtype, copy)
        if not _is_sequence(data):
            raise _not_a_number(data)
        data = _items(data)
    try:
        found = _infer_dtype(data)  # also with a dtype given: it refuses what is no number
    except RecursionError:
        if _depth(data) <= _DEEPEST and _holds_itself(data):  # a list that begins with itself is endlessly deep
            raise TypeError("tensor(): self-referential lists are incompatible") from None
        raise ValueError(f"tensor(): too many dimensions '{type(data).__name__}'") from None
    inferred = dtype or found
    if inferred is dtypes.complex32:  # complex numbers, where the default dtype is float16
        return narrowed(to_array(data, dtypes.complex64, copy=False))
    try:
        with np.errstate(all="ignore"):
            depth = _depth(data)
            if depth > _DEEPEST:
                raise ValueError(f"tensor(): too many dimensions '{type(data).__name__}'")
            nested = _nested(data, depth)
            if inferred.category == 1 and not isinstance(data, np.generic):
                return _integers(nested, inferred)
            return np.array(nested, inferred.numpy)
    except (ValueError, TypeError) as error:
        raise _uneven(data, inferred) or error from None


def _holds_itself(data: Any) -> bool:
    """Whether a list is among its own items, at any level."""
    above, level = set[int](), [data]
    while level:
        above.update(map(id, level))
        level = [item for one in level for item in one if isinstance(item, list)]
        if any(id(item) in above for item in level):
            return True
    return False


def _items(data: Any) -> list[Any]:
    """What a foreign sequence has at 0, 1, ... as its length says."""
    try:
        return [data[i] for i in range(len(data))]
    except Exception as error:
        raise ValueError(f"could not determine the shape of object type '{type(data).__name__}'") from error


def _integers(nested: Any, inferred: dtypes.dtype) -> Any:
    """Numbers as integers of a dtype: fractions are cut off, what is out of range is refused."""
    array = np.asarray(nested)
    if array.dtype == inferred.numpy or not array.size:
        return array.astype(inferred.numpy)
    if array.dtype.kind == "O" or (array.dtype.kind == "u" and inferred.name == "int64"):
        raise ValueError("Overflow when unpacking long long")
    if array.dtype.kind == "c":
        raise TypeError("'complex' object cannot be interpreted as an integer")
    if array.dtype.kind != "b" and not all(fits(extreme.item(), inferred) for extreme in (array.min(), array.max())):
        raise RuntimeError(f"value cannot be converted to type {inferred.name} without overflow")
    return array.astype(inferred.numpy)


def _uneven(data: Any, inferred: dtypes.dtype) -> Exception | None:
    """The error for nested sequences of different lengths or depths; the first of each level say what is expected."""
    sizes, first = [], data
    while _is_sequence(first) and not isinstance(first, Tensor):
        sizes.append(len(first))
        first = first[0] if len(first) else None
    return _first_uneven(data, sizes, 0, inferred)


def _first_uneven(data: Any, sizes: list[int], dim: int, inferred: dtypes.dtype) -> Exception | None:
    if dim == len(sizes) and isinstance(data, Tensor) and data.numel() != 1:
        return ValueError("tensor(): only one element tensors can be converted to Python scalars")
    if isinstance(data, Tensor) and (dim == len(sizes) or (data.dim() and len(data) == sizes[dim])):
        return None
    if dim == len(sizes):
        if not _is_sequence(data) or getattr(data, "shape", None) == ():
            return None
        kind = type(data).__name__
        whole = inferred.category == 1
        wanted = f"'{kind}' object cannot be interpreted as an integer" if whole else f"must be real number, not {kind}"
        return TypeError(f"tensor(): {wanted}")
    if not _is_sequence(data) or getattr(data, "shape", None) == ():
        return TypeError(f"tensor(): not a sequence: {data!r}")
    if len(data) != sizes[dim]:
        return ValueError(f"tensor(): expected sequence of length {sizes[dim]} at dim {dim} (got {len(data)})")
    found = (_first_uneven(item, sizes, dim + 1, inferred) for item in data)
    return next((error for error in found if error is not None), None)


def on_gpu(data: Any) -> Any:
    """Another library's array of a GPU as a tensor on its memory; anything else as it is."""
    if isinstance(data, (list, tuple, int, float, np.ndarray, Tensor)) or not hasattr(data, "__cuda_array_interface__"):
        return data
    array, index = device("cuda").backend.shared(data)  # type: ignore[attr-defined]
    return wrap(array, device("cuda", index))


def too_large(shape: Sequence[int], numpy_dtype: Any) -> RuntimeError:
    """The error for a tensor that no memory can hold."""
    needed = prod(shape) * numpy_dtype.itemsize
    if not needed and prod(size or 1 for size in shape) >= 2**63:
        return RuntimeError(f"Stride calculation overflowed with sizes={list(shape)}")
    if needed >= 2**63:
        return RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
    return RuntimeError(f"can't allocate memory: you tried to allocate {needed} bytes for a tensor of size {list(shape)}")
