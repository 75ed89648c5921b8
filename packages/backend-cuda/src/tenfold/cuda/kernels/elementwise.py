"""Runs a formula on arrays: finds the result's shape, layout and dtype, the kernel for the operands, and launches it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import where_its_arrays_are
from tenfold.cuda.kernels.formulas import FORMULAS
from tenfold.cuda.kernels.generation import APART, BLOCK, HALVES, TRITON_TYPES, Generated
from tenfold.cuda.kernels.geometry import broadcast, common_order, dense_order, merged, reading, repeats, tiled
from tenfold.cuda.kernels.swift import swiftly
from tenfold.types.dtypes import BY_NAME, FROM_NUMPY
from tenfold.types.numeric_limits import finfo

BOOL = np.dtype(np.bool_)
NUMBERS = (int, float, bool)
WIDE = 2**31
TYPE_OF = {BY_NAME[name].numpy: kind for name, kind in TRITON_TYPES.items()}


def supported(name: str, operands: tuple[Any, ...], common: Any = None) -> str | None:
    """The kind of dtype to run a formula for, that of `common` if it is given; None when it is not for these operands."""
    formula = FORMULAS[name]
    kind = None
    for letter, operand in zip(formula.operands, operands):
        if type(operand) in NUMBERS:
            continue
        dtype = getattr(operand, "dtype", None)
        if dtype is None or dtype not in TYPE_OF or letter in "ab" or (letter == "c" and dtype != BOOL):
            return None
        if letter != "c" and kind is None:
            dtype = dtype if common is None else common
            kind = dtype.kind
            if formula.exact_types and dtype.name not in formula.exact_types:
                return None
    return kind if kind is not None and formula.text(kind) is not None else None


class Call:
    """What is known of a call of a formula whose operands' shapes, strides and dtypes have been seen before."""

    __slots__ = ("dtype", "numbers", "order", "shape", "site")

    def __init__(self, name: str, kind: str, operands: tuple[Any, ...], out: Any, dtype: Any, common: Any = None) -> None:
        arrays = [x for x in operands if type(x) not in NUMBERS]
        formula = FORMULAS[name]
        self.shape = arrays[0].shape if len(arrays) == 1 else broadcast([x.shape for x in arrays])
        if out is None:
            leader = next(x for x, letter in zip(operands, formula.operands) if letter not in "cab" and type(x) not in NUMBERS)
            self.dtype = np.dtype(dtype or (BOOL if formula.result == "bool" else common or leader.dtype))
            self.order = _order(self.shape, arrays[0], arrays)
            described = (self.shape, _strides(self.shape, self.order, self.dtype.itemsize), self.dtype)
        else:
            if out.shape != self.shape and broadcast([self.shape, out.shape]) != out.shape:
                raise ValueError(f"output with shape {list(out.shape)} doesn't match the broadcast shape {list(self.shape)}")
            described = (out.shape, out.strides, out.dtype)
        self.numbers = any(type(x) in NUMBERS for x in operands)
        self.site = None
        if prod(described[0]):
            kernel, signature, fixed, count = plan(name, kind, (described, *map(_described, operands)), common=common)
            self.site = runtime.current().site(kernel, signature, fixed, count)


_calls: dict[tuple[Any, ...], Call] = {}
MOST_CALLS = 8192
runtime.ON_REPLACE.append(_calls.clear)


def run(name: str, *operands: Any, out: Any = None, dtype: Any = None, seen: list[Any] | None = None, common: Any = None) -> Any:
    """The result of a formula on arrays and Python numbers; NotImplemented for operands that it has no text for.

    The loaded kernel is added to `seen`. `common`: the dtype as which operands of several dtypes are read (mixed.py).
    """
    form = None if out is None else (out.shape, out.strides, out.dtype)
    key: tuple[Any, ...] = (name, dtype, common, form, *map(_described, operands))
    call = _calls.get(key)
    if call is None:
        kind = supported(name, operands, common)
        if kind is None:
            return NotImplemented
        if len(_calls) >= MOST_CALLS:
            _calls.clear()
        call = _calls[key] = Call(name, kind, operands, out, dtype, common)
    now = runtime.current()
    if out is None:
        index = now.index_of(next(x for x in operands if type(x) not in NUMBERS) if call.numbers else operands[0])
        out = _laid_out(now, call.shape, call.dtype, call.order, index)
    else:
        index = now.index_of(out)
    if call.site is not None:
        found = call.site((out, *operands), index)
        if seen is not None and found is not None:
            seen.append(found)
    return out


def _described(x: Any) -> Any:
    """What a call depends on of an operand: how an array lies, of a number its class; of anything else its class, too."""
    kind = type(x)
    if kind in NUMBERS:
        return kind
    try:
        return x.shape, x.strides, x.dtype
    except AttributeError:
        return kind


def allocate(shape: tuple[int, ...], dtype: Any, leader: Any) -> Any:
    """A new array on the leader's device, its dimensions in memory in the leader's order."""
    now = runtime.current()
    return _laid_out(now, shape, dtype, _order(shape, leader), now.index_of(leader))


def _order(shape: tuple[int, ...], leader: Any, arrays: Sequence[Any] = ()) -> tuple[int, ...] | None:
    """The dimensions in the order in which they lie: the leader's, and all arrays' where it is repeated; None: row-major."""
    if leader.shape == shape and (leader.flags.c_contiguous or not repeats(shape, leader.strides)):
        return None if leader.flags.c_contiguous else dense_order(shape, leader.strides)
    if arrays and all(x.flags.c_contiguous for x in arrays):
        return None
    found = common_order(shape, [(x.shape, x.strides, x.dtype.itemsize) for x in arrays or (leader,)])
    return None if found == tuple(range(len(shape))) else found


