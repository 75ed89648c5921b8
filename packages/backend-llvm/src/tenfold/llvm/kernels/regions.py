"""Small arrays seen in another way or read backwards: NumPy's own calls, after tests that cost less than them.

What tenfold-core does in full generality asks for memory's owner and its bounds, which takes several times what the view takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.backend import address
from tenfold.cpu.view import LEAD
from tenfold.llvm.kernels.selecting import before
from tenfold.llvm.session import session

Array = np.ndarray[Any, Any]
PARTS = {np.dtype(a): np.dtype(b) for a, b in (("c8", "f4"), ("c16", "f8"))}
WHOLES = {b: a for a, b in PARTS.items()}
INTS = {int}
_session = session()
_distance: Any = (lambda a, b: address(a) - address(b)) if _session is None else _session.native.distance


def _owner(array: Array) -> Array | None:
    """The array that holds the memory, where that is one step away at most and lies in one piece."""
    base = array.base
    owner = base if type(base) is np.ndarray else array
    return owner if type(owner.base) is not np.ndarray and owner.flags.c_contiguous and owner.size else None


def seen(array: Array, shape: Any, strides: Any) -> Any:
    """The array's memory from its own beginning, in another shape with other steps in bytes."""
    if array.flags.c_contiguous:
        return np.ndarray(shape, array.dtype, array, 0, strides)
    owner = _owner(array)
    return NotImplemented if owner is None else np.ndarray(shape, array.dtype, owner, _distance(array, owner), strides)


def as_strided(input: Array, size: Any, stride: Any, storage_offset: Any) -> Any:
    """A region of memory that lies within it: NumPy looks, and the kernel beneath has the words of the error."""
    owner = _owner(input) if type(input) is np.ndarray else None
    if owner is None or min(stride, default=0) < 0 or 0 in size:
        return NotImplemented
    width = input.itemsize
    if storage_offset is None:
        start = 0 if owner is input else _distance(input, owner)
    elif type(storage_offset) is int:
        start = storage_offset * width
    else:
        return NotImplemented
    try:
        return np.ndarray(tuple(size), input.dtype, owner, start, tuple([s * width for s in stride]))
    except (ValueError, TypeError):
        return NotImplemented


def unfold(input: Array, dimension: int, size: int, step: int) -> Any:
    """Windows of a dimension."""
    n = input.ndim
    if not {type(dimension), type(size), type(step)} <= INTS or not -n <= dimension < n:
        return NotImplemented
    dimension %= n
    shape, strides = [*input.shape, size], [*input.strides, input.strides[dimension]]
    have = shape[dimension]
    if not 0 <= size <= have or step <= 0 or not input.size:
        return NotImplemented
    shape[dimension], strides[dimension] = (have - size) // step + 1, strides[dimension] * step
    return seen(input, shape, strides)


def view_as_real(input: Array) -> Any:
    part = PARTS.get(input.dtype)
    if part is None or not input.flags.c_contiguous or not input.size:
        return NotImplemented
    return np.ndarray((*input.shape, 2), part, input, 0, (*input.strides, part.itemsize))  # steps along sizes of 1 stay


def view_as_complex(input: Array) -> Any:
    """Pairs in memory that begins with a pair."""
    whole, base = WHOLES.get(input.dtype), input.base
    if whole is None or not input.flags.c_contiguous or not input.size:
        return NotImplemented
    if type(base) is np.ndarray and (type(base.base) is np.ndarray or _distance(input, base) % whole.itemsize):
        return NotImplemented
    steps = input.strides[:-1]
    if input.shape[-1:] != (2,) or any(s % whole.itemsize for s in steps):
        return NotImplemented
    return np.ndarray(input.shape[:-1], whole, input, 0, steps)


def roll(input: Array, shifts: Any, dims: Any) -> Any:
    """Elements shifted along one dimension, or as if flat: two copies."""
    if type(shifts) in (tuple, list) and len(shifts) == 1:
        (shifts,) = shifts
    if type(dims) in (tuple, list) and len(dims) < 2:
        dims = dims[0] if dims else None
    if type(shifts) is not int or not input.flags.carray or not input.size or not input.ndim:
        return NotImplemented
    made = np.empty(input.shape, input.dtype)
    source, target, d = (input.reshape(-1), made.reshape(-1), 0) if dims is None else (input, made, dims)
    if type(d) is not int or not -source.ndim <= d < source.ndim:
        return NotImplemented
    cut, lead = -shifts % source.shape[d], LEAD[d % source.ndim]
    rest = source.shape[d] - cut
    target[(*lead, slice(rest))] = source[(*lead, slice(cut, None))]
    target[(*lead, slice(rest, None))] = source[(*lead, slice(cut))]
    return made


before("roll", roll, "along one dimension")
before("as_strided", as_strided, "memory in one piece")
before("unfold", unfold, "elements in memory in one piece")
before("view_as_real", view_as_real, "arrays in one piece")
before("view_as_complex", view_as_complex, "arrays in one piece")
