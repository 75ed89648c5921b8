"""Update rules as NumPy passes over pieces of the arrays that stay in the processor's cache.

A rule of a dozen operators on a large parameter reads and writes main memory a dozen times; over one block after the other it
does so once. On small parameters what is saved is the way through the operators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tenfold import Tensor
from tenfold.cpu.quiet import quiet
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.runtime import RUNTIME
from tenfold.tensor.storage import Storage, refused

# Elements. What is more leaves the second-level cache, what is less pays for NumPy's calls (benchmarks/optimizers.py).
BLOCK = 1 << 16

# formula(numbers, s, r, *arrays): updates arrays in place but the last, which is the gradient. `s` and `r` are scratch, or None
# where NumPy is to allocate: results of small arrays come from a pool that costs less than a look-up here.
Formula = Callable[..., None]
_known: dict[tuple[Any, ...], list[Any]] = {}


def in_blocks(formula: Formula, numbers: tuple[float, ...], targets: Sequence[Tensor], grad: Tensor) -> bool:
    """Update `targets` in place by a formula in NumPy; False, and nothing done, where only operators can.

    They can where a layer wants to see them, on another device, in other dtypes than float32 and float64, and for memory
    that needs a look before it is written.
    """
    if RUNTIME["ACTIVE"] or grad._key is not CPU:
        return False
    last = grad._array
    dtype, shape, arrays = last.dtype, last.shape, []
    for t in targets:
        a, storage = t._array, t._storage
        if (
            t._key is not CPU
            or a.dtype is not dtype
            or a.shape != shape
            or (storage is not None and storage.guarded and refused(t))
        ):
            return False
        arrays.append(a)
    arrays.append(last)
    kept = _known.get((dtype, *numbers)) or _as_arrays(numbers, dtype)
    if kept is None:
        return False
    if not shape:  # else results are scalars, into which nothing can be written
        arrays = [a.reshape(1) for a in arrays]
    if last.size <= BLOCK:
        _once(formula, kept, arrays)
    else:
        flat = _flattened(arrays)
        if flat is None:
            return False
        _by_blocks(formula, kept, flat)
    for t in targets:
        if t._storage is None:
            t._storage = Storage(t._array, t._key)
        t._storage.version += 1
    return True


def _as_arrays(numbers: tuple[float, ...], dtype: Any) -> list[Any] | None:
    """The numbers without dimensions, which NumPy takes in a third of the time; None for dtypes with rules of their own."""
    if dtype not in (np.float32, np.float64):
        return None
    if len(_known) >= 64:  # those that depend on the count of steps are of no use any more
        _known.clear()
    with np.errstate(all="ignore"):
        return _known.setdefault((dtype, *numbers), [np.array(number, dtype) for number in numbers])


def _flattened(arrays: list[Any]) -> list[Any] | None:
    """Views with one dimension, whose elements correspond; None where there are none, or where they overlap."""
    strides = arrays[0].strides
    if any(a.strides != strides for a in arrays):
        return None
    if not arrays[0].flags.c_contiguous:  # dense in another order, such as channels_last
        order = sorted(range(len(strides)), key=strides.__getitem__, reverse=True)
        arrays = [a.transpose(order) for a in arrays]
        if not arrays[0].flags.c_contiguous:
            return None
    if any(np.may_share_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i]):
        return None
    return [a.reshape(-1) for a in arrays]


@quiet
def _once(formula: Formula, numbers: list[Any], arrays: list[Any]) -> None:
    formula(numbers, None, None, *arrays)


@quiet
def _by_blocks(formula: Formula, numbers: list[Any], arrays: list[Any]) -> None:
    size, dtype = arrays[0].size, arrays[0].dtype
    s, r = np.empty(BLOCK, dtype), np.empty(BLOCK, dtype)
    for start in range(0, size, BLOCK):
        blocks = [a[start : start + BLOCK] for a in arrays]
        count = blocks[0].size
        formula(numbers, s[:count], r[:count], *blocks)
