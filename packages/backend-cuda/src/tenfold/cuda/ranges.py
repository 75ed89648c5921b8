"""Regular numbers made on the device: ranges, identities and one number repeated, in one launch each.

A range is described first and made when its dtype is known: what the factories of core do with the array that they ask
for, a product, a sum, the order, two ranges one behind the other, changes the description.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.kernels.argument_types import TYPE_OF, Word
from tenfold.cuda.kernels.array_kernels import cast
from tenfold.cuda.kernels.handwritten import F64, Handwritten, start
from tenfold.cuda.kernels.sums import I64

BLOCK = 1024
FILLED = 4096  # elements of a program that has nothing to compute
WIDE = 2**31
FILLS = Handwritten("filled", (("BLOCK", FILLED),), by_address=True)
_fills: dict[tuple[Any, ...], Any] = {}  # the loaded kernels
runtime.ON_REPLACE.append(_fills.clear)
runtime.AFTER_FORK.append(_fills.clear)


@dataclass(frozen=True)
class Range:
    """added + (first + i * step) * factor for each i below count: whole numbers, float64 once there is a factor or a sum."""

    index: int
    count: int
    first: int
    step: int
    factor: float = 1.0
    added: float = 0.0
    dtype: Any = I64

    def __mul__(self, other: Any) -> Any:
        if type(other) is int and self.dtype == I64:
            return replace(self, first=self.first * other, step=self.step * other)
        if type(other) is not float or self.dtype == F64:
            return self.array() * other
        return replace(self, factor=other, dtype=F64)

    def __add__(self, other: Any) -> Any:
        if type(other) is int and self.dtype == I64:
            return replace(self, first=self.first + other)
        if type(other) not in (int, float) or self.added:
            return self.array() + other
        return replace(self, added=float(other), dtype=F64)

    def __rsub__(self, other: Any) -> Any:
        if type(other) is int and self.dtype == I64:
            return replace(self, first=other - self.first, step=-self.step)
        if type(other) not in (int, float) or self.added:
            return other - self.array()
        return replace(self, factor=-self.factor, added=float(other), dtype=F64)

    def __rpow__(self, other: Any) -> Any:
        return other ** self.array()

    __rmul__, __radd__ = __mul__, __add__

    def __getitem__(self, part: slice) -> Range:
        chosen = range(self.count)[part]
        return replace(self, count=len(chosen), first=self.first + chosen.start * self.step, step=self.step * chosen.step)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        (parts,) = arguments
        if function is not np.concatenate or options or any(type(part) is not Range for part in parts):
            return NotImplemented
        return Joined(*parts)

    def array(self) -> Any:
        return self.astype(self.dtype)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The array."""
        return made(self, self, np.dtype(dtype))


@dataclass(frozen=True)
class Joined:
    """Two ranges one behind the other."""

    near: Range
    far: Range

    def __mul__(self, other: Any) -> Any:
        return self.astype(F64) * other

    def __rpow__(self, other: Any) -> Any:
        return other ** self.astype(F64)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The array."""
        return made(self.near, self.far, np.dtype(dtype))


def made(near: Range, far: Range, dtype: Any) -> Any:
    """The array of a range, or of two that are not the same."""
    now, whole = runtime.current(), near.dtype == I64
    if dtype not in TYPE_OF or (dtype.kind not in "iuf" and dtype.itemsize != 2):
        return cast(made(near, far, near.dtype), dtype)
    count = near.count if far is near else near.count + far.count
    out = now.empty((count,), dtype, near.index)
    if count:
        program = Handwritten("ranges", (("WHOLE", int(whole)), ("DOUBLE", 1), ("BLOCK", BLOCK)))
        numbers = count, near.count, near.first, near.step, far.first, far.step
        factors = near.factor, near.added, far.factor, far.added
        start(program, (-(-count // BLOCK),), (out, *numbers, *factors), near.index)
    return out


def repeat(out: Any, word: bytes, index: int) -> None:
    """Fill memory without gaps, on the current GPU, with one number, whose bytes are `word`."""
    now, n, bits = runtime.current(), out.size, int.from_bytes(word, "little")
    pointer = now.pointer(out)
    grid, key = (-(-n // FILLED),), (len(word), pointer & 15, n < WIDE, index)
    if (known := _fills.get(key)) is not None:
        known.run((pointer, n, bits), grid)
        return
    words = now.part(out, (n,), (len(word),), 0).view(f"u{len(word)}")
    _fills[key] = start(FILLS, grid, (words, n, Word(bits)), index)


class Numbers:
    """`arange` and `eye` of the array module, on one GPU."""

    def __init__(self, index: int) -> None:
        self.index = index

    def arange(self, start: float, end: int, step: int = 1) -> Range:
        """Core starts at 0.0 where it goes on in float64, as NumPy's array does then; here the dtype follows what is done."""
        first = int(start)
        return Range(self.index, len(range(first, end, step)), first, step)

    def eye(self, n: int, m: int | None, dtype: Any) -> Any:
        dtype, columns = np.dtype(dtype), n if m is None else m
        now = runtime.current()
        plain = dtype.kind == "b" or (dtype in TYPE_OF and (dtype.kind in "iuf" or dtype.itemsize == 2))
        if not plain:
            return cast(self.eye(n, m, np.int8), dtype)
        out = now.empty((n, columns), np.dtype(np.uint8) if dtype.kind == "b" else dtype, self.index)
        if out.size:
            start(Handwritten("identity", (("BLOCK", BLOCK),)), (-(-out.size // BLOCK),), (out, out.size, columns), self.index)
        return out.view(dtype)
