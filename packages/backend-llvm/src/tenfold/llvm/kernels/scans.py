"""Sums and products up to each element, of every real dtype."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm import scans, session as sessions
from tenfold.llvm.programs import Compiled
from tenfold.llvm.storage import BFLOAT16

Array = np.ndarray[Any, Any]
RUNNING, DOWN = Compiled("running sums and products", scans.running), Compiled("the same down columns", scans.running_down)
EXTREMES, EXTREMES_DOWN = Compiled("running extremes", scans.extremes), Compiled("the same down columns", scans.extremes_down)
GRAIN = 1 << 15  # elements, for which a second thread is woken
NARROWEST = 8  # elements side by side that are gone down together
FEW = 1 << 14  # elements that are in the first caches, in any order
INT64 = np.dtype(np.int64)


def sizes(x: Any, dim: Any) -> tuple[int, int, int] | None:
    """(outer, length, inner) of an array in one piece that is gone through along a dimension."""
    if type(x) is not np.ndarray or not x.flags.carray or not x.size or type(dim) is not int or not -x.ndim <= dim < x.ndim:
        return None
    if x.dtype.kind not in "biuf" and x.dtype != BFLOAT16.dtype:
        return None
    dim %= x.ndim
    return prod(x.shape[:dim]), x.shape[dim], prod(x.shape[dim + 1 :])


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    session = sessions.session()
    assert session is not None
    made: Array = session.memory.empty(shape, dtype)
    return made


def run(along: Compiled, down: Compiled, key: tuple[Any, ...], found: tuple[int, int, int], *arrays: Array) -> bool:
    """Go along each row, or down several columns together where they are large."""
    outer, length, inner = found
    if inner < NARROWEST or outer * length * inner <= FEW:
        return along.run(key, outer * inner, max(1, GRAIN // length), *arrays, length, inner)
    tiles = -(-inner // scans.TILE)
    grain = max(1, GRAIN // (length * min(inner, scans.TILE)))
    return down.run(key, outer * tiles, grain, *arrays, length, inner, tiles)


def serve(kind: str, input: Array, dim: int) -> Any:
    """`kind`: sum or product."""
    found = sizes(input, dim)
    if found is None:
        return NotImplemented
    dtype = input.dtype
    out = empty(input.shape, INT64 if dtype.kind in "biu" else dtype)
    return out if run(RUNNING, DOWN, (dtype, kind), found, input, out) else NotImplemented


cumsum, cumprod = partial(serve, "sum"), partial(serve, "product")


def extreme(kind: str, input: Array, dim: int) -> Any:
    """(extremes so far, their positions). `kind`: largest or smallest."""
    found = sizes(input, dim)
    if found is None:
        return NotImplemented
    values, where = empty(input.shape, input.dtype), empty(input.shape, INT64)
    done = run(EXTREMES, EXTREMES_DOWN, (input.dtype, kind), found, input, values, where)
    return (values, where) if done else NotImplemented
