"""Scans by one kernel (programs/scans.py), along any dimension of an array as it lies: one launch, two for few long lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isqrt, prod
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.kernels import folds
from tenfold.cuda.kernels.argument_types import TYPE_OF
from tenfold.cuda.kernels.folds import FAR, I64, MEMORY, PARTS, PROGRAMS, power_of_two
from tenfold.cuda.kernels.handwritten import F64, Handwritten, contiguous, start
from tenfold.cuda.kernels.sums import pairs
from tenfold.dispatch.shape_rules import wrap_dim

ENOUGH = 256  # programs that keep a GPU busy: from there on lines are not divided
SLOW = 128  # elements at a time of a scan whose steps are long
FEWEST = 4  # blocks of a line that is divided


@dataclass(frozen=True, slots=True)
class Scan:
    """What a scan is, in the words of the kernel."""

    fold: str  # "sum", "product", "greater", "less", "powers", or "complex" and one of them
    kinds: str = "biufV"  # of dtypes that it is of

    @property
    def located(self) -> bool:
        """Whether positions are a second result."""
        return self.fold in ("greater", "less")

    @property
    def paired(self) -> bool:
        """Whether the array is of the real parts of complex numbers, each of which has its imaginary part behind it."""
        return self.fold.startswith("complex")


def _lines(shape: tuple[int, ...], steps: tuple[int, ...], dim: int) -> tuple[list[int], list[int], list[int]]:
    """The other dimensions, joined where both arrays allow it: sizes, steps of the input and of a row-major result."""
    sizes: list[int] = []
    own: list[int] = []
    out: list[int] = []
    for d, n in enumerate(shape):
        if d == dim or n == 1:
            continue
        to = prod(shape[d + 1 :])
        if sizes and own[-1] == steps[d] * n and out[-1] == to * n:
            sizes[-1], own[-1], out[-1] = sizes[-1] * n, steps[d], to
        else:
            sizes, own, out = [*sizes, n], [*own, steps[d]], [*out, to]
    return sizes, own, out


def _backwards(array: Any, dim: int) -> Any:
    """The array with one dimension from its end on."""
    step = array.strides[dim]
    strides = (*array.strides[:dim], -step, *array.strides[dim + 1 :])
    return runtime.current().part(array, array.shape, strides, step * (array.shape[dim] - 1))


class Plan:
    """What a scan of known layout needs."""

    def __init__(self, scan: Scan, x: Any, dim: int, backwards: bool = False) -> None:
        shape, itemsize = x.shape, x.dtype.itemsize
        steps = tuple(s // itemsize for s in x.strides)
        sizes, own, out = _lines(shape, steps, dim)
        self.copies = len(sizes) > 3
        if self.copies:  # row-major there are two at most
            steps = tuple((1 + scan.paired) * prod(shape[d + 1 :]) for d in range(len(shape)))
            sizes, own, out = _lines(shape, steps, dim)
        K, N, step, out_step = prod(sizes), shape[dim], steps[dim], prod(shape[dim + 1 :])
        self.backwards = dim if backwards else None
        if backwards:
            step, out_step = -step, -out_step
        whole = x.dtype.kind in "biu"
        real = "fp64" if x.dtype == F64 or scan.paired else "fp32"
        if whole:
            real = "i64" if not scan.located or x.dtype.itemsize == 8 or x.dtype.name == "uint32" else "i32"
        size, last = max(folds.ELEMENTS[0], min(folds.ELEMENTS[1] // 2, folds.BYTES // itemsize)), folds.LAST
        if scan.fold == "complex powers":  # two of which take hundreds of instructions to add: what a thread has is written out
            size, last = min(size, SLOW), SLOW
        if K > 1 and own[-1] == out[-1] == 1:
            unit, rows = 2, min(power_of_two(K), 128 // itemsize, power_of_two(2 * isqrt(K)), size)
            block = min(power_of_two(N), size // rows)
        else:
            unit, rows = int(step == out_step == 1), 1
            block = power_of_two(N) if 2 * size >= N else size
        rows = max(rows, min(power_of_two(K), size // block))
        blocks, tiles = -(-N // block), -(-K // rows)
        parts = min(PROGRAMS // tiles, blocks // 2, PARTS[-1], last // rows) if tiles < ENOUGH and blocks >= FEWEST else 1
        share = -(-blocks // max(parts, 1))
        parts = -(-blocks // share)
        far = max(sum(abs(s) * (n - 1) for n, s in zip((*sizes, N), (*by, last))) for by, last in ((own, step), (out, out_step)))
        index = "i64" if max(far * (1 + scan.paired), K + rows, N + block) >= FAR else "i32"
        each = max(1, 16 // itemsize)
        told = (*own, *out, N) if unit == 1 else (*own[:-1], *out[:-1], sizes[-1] if sizes else 0, K, step, out_step)
        if not unit or any(n % each for n in told):
            each = 1
        constants = {
            "FOLD": scan.fold, "FROM_ZERO": int(scan.located and x.dtype.name == "uint64"), "REAL": real, "INDEX": index,
            "KDIMS": max(len(sizes), 1), "UNIT": unit, "EACH": each, "TOTALS": 0,
            "PARTS": min(next(n for n in (1, *PARTS) if n >= parts), max(last // rows, 1)), "ROWS": rows, "BLOCK": block,
        }  # fmt: skip
        warps = 8 if rows * block > size else 4
        self.kernels = [Handwritten("scan", tuple({**constants, "TOTALS": t}.items()), warps, by_address=True) for t in (1, 0)]
        self.grid = (tiles, parts)
        three = ((1, 1, 1, *sizes)[-2:], (0, 0, 0, *own)[-3:], (0, 0, 0, *out)[-3:])
        self.numbers = (K, N, share, *three[0], *three[1], *three[2], step, out_step)
        self.dtypes = [I64 if whole and not scan.located else x.dtype, *([I64] * scan.located)]
        self.shape = (*shape, *((2,) * scan.paired))
        self.part = ((parts * K,), MEMORY[real]) if parts > 1 else None
        self.more = ((parts * K,), MEMORY[index if scan.located else real])

    def __call__(self, x: Any) -> Any:
        """The results: an array, or two."""
        if self.copies:
            x = contiguous(x)
        now = runtime.current()
        index = now.index_of(x)
        results = outs = [now.empty(self.shape, d, index) for d in self.dtypes]
        if self.backwards is not None:
            x, *outs = (_backwards(array, self.backwards) for array in (x, *outs))
        part = more = outs[0]
        if self.part is not None:
            part, more = now.empty(*self.part, index), now.empty(*self.more, index)
            start(self.kernels[0], self.grid, (outs[0], outs[-1], x, part, more, *self.numbers), index)
        start(self.kernels[1], self.grid, (outs[0], outs[-1], x, part, more, *self.numbers), index)
        return results[0] if len(results) == 1 else tuple(results)


class PlanOfPairs:
    """That of complex numbers: made for their real parts, behind each of which in memory the other one is."""

    def __init__(self, scan: Scan, x: Any, dim: int) -> None:
        self.plan = Plan(replace(scan, fold=f"complex {scan.fold}"), x.real, dim)
        self.copies, self.plan.copies = self.plan.copies, False  # of whole numbers

    def __call__(self, x: Any) -> Any:
        """The result."""
        if self.copies:
            x = contiguous(x)
        return folds.of_pairs(self.plan(pairs(x, x.shape, x.strides)), x.dtype)


def scanning(scan: Scan, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """An operator's kernel (input, dim): by the plan of such calls, or by another function."""

    def run(input: Any, dim: int) -> Any:
        key = (scan, input.dtype, input.shape, input.strides, dim, type(dim))
        plan = folds.PLANS.get(key)
        if plan is None:
            make = PlanOfPairs if input.dtype.kind == "c" else Plan
            known = make is PlanOfPairs or input.dtype in TYPE_OF
            if type(dim) is not int or not known or input.dtype.kind not in scan.kinds:
                return otherwise(input, dim)
            if not input.ndim or not input.size:
                return otherwise(input, dim)
            along = wrap_dim(dim, input.ndim)
            plan = folds.planned(key, lambda: make(scan, input, along))
        return plan(input)

    return run


def reversing(scan: Scan) -> Callable[..., Any]:
    """The scan from the end of each line to its beginning, as gradients have it: (an array, dim) -> one array in a tuple."""

    def run(x: Any, dim: int) -> Any:
        if x.dtype not in TYPE_OF or x.dtype.kind not in "fV" or not x.ndim or not x.size:
            return NotImplemented
        key = ("reversed", scan, x.dtype, x.shape, x.strides, dim)
        plan = folds.PLANS.get(key) or folds.planned(key, lambda: Plan(scan, x, wrap_dim(dim, x.ndim), True))
        return (plan(x),)

    return run
