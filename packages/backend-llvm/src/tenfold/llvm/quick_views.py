"""Views and copies of small tensors by fewer steps than tenfold-core's composites take: they call the native views at once.

What they return is what those return, node and all, for they call the same operators; where a result is computed at once
nothing is recorded. What they do not know is left to those, by NotImplemented or by any exception.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.quiet import runner
from tenfold.cpu.view import LEAD
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import op
from tenfold.dispatch.runtime import STATE
from tenfold.llvm.quick_subscripts import INT64
from tenfold.tensor.tensor import Tensor, wrap
from tenfold.types.size import Size

INTS = {int}
# Calls a function of NumPy's with its arguments, without warnings.
quietly: Any = runner() or np.errstate(all="ignore")(lambda function, *arguments: function(*arguments))
_expand: Any = op.expand.fn
_getitem: Any = op.getitem.fn
_permute: Any = op.permute.fn
_split: Any = op.split_with_sizes.fn
_to: Any = op.to.fn
_view: Any = op.view.fn


def here(tensor: Any) -> bool:
    """Whether this is a tensor of the CPU whose class asks for nothing."""
    return isinstance(tensor, Tensor) and tensor._key is CPU


def free(tensor: Any) -> bool:
    """Whether this is a tensor of the CPU for whose results nothing is recorded."""
    return here(tensor) and (tensor._node is None or not STATE.grad_enabled)


def listed(given: tuple[Any, ...]) -> Any:
    """Numbers given one by one or as one sequence; None for others than ints, and where nothing is given."""
    if not given:
        return None
    if len(given) == 1 and type(given[0]) in (tuple, list, Size):
        (given,) = given
    return given if set(map(type, given)) <= INTS else None


@lru_cache(maxsize=1 << 10)
def _moved(n: int, source: tuple[int, ...], destination: tuple[int, ...]) -> Any:
    """The order of dimensions; None where the composite has words for what is wrong."""
    order = [-1] * n
    for s, d in zip(source, destination, strict=True):
        if not -n <= s < n or not -n <= d < n or order[d] >= 0:
            return None
        order[d] = s % n
    rest = [i for i in range(n) if i not in order]
    if len(rest) + len(source) != n:
        return None
    return tuple([rest.pop(0) if i < 0 else i for i in order])


def movedim(input: Any, source: Any, destination: Any) -> Any:
    """Dimensions moved to new places."""
    if type(source) is int:
        source, destination = (source,), (destination,)
    if not here(input) or {*map(type, source), *map(type, destination)} != INTS:
        return NotImplemented
    order = _moved(input._array.ndim, tuple(source), tuple(destination))
    return NotImplemented if order is None else _permute(input, order)


def unflatten(input: Any, dim: Any, sizes: Any) -> Any:
    """A dimension as several."""
    shape = input._array.shape
    n = len(shape)
    if not here(input) or type(dim) is not int or not -n <= dim < n or set(map(type, sizes)) != INTS:
        return NotImplemented
    known, open_sizes = prod([m for m in sizes if m != -1]), list(sizes).count(-1)
    dim %= n
    if open_sizes > 1 or known <= 0 or min(sizes) < -1 or (shape[dim] % known if open_sizes else known != shape[dim]):
        return NotImplemented
    filled = [shape[dim] // known if m == -1 else m for m in sizes]
    return _view(input, (*shape[:dim], *filled, *shape[dim + 1 :]))


def narrow(input: Any, dim: Any, start: Any, length: Any) -> Any:
    """So many elements of a dimension."""
    if type(start) is Tensor and start._key is CPU and start._array.dtype is INT64 and not start._array.ndim:
        start = start._array.item()
    shape = input._array.shape
    if not here(input) or {type(dim), type(start), type(length)} != INTS:
        return NotImplemented
    size = shape[dim]
    if start < 0:
        start += size
    if start < 0 or length < 0 or start + length > size:
        return NotImplemented
    return _getitem(input, (*LEAD[dim % len(shape)], slice(start, start + length)))


def expand_as(input: Any, other: Any) -> Any:
    """A view with the shape of another tensor."""
    return _expand(input, other._array.shape) if here(input) and here(other) else NotImplemented


def broadcast_to(input: Any, *size: Any) -> Any:
    """A view with another shape."""
    return _expand(input, *size) if here(input) else NotImplemented


def broadcast_tensors(*tensors: Any) -> Any:
    """Views with the shape that all have in common."""
    if len(tensors) == 1 and type(tensors[0]) in (tuple, list):
        (tensors,) = tensors
    shapes = [x._array.shape for x in tensors]
    shape = [1] * max(map(len, shapes))
    for one in shapes:
        for d in range(-len(one), 0):
            if one[d] != 1:
                if shape[d] not in (1, one[d]):
                    return NotImplemented
                shape[d] = one[d]
    wide = tuple(shape)
    if any(not here(x) for x in tensors):
        return NotImplemented
    return tuple([x if x._array.shape == wide else _expand(x, wide) for x in tensors])


def _sizes(have: int, size: int) -> list[int]:
    """The lengths of parts of one size, the last of which may be shorter."""
    return [size] * (have // size) + ([have % size] if have % size else [])


def split(tensor: Any, split_size_or_sections: Any, dim: Any = 0) -> Any:
    """Parts of a dimension."""
    if not here(tensor) or type(dim) is not int:
        return NotImplemented
    if type(split_size_or_sections) in (list, tuple):
        return _split(tensor, split_size_or_sections, dim)
    have = tensor._array.shape[dim]
    if type(split_size_or_sections) is not int or split_size_or_sections < 1 or not have:
        return NotImplemented
    return _split(tensor, _sizes(have, split_size_or_sections), dim)


def chunk(input: Any, chunks: Any, dim: Any = 0) -> Any:
    """At most so many parts of a dimension."""
    if not here(input) or type(chunks) is not int or type(dim) is not int or chunks < 1:
        return NotImplemented
    have = input._array.shape[dim]
    return _split(input, _sizes(have, -(-have // chunks)), dim) if have else NotImplemented


def repeat(input: Any, *repeats: Any) -> Any:
    """A copy laid out so many times along each dimension."""
    times = listed(repeats)
    if times is None or not free(input) or min(times, default=0) < 0:
        return NotImplemented
    return _repeated(input._array, times)


def _repeated(array: Any, times: Any) -> Any:
    lead = len(times) - array.ndim
    if lead < 0:
        return NotImplemented
    shape = (*(1,) * lead, *array.shape)
    made = np.empty([r * n for r, n in zip(times, shape, strict=True)], array.dtype)
    if made.size:
        tiled = made.reshape([m for pair in zip(times, shape, strict=True) for m in pair])
        tiled[...] = array.reshape([m for n in shape for m in (1, n)])
    return wrap(made, CPU)


def tile(input: Any, *dims: Any) -> Any:
    """The same, where counts that are missing in front are 1."""
    times = listed(dims)
    if times is None or not free(input) or min(times, default=0) < 0:
        return NotImplemented
    return _repeated(input._array, (*(1,) * (input._array.ndim - len(times)), *times))


def repeat_interleave(input: Any, repeats: Any, dim: Any = None) -> Any:
    """Each element, or slice of a dimension, so many times."""
    if not free(input) or (dim is not None and type(dim) is not int):
        return NotImplemented
    if type(repeats) is Tensor:
        repeats = repeats._array if here(repeats) else None
        if repeats.dtype is not INT64 or repeats.ndim != 1 or repeats.size < 2:
            return NotImplemented
    elif type(repeats) is not int or repeats < 0:
        return NotImplemented
    array = input._array.reshape(-1) if dim is None else input._array
    if not array.ndim:
        return NotImplemented
    made = wrap(array.repeat(repeats, dim or 0), CPU)
    return _view(made, made._array.shape) if type(repeats) is int else made  # which is a view, as PyTorch's is


def type_as(input: Any, other: Any) -> Any:
    """In the dtype of another tensor."""
    return _to(input, other.dtype) if here(input) and here(other) else NotImplemented


VIEWS: dict[str, Any] = {
    f.__name__: f
    for f in (
        movedim, unflatten, narrow, expand_as, broadcast_to, broadcast_tensors, split, chunk, repeat, tile, repeat_interleave,
        type_as,
    )
} | {"moveaxis": movedim}  # fmt: skip
