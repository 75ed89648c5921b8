"""`vmap`: a function of one example becomes one of a batch, without loops."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tenfold.autograd.batch_level import Batched, BatchLevel
from tenfold.autograd.batches import move
from tenfold.autograd.pytree import Spec, broadcast_prefix, flatten, form, unflatten
from tenfold.ops.indexing.joining import cat
from tenfold.random.generator import get_rng_state, set_rng_state
from tenfold.tensor.tensor import Tensor


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None
) -> Callable[..., Any]:
    """The function that maps `func` over a dimension of its positional arguments.

    `in_dims` says which dimension of each argument is the batch (None: none), as one value or a tree like the arguments;
    `out_dims` where it goes in the results. `randomness` is "error", "same" or "different"; `chunk_size` examples are
    taken at a time. Raises ValueError for in_dims and out_dims that do not fit, RuntimeError for what cannot be batched.

    >>> import tenfold
    >>> from tenfold.autograd.func import vmap
    >>> dot = lambda a, b: (a * b).sum()
    >>> vmap(dot, in_dims=(0, None))(tenfold.tensor([[1., 2.], [3., 4.]]), tenfold.tensor([1., 10.]))
    tensor([21., 43.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    plain = type(in_dims) is int and type(out_dims) is int and chunk_size is None

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        if plain and not kwargs:
            size = _common_size(args, in_dims)
            if size is not None:
                return _run_plain(func, size, args, in_dims, out_dims, randomness)
        leaves, spec = flatten(args)
        dims = _input_dims(func, in_dims, leaves, spec)
        size = _batch_size(func, leaves, dims)
        if chunk_size is None or chunk_size >= size:
            return _run(func, size, leaves, dims, spec, out_dims, randomness, kwargs)
        return _run_chunks(func, size, chunk_size, leaves, dims, spec, out_dims, randomness, kwargs)

    return mapped


def _common_size(args: tuple[Any, ...], dim: int) -> int | None:
    """The examples' number, of arguments that all are tensors with such a dimension; else None."""
    size = None
    for x in args:
        if not isinstance(x, Tensor):
            return None
        array: Any = x._array
        if x.is_nested or (type(array) is Batched and array.value.is_nested):
            _check_nested(x, dim)
        shape = array.shape
        try:
            n = shape[dim]
        except IndexError:
            return None
        if n != size:
            if size is not None:
                return None
            size = n
    return size


def _run_plain(func: Any, size: int, args: tuple[Any, ...], in_dim: int, out_dim: int, randomness: str) -> Any:
    """What `_run` does, for arguments that are no trees."""
    with BatchLevel(size, randomness) as level:
        result = func(*[level.wrap(x, in_dim if in_dim >= 0 else in_dim + len(x._array.shape)) for x in args])
        if isinstance(result, Tensor):
            if out_dim == 0 and level.owns(result) and result._array.dim == 0:
                return result._array.value
            return _unwrap(func, level, result, out_dim)
        results, spec = flatten(result)
        places = _output_dims(func, out_dim, spec)
        return unflatten([_unwrap(func, level, value, place) for value, place in zip(results, places)], spec)


def _name(func: Any) -> str:
    return getattr(func, "__name__", None) or repr(func)


def _input_dims(func: Any, in_dims: Any, leaves: list[Any], spec: Spec) -> list[int | None]:
    """The batch dimension of each leaf of the arguments, counted from the front; None: not batched."""
    if not isinstance(in_dims, (int, tuple)) or isinstance(in_dims, bool):
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) "
            f"tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not leaves:
        raise ValueError(f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs.")
    found = broadcast_prefix(in_dims, spec)
    if found is None:
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. "
            f"in_dims has structure {form(in_dims)} but inputs has structure {form(unflatten(leaves, spec))}."
        )
    return [_input_dim(func, in_dims, leaf, dim) for leaf, dim in zip(leaves, found)]


def batch_size(func: Any, in_dims: Any, leaves: list[Any], spec: Spec) -> int:
    """The number of examples in the arguments of a function that is to be mapped."""
    return _batch_size(func, leaves, _input_dims(func, in_dims, leaves, spec))


def _input_dim(func: Any, in_dims: Any, leaf: Any, dim: Any) -> int | None:
    if dim is None:
        return None
    where = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for"
    if not isinstance(dim, int):
        raise ValueError(f"{where} an input but in_dim must be either an integer dimension or None.")
    if not isinstance(leaf, Tensor) and not hasattr(leaf, "_add_batch_dim"):
        raise ValueError(
            f"{where} an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor arguments, please use None "
            f"as the respective in_dim"
        )
    n: int = leaf.dim()
    if not -n <= dim < n:
        raise ValueError(
            f"{where} some input, but that input is a Tensor of dimensionality {n} so expected in_dim to satisfy "
            f"-{n} <= in_dim < {n}."
        )
    _check_nested(leaf, dim % n)
    return dim % n


def _check_nested(tensor: Any, dim: int) -> None:
    """Of a nested tensor's dimensions, the first alone is one of examples, and these have none that all share."""
    array = getattr(tensor, "_array", None)
    if isinstance(array, Batched) and array.value.is_nested:
        raise RuntimeError("Only one level of vmap is supported when vmapping over nested tensors; call unbind() for the rows")
    if dim and getattr(tensor, "is_nested", False):
        raise RuntimeError(f"Nested tensors can only be vmapped over dim=0, but got dim={dim}")


def _batch_size(func: Any, leaves: list[Any], dims: list[int | None]) -> int:
    sizes = [
        leaf.size(dim) if getattr(leaf, "is_nested", False) else leaf.shape[dim]
        for leaf, dim in zip(leaves, dims)
        if dim is not None
    ]
    if not sizes:
        raise ValueError(f"vmap({_name(func)}): Expected at least one Tensor to vmap over, but all in_dims are None")
    if any(n != sizes[0] for n in sizes):
        raise ValueError(
            f"vmap({_name(func)}): Expected all tensors to have the same size in the mapped dimension, got sizes {sizes}"
        )
    return int(sizes[0])


def _run(
    func: Any,
    size: int,
    leaves: list[Any],
    dims: list[int | None],
    spec: Spec,
    out_dims: Any,
    randomness: str,
    kwargs: dict[str, Any],
) -> Any:
    with BatchLevel(size, randomness) as level:
        wrapped = [leaf if dim is None else _one_of(level, leaf, dim) for leaf, dim in zip(leaves, dims)]
        results, out_spec = flatten(func(*unflatten(wrapped, spec), **kwargs))
        places = _output_dims(func, out_dims, out_spec)
        made = [_unwrap(func, level, value, dim) for value, dim in zip(results, places)]
    return unflatten(made, out_spec)


def _one_of(level: BatchLevel, value: Any, dim: int) -> Any:
    """One example of a batch; what holds tensors, as tensordict's TensorDict, knows how to be one itself."""
    return level.wrap(value, dim) if isinstance(value, Tensor) else value._add_batch_dim(in_dim=dim, vmap_level=level.level)


def _output_dims(func: Any, out_dims: Any, spec: Spec) -> list[Any]:
    found = broadcast_prefix(tuple(out_dims) if isinstance(out_dims, list) and spec.kind is tuple else out_dims, spec)
    if found is None and isinstance(out_dims, (tuple, list)) and spec.kind is None and len(out_dims) == 1:
        found = list(out_dims)
    if found is not None and any(d is not None and not isinstance(d, int) for d in found):
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
            f"that says where in the outputs the vmapped dimension should appear."
        )
    if found is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {form(out_dims)} but outputs has structure "
            f"{form(unflatten([0] * spec.size, spec))}."
        )
    return found