def _strides(shape: tuple[int, ...], order: tuple[int, ...] | None, itemsize: int) -> tuple[int, ...]:
    """In bytes, of a new array whose dimensions lie in an order."""
    strides, step = [0] * len(shape), itemsize
    for d in reversed(range(len(shape)) if order is None else order):
        strides[d] = step
        step *= max(shape[d], 1)
    return tuple(strides)


def _laid_out(now: Any, shape: tuple[int, ...], dtype: Any, order: tuple[int, ...] | None, index: int) -> Any:
    if order is None:
        return now.empty(shape, dtype, index)
    block = now.empty([shape[d] for d in order], dtype, index)
    return block.transpose(_inverse(order))


@lru_cache(maxsize=1024)
def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(order.index(d) for d in range(len(order)))


def plan(
    name: str, kind: str, described: tuple[Any, ...], tiles: bool = True, make: type[Generated] = Generated, common: Any = None
) -> tuple[Generated, tuple[str, ...], tuple[int, ...], int]:
    """(kernel, its arguments' types, the arguments after the operands, elements: a whole block's for each program of a tile)."""
    shape = described[0][0]
    arrays = [(position, *d) for position, d in enumerate(described) if isinstance(d, tuple)]
    sizes, strides = merged(shape, tuple((own, steps, dtype.itemsize) for _, own, steps, dtype in arrays))
    reads = ["number"] * len(described)
    for (position, *_), own in zip(arrays, strides):
        reads[position] = reading(sizes, own)
    if reads[0] == "point" and any(sizes):  # expanded memory: all are written to one place, never past it
        reads[0] = "even"
    elif reads[0] == "point":  # a single element
        reads = ["linear" if read == "point" else read for read in reads]
    count = prod(shape)
    strided = any(read in APART for read in reads)
    ndim = len(sizes) if strided else 0
    furthest = max(sum(abs(s) * (n - 1) for n, s in zip(sizes, own)) for own in strides)
    wide = max(furthest, count + 2**16) >= WIDE
    widening = tuple(_widening(d[2], common) if isinstance(d, tuple) else "" for d in described[1:])
    kernel = make(name, kind, tuple(reads), widening, ndim, wide)
    if tiles and strided and not kernel.programs():
        tile = tiled(sizes, strides, [reads[position] for position, *_ in arrays])
        if tile[1]:
            for (position, *_), own in zip(arrays, strides):
                if reads[position] == "strided" and own[tile[0]] == 1:
                    reads[position] = "across"
            kernel = replace(kernel, reads=tuple(reads), tile=tile)
    fixed: list[int] = [count, *(sizes if strided else ())]
    for (position, *_), own in zip(arrays, strides):
        fixed += [own[d] for d in kernel.steps(reads[position])]
    compute = common or next(d[2] for d, letter in zip(described[1:], kernel.letters) if isinstance(d, tuple) and letter != "c")
    integer = "i64" if wide else "i32"
    signature = [f"*{TRITON_TYPES[d[2].name]}" if isinstance(d, tuple) else number_type(compute) for d in described]
    covered = kernel.programs_of(sizes, count) * BLOCK if kernel.tile[1] else count
    return kernel, (*signature, *[integer] * len(fixed)), tuple(fixed), covered


def _widening(dtype: Any, common: Any = None) -> str:
    if common is not None and dtype != common:
        return "double" if common.name == "float64" else "rounded" if common.name in HALVES and dtype != BOOL else "single"
    return "half" if dtype.name in HALVES else "bool" if dtype == BOOL else ""


def number_type(dtype: Any) -> str:
    """The Triton type in which a Python number meets an array of this dtype."""
    return "fp64" if dtype.name == "float64" else "fp32" if dtype.kind in "fV" else "i64"


def elementwise(name: str, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A formula as a kernel; calls that it has no text for go to another function."""

    def general(*operands: Any, out: Any = None, seen: list[Any] | None = None) -> Any:
        if any(type(x) is int and not fits(x) for x in operands):
            whole = all(type(x) in NUMBERS or x.dtype.kind in "iub" for x in operands)
            operands = tuple((wrapped(x) if whole else float(x)) if type(x) is int else x for x in operands)
        result = run(name, *operands, out=out, seen=seen)
        return general.otherwise(*operands, out=out) if result is NotImplemented else result  # type: ignore[attr-defined]

    general.otherwise = where_its_arrays_are(otherwise)  # type: ignore[attr-defined]
    letters = FORMULAS[name].operands
    kernel = swiftly(general, len(letters)) if letters in ("x", "xy") else general
    kernel.__name__ = kernel.__qualname__ = name
    return kernel


@cache
def largest(dtype: Any) -> float:
    """The largest finite number of a floating dtype."""
    return float(finfo(FROM_NUMPY[dtype]).max)


def fits(number: int) -> bool:
    """Whether a number is one of int64."""
    return -(2**63) <= number < 2**63


def wrapped(number: int) -> int:
    """A whole number as the 64 bits that integers keep of it, as in PyTorch.

    >>> wrapped(2**63)
    -9223372036854775808
    """
    return (number + 2**63) % 2**64 - 2**63
