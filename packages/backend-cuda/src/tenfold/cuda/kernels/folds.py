"""Reductions by one kernel (programs/reductions.py): which, for an array as it lies, and the launch.

What is found for a call is kept as a plan, by dtype, shape, strides and dimensions; the next such call is an allocation and a
launch. Nothing is copied: dimensions that lie one in the other are merged, at most three of results and three of what is
reduced are left, and all else goes to the array module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isqrt, prod
from typing import Any, NamedTuple

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.capturing import CAPTURES
from tenfold.cuda.kernels.argument_types import TYPE_OF
from tenfold.cuda.kernels.counters import counters
from tenfold.cuda.kernels.handwritten import F64, Handwritten, start
from tenfold.cuda.kernels.sums import pairs
from tenfold.cuda.recordings import RECORDINGS
from tenfold.dispatch.shape_rules import reduced_shape, wrap_dims
from tenfold.types.dtypes import BY_NAME

BYTES = 8192  # that a program reads at a time
ELEMENTS = (1024, 4096)  # which are these at least and at most
PROGRAMS = 1024  # that a GPU is to be shared out to, where there are fewer results
LAST = 4096  # numbers that the program which is done last folds, half as many where they take much room
PARTS = (16, 64, 256, 1024)  # into which a result is divided, rounded up, so that there are few machine codes
FAR = 2**31 - 2**20  # beyond this positions need 64 bits
MANY = 1 << 14  # numbers of 16 bits whose sum 32 bits hold
MOST_PLANS = 8192
I32, I64 = np.dtype(np.int32), np.dtype(np.int64)
MEMORY = {"fp32": np.dtype(np.float32), "fp64": F64, "i32": I32, "i64": I64}


@dataclass(frozen=True, slots=True)
class Fold:
    """What a reduction is, in the words of the kernel, and the dtype of its result."""

    fold: str
    map: str = ""
    end: str = ""
    least: int = 0
    at: int = 0
    paired: int = 0  # of complex numbers: the array is of real parts, each of which has its imaginary part behind it
    result: str = "same"  # or "whole": int64 of whole numbers; "truth": bool, of uint8 uint8; or a dtype's name

    @property
    def results(self) -> int:
        """How many arrays it gives."""
        return 2 if self.end == "value" or self.fold == "range" or self.end.endswith("and mean") else 1


class NotServed(Exception):
    """The kernel is not for such an array."""


class Lines(NamedTuple):
    """Dimensions, merged, the last one running fastest: sizes, and steps in elements."""

    sizes: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def last(self) -> tuple[int, int]:
        return (self.sizes[-1], self.steps[-1]) if self.sizes else (1, 0)

    def numbers(self) -> tuple[int, ...]:
        """The kernel's arguments: sizes of the last two dimensions, steps of the last three."""
        return (*((1,) * 3 + self.sizes)[-2:], *((0,) * 3 + self.steps)[-3:])


def lines(shape: tuple[int, ...], strides: tuple[int, ...], dims: Any) -> Lines:
    """Dimensions in this order, those joined that lie one in the other.

    >>> lines((2, 3, 4), (12, 4, 1), (0, 1))
    Lines(sizes=(6,), steps=(4,))
    """
    sizes: list[int] = []
    steps: list[int] = []
    for d in dims:
        if shape[d] == 1:
            continue
        if sizes and steps[-1] == strides[d] * shape[d]:
            sizes[-1] *= shape[d]
            steps[-1] = strides[d]
        else:
            sizes.append(shape[d])
            steps.append(strides[d])
    return Lines(tuple(sizes), tuple(steps))


def of_pairs(x: Any, dtype: Any) -> Any:
    """Complex numbers whose parts an array has along its last dimension."""
    now = runtime.current()
    return now.view(x, x.shape[:-1], x.strides[:-1], now.memory(x)[2], dtype)


def power_of_two(n: int) -> int:
    """The least that is not less than n."""
    return 1 << max(n - 1, 0).bit_length()


class Tile(NamedTuple):
    """How results (rows) and their elements are dealt to programs."""

    rows: int
    block: int
    flat: bool
    units: int
    share: int
    parts: int
    warps: int