def _unwrap(func: Any, level: BatchLevel, value: Any, place: int | None) -> Any:
    """A result of the function with its batch dimension at `place`."""
    if not isinstance(value, Tensor):
        if place is None:
            return value  # a constant beside the results
        if hasattr(value, "_maybe_remove_batch_dim"):
            return value._maybe_remove_batch_dim(_name(func), vmap_level=level.level, batch_size=level.size, out_dim=place)
        raise ValueError(
            f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(value)}. Did you mean "
            f"out_dims=None for it?"
        )
    plain, dim = level.unwrap(value)
    if place is None:
        if dim is not None:
            raise ValueError(
                f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when out_dim is None; "
                f"the result differs between the examples"
            )
        return plain
    _check_nested(plain, place)
    n = plain.dim() + (dim is None)
    if not -n <= place < n:
        raise IndexError(f"vmap: Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got out_dim {place})")
    return move(plain, dim, place % n, level.size)


def _run_chunks(
    func: Any, size: int, chunk: int, leaves: list[Any], dims: list[int | None], spec: Spec, out_dims: Any, randomness: str,
    kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    parts, out_spec = [], None
    state = get_rng_state() if randomness == "same" else None  # all chunks draw the same, too
    for start in range(0, size, chunk):
        if state is not None:
            set_rng_state(state)
        stop = min(start + chunk, size)
        some = [v if d is None else v[(slice(None),) * d + (slice(start, stop),)] for v, d in zip(leaves, dims)]
        result = _run(func, stop - start, some, dims, spec, out_dims, randomness, kwargs)
        flat, out_spec = flatten(result)
        parts.append(flat)
    assert out_spec is not None
    places = _output_dims(func, out_dims, out_spec)
    joined = [column[0] if place is None else cat(list(column), place) for column, place in zip(zip(*parts), places)]
    return unflatten(joined, out_spec)
