"""Weighted sums along one dimension, as LLVM IR: what resampling, adaptive means and their gradients are made of.

out[o, ...] = scale[o] * sum over t from starts[o] to starts[o + 1] of weights[t] x[places[t], ...]
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.products import HEAD
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import BY_DTYPE, Stored
from tenfold.llvm.writer import Function, Vectors, registers

Array = np.ndarray[Any, Any]

WORK = 1 << 14  # multiplications for which a second thread is woken


@dataclass(frozen=True, eq=False)
class Spans:
    """The table of a dimension's sums, in the dtype of what is summed."""

    starts: Array
    places: Array
    weights: Array
    scale: Array

    @property
    def size(self) -> int:
        """How many sums there are."""
        return len(self.scale)


def spans(groups: Array, places: Array, weights: Array, size: int, dtype: Any, scale: Array | None = None) -> Spans:
    """The table of `size` sums whose terms belong to `groups`; terms of a group stay in their order."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(size + 1)).astype(np.int64)
    factors = np.ones(size, dtype) if scale is None else scale.astype(dtype)
    return Spans(starts, places[order].astype(np.int64), weights[order].astype(dtype), factors)


def sums(stored: Stored, last: bool) -> str:
    """Sums along a dimension; items are (outer, sum), for the last dimension outer alone.

    Context: x, out, starts, places, weights, scale; elements of the dimension, sums, elements behind it.
    """
    f = Function(HEAD)
    v = Vectors(f, stored, registers().lanes(stored))
    x, out, starts, places, weights, scale, length, size, inner = f.words(
        ["*x", "*out", "*starts", "*places", "*weights", "*scale", *["number"] * 3]
    )

    def one(source: str, goal: str, o: str, wide: bool) -> None:
        """A sum of numbers, or of vectors of them, from where the first place's are."""
        kind, suffix = (v.type, v.suffix) if wide else (v.element, f"f{8 * stored.size}")
        total = f.variable(kind, "zeroinitializer" if wide else "0.0")

        def factor(table: str, index: str) -> str:
            number = v.load(v.place(table, index), v.element)
            return v.splat(number) if wide else number

        with f.loop(f.whole(starts, o), f.whole(starts, f.add(o, 1))) as t:
            number = v.load(v.place(source, f.mul(f.whole(places, t), inner)), kind)
            terms = f"{kind} {number}, {kind} {factor(weights, t)}, {kind} {f.let(f'load {kind}, ptr {total}')}"
            f.do(f"store {kind} {f.let(f'call {kind} @llvm.fma.{suffix}({terms})')}, ptr {total}")
        value = f.let(f"fmul {kind} {f.let(f'load {kind}, ptr {total}')}, {factor(scale, o)}")
        f.do(f"store {kind} {value}, ptr {goal}, align {stored.size}")

    with f.loop("%lo", "%hi") as item:
        if last:
            here, there = v.place(x, f.mul(item, length)), v.place(out, f.mul(item, size))
            with f.loop(0, size) as o:
                one(here, v.place(there, o), o, wide=False)
        else:
            outer, o = f.split(item, size)
            here, there = v.place(x, f.mul(outer, f.mul(length, inner))), v.place(out, f.mul(item, inner))
            whole = f.let(f"and i64 {inner}, {-v.lanes}")
            with f.loop(0, whole, v.lanes) as j:
                one(v.place(here, j), v.place(there, j), o, wide=True)
            with f.loop(whole, inner) as j:
                one(v.place(here, j), v.place(there, j), o, wide=False)
    scalar = f"declare {v.element} @llvm.fma.f{8 * stored.size}({v.element}, {v.element}, {v.element})\n"
    return v.declarations() + scalar + f.text()


SUMS = Compiled("weighted sums along a dimension", sums)


def along(x: Array, axis: int, table: Spans) -> Array | None:
    """The sums along one dimension of an array in one piece; None where there is no code."""
    stored = BY_DTYPE[x.dtype]
    outer, inner = prod(x.shape[:axis]), prod(x.shape[axis + 1 :])
    out = empty((*x.shape[:axis], table.size, *x.shape[axis + 1 :]), stored)
    items = outer if inner == 1 else outer * table.size
    grain = max(1, WORK * items // max(1, outer * inner * len(table.places)))
    arguments = (x, out, table.starts, table.places, table.weights, table.scale, x.shape[axis], table.size, inner)
    return out if SUMS.run((stored, inner == 1), items, grain, *arguments) else None