def tile_of(kept: Lines, reduced: Lines, itemsize: int, last: int) -> Tile:
    """A tile for these lines: neighbours in memory are read together, and there is work for all of a GPU.

    `last`: how many numbers may be left for the program that is done last.
    """
    K, R = prod(kept.sizes), prod(reduced.sizes)
    size = max(ELEMENTS[0], min(ELEMENTS[1], BYTES // itemsize))
    warps, flat = 4, True
    if K > 1 and (R == 1 or abs(kept.last[1]) < abs(reduced.last[1])):
        rows = min(power_of_two(K), 256 // itemsize, power_of_two(2 * isqrt(K)), size)
        block = min(power_of_two(R), size // rows)
        rows = max(rows, min(power_of_two(K), size // block))
    else:
        along = reduced.last[0]
        block = min(power_of_two(along), size)
        rows = min(power_of_two(K), size // block)
        used = along / (-(-along // block) * block)
        flat = len(reduced.sizes) < 2 or used < 0.6 or rows * block < size // 2
        if flat:
            whole = power_of_two(R)
            block = whole if whole <= 2 * size else size
            rows = max(1, min(power_of_two(K), size // block))
            warps = 8 if block > size else 4
    units = -(-R // block) if flat else R // reduced.last[0] * -(-reduced.last[0] // block)
    wanted = min(PROGRAMS // -(-K // rows), last // rows, units // 2, PARTS[-1])
    share = -(-units // max(wanted, 1))
    if share == 1:  # all that a thread reads is on its way at once: of few elements, so that many threads are resident
        warps = max(warps, min(8, rows * block // 512))
    return Tile(rows, block, flat, units, share, -(-units // share), warps)


def types_of(fold: Fold, dtype: Any, count: int) -> tuple[str, str, str]:
    """In what a reduction computes, its lanes fold, and parts are folded, of at most `count` numbers a lane."""
    if dtype.kind in "fV":
        real = "fp64" if dtype == F64 else "fp32"
    else:
        real = "i64" if dtype.itemsize == 8 or dtype.name == "uint32" else "i32"
    if fold.map == "other than 0":
        real = "i32"
    if fold.map == "zeros and no numbers":
        return "i64", "i64", "i64"
    if fold.fold in ("top", "range"):
        key = "i32" if real in ("fp32", "i32") else "i64"
        return real, key, key
    if real[0] == "f":
        return real, real, real
    few = fold.fold == "sum" and count <= MANY and (dtype.itemsize < 4 or fold.map == "other than 0")
    return real, "i32" if few else "i64", "i64"


class Plan:
    """What a call of known layout needs."""

    __slots__ = ("bytes", "dtypes", "grid", "kernel", "loaded", "more", "numbers", "part", "shape")

    def __init__(self, fold: Fold, x: Any, dims: tuple[int, ...], keepdim: bool, divisor: float, power: float) -> None:
        shape, itemsize = x.shape, x.dtype.itemsize
        steps = tuple(s // itemsize for s in x.strides)
        kept = lines(shape, steps, [d for d in range(len(shape)) if d not in dims])
        reduced = lines(shape, steps, dims if fold.at else sorted(dims, key=lambda d: (-abs(steps[d]), d)))
        if max(len(kept.sizes), len(reduced.sizes)) > 3:
            raise NotServed
        in_pairs = fold.fold.startswith("complex")
        last = LAST // 2 if fold.fold == "moments" or in_pairs or (fold.at and itemsize == 8) else LAST
        tile = tile_of(kept, reduced, itemsize, last)
        K, R = prod(kept.sizes), prod(reduced.sizes)
        real, lane, total = types_of(fold, x.dtype, tile.share)
        far = sum(abs(s) * (n - 1) for n, s in (*zip(*kept), *zip(*reduced)))
        index = "i64" if max(far, K, R) >= FAR else "i32"
        unit = 1 if R > 1 and reduced.last[1] == 1 else 2 if K > 1 and kept.last[1] == 1 else 0
        each = max(1, 16 // itemsize)
        of_rows, of_lines = kept.numbers(), reduced.numbers()
        told = (*of_rows[2:], *of_lines[2:4], of_lines[1]) if unit == 1 else (*of_rows[2:4], of_rows[1], K, *of_lines[2:])
        if not unit or any(n % each for n in told):
            each = 1
        parts = min(next(n for n in (1, *PARTS) if n >= tile.parts), max(last // tile.rows, 1))
        fixed = {
            "MAP": fold.map, "FOLD": fold.fold, "END": fold.end, "LEAST": fold.least, "AT": fold.at,
            "PAIRED": fold.paired, "FROM_ZERO": int(x.dtype.name == "uint64" and real == "i64"), "REAL": real, "LANE": lane,
            "TOTAL": total, "INDEX": index, "KDIMS": len(kept.sizes), "RDIMS": max(len(reduced.sizes), 1), "UNIT": unit,
            "EACH": each, "FLAT": int(tile.flat), "PARTS": parts, "ONCE": int(tile.share == 1), "DOUBLE": int(x.dtype == F64),
            "ROWS": tile.rows, "BLOCK": tile.block,
        }  # fmt: skip
        self.kernel = Handwritten("reduction", tuple(fixed.items()), tile.warps, by_address=True)
        self.grid = (-(-K // tile.rows), tile.parts)
        self.numbers = (K, R, tile.units, tile.share, *of_rows, *of_lines, float(divisor), float(power))
        self.shape = (*reduced_shape(shape, dims, keepdim), *((2,) * in_pairs))
        self.dtypes = _results(fold, x.dtype)
        self.bytes = [K * d.itemsize * (1 + in_pairs) for d in self.dtypes]
        self.part: tuple[int, Any] | None = (tile.parts * K, MEMORY[total]) if tile.parts > 1 else None
        self.more: tuple[int, Any] | None = None
        if self.part and (fold.at or in_pairs or fold.fold in ("range", "moments", "powers")):
            self.more = (tile.parts * K * (2 if fold.fold == "moments" else 1), MEMORY[index if fold.at else total])
        self.loaded: dict[tuple[int, bool], Any] = {}

    def __call__(self, x: Any) -> Any:
        """The results: an array, or two."""
        now = runtime.current()
        if CAPTURES or RECORDINGS or not self.loaded:
            return self._first(now, x)
        pointer, index = x.data.ptr, x.data.device_id
        loaded = self.loaded.get((index, pointer % 16 == 0))
        if loaded is None:
            return self._first(now, x)
        cupy = now.module
        cuda = cupy.cuda
        outs = [cupy.ndarray(self.shape, d, cuda.alloc(n)) for d, n in zip(self.dtypes, self.bytes)]
        out, second = outs[0].data.ptr, outs[-1].data.ptr
        part = more = done = out
        if self.part is not None:
            memory = cuda.alloc(self.part[0] * self.part[1].itemsize)
            part, done = memory.ptr, counters(index).data.ptr
            if self.more is not None:
                other = cuda.alloc(self.more[0] * self.more[1].itemsize)
                more = other.ptr
        buffer, table = loaded.buffers()
        loaded.packing.pack_into(buffer, 0, out, second, pointer, part, more, done, *self.numbers, 0, 0)
        stream = cuda.get_current_stream().ptr
        cuda.driver.launchKernel(loaded.pointer, *self.grid, 1, loaded.threads, 1, 1, loaded.shared, stream, table, 0)
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _first(self, now: Any, x: Any) -> Any:
        index = now.index_of(x)
        outs = [now.empty(self.shape, d, index) for d in self.dtypes]
        part = now.empty(self.part[:1], self.part[1], index) if self.part else outs[0]
        more = now.empty(self.more[:1], self.more[1], index) if self.more else outs[0]
        done = counters(index) if self.part else outs[0]
        loaded = start(self.kernel, self.grid, (outs[0], outs[-1], x, part, more, done, *self.numbers), index)
        if loaded is not None:
            self.loaded[index, now.pointer(x) % 16 == 0] = loaded
        return outs[0] if len(outs) == 1 else tuple(outs)


def _results(fold: Fold, dtype: Any) -> list[Any]:
    if fold.at:
        return [dtype, I64] if fold.end == "value" else [I64]
    if fold.result == "whole":
        return [I64 if dtype.kind in "biu" else dtype]
    if fold.result in BY_NAME:
        return [BY_NAME[fold.result].numpy]
    if fold.result == "truth":
        return [dtype if dtype == np.uint8 else np.dtype(np.bool_)]
    return [dtype] * fold.results


class PlanOfPairs:
    """That of complex numbers: made for their real parts, behind each of which in memory the other one is."""

    def __init__(self, fold: Fold, x: Any, dims: tuple[int, ...], keepdim: bool, divisor: float, power: float) -> None:
        self.real = fold.fold not in ("sum", "product") or bool(fold.map)
        fold = replace(fold, paired=1, fold=fold.fold if self.real else f"complex {fold.fold}")
        self.plan = Plan(fold, x.real, dims, keepdim, divisor, power)

    def __call__(self, x: Any) -> Any:
        """The result, of complex numbers or of real ones."""
        found = self.plan(pairs(x, x.shape, x.strides))
        return found if self.real else of_pairs(found, x.dtype)


PLANS: dict[tuple[Any, ...], Any] = {}
runtime.AFTER_FORK.append(PLANS.clear)


def planned(key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """The plan of this key, made on first use; None: there is none."""
    if len(PLANS) >= MOST_PLANS:
        PLANS.clear()
    try:
        found = make()
    except NotServed:
        found = None
    PLANS[key] = found
    return found


def folded(fold: Fold, x: Any, dims: Any, keepdim: bool = False, divisor: float = 1.0, power: float = 1.0) -> Any:
    """A reduction of an array that has elements, over dimensions; None for what the kernel does not serve."""
    key = (fold, x.dtype, x.shape, x.strides, dims, keepdim, divisor, power)
    plan = PLANS.get(key, key)
    if plan is key:
        make = PlanOfPairs if x.dtype.kind == "c" else Plan
        if not x.size or (make is Plan and x.dtype not in TYPE_OF):
            return None
        wrapped = wrap_dims(dims, x.ndim)
        plan = planned(key, lambda: make(fold, x, wrapped if x.ndim else (), keepdim, divisor, power))
    return None if plan is None else plan(x)


def sum_of_parts(parts: Any, dtype: Any = None) -> Any:
    """The sum over the first dimension, in a dtype: what programs that shared a result have left, put together."""
    found = folded(Fold("sum", result="same" if dtype is None else dtype.name), parts, 0)
    assert found is not None
    return found
