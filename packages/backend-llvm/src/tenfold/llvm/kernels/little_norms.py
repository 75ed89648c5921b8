"""Batch and group normalization of few elements: which calls `channel_norms.py` serves, in one native call each.

Of few elements the steps between several programs take longer than these; larger arrays go to `batch_norm.py` and
`group_norm.py`.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tenfold.llvm.channel_norms import columns, columns_gradient, rows, rows_gradient
from tenfold.llvm.formats import FIRST, LAST, in_one_piece
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64, Stored
from tenfold.llvm.writer import registers

Array = np.ndarray[Any, Any]

MOST = 1 << 20  # elements, above which several programs take no longer
MOST_OF_FLOAT64 = 1 << 14  # whose sums of more elements are kept with their rounding errors
MOST_OF_COLUMNS = 1 << 18  # the same where channels lie last
MOST_OF_ITEM = 1 << 18  # elements of a group in all samples, which one thread works on
MOST_TURNED = 1 << 16  # of groups that lie channels last, and of columns of one item
ROWS, ROWS_GRADIENT = (
    Compiled("normalization", rows, vectors=True),
    Compiled("gradient of normalization", rows_gradient, vectors=True),
)
COLUMNS = Compiled("normalization, channels last", columns, vectors=True)
COLUMNS_GRADIENT = Compiled("gradient of normalization, channels last", columns_gradient, vectors=True)


class Plan(NamedTuple):
    """What a call needs besides its arrays."""

    last: bool  # whether vectors lie over the channels
    items: int
    grain: int
    sizes: tuple[int, ...]
    statistics: tuple[int, ...]  # the shape of means and variances
    moved: tuple[int, ...] | None  # the result's shape in memory where that is channels last


def _batch(shape: tuple[int, ...], lies_last: bool, lanes: int) -> Plan:
    N, C, L = shape[0], shape[1], prod(shape[2:])
    if lies_last or L == 1:
        items = -(-C // lanes)
        moved = (N, *shape[2:], C) if lies_last else None
        return Plan(True, items, max(1, GRAIN_ELEMENTS // (N * L * lanes)), (N * L, C), (C,), moved)
    return Plan(False, C, max(1, GRAIN_ELEMENTS // (N * L)), (1, N, L, 0, L, C * L, 1, 0, C), (C,), None)


def _groups(shape: tuple[int, ...], groups: int) -> Plan:
    """An item is a group, in all samples: the gradients of its weights are sums over these."""
    N, C, L = shape[0], shape[1], prod(shape[2:])
    members = C // groups
    sizes = (N, members, L, C * L, members * L, L, members, 1, groups)
    return Plan(False, groups, max(1, GRAIN_ELEMENTS // (N * members * L)), sizes, (N, groups), None)


@lru_cache(maxsize=1 << 10)
def _plan(shape: tuple[int, ...], lies_last: bool, groups: int | None, lanes: int) -> Plan | None:
    if len(shape) < 2 or not 0 < prod(shape) <= MOST:
        return None
    if groups is None:
        plan = _batch(shape, lies_last, lanes)
        return None if plan.last and prod(shape) > (MOST_OF_COLUMNS if plan.items > 1 else MOST_TURNED) else plan
    fits = groups > 0 and shape[1] % groups == 0 and prod(shape) <= MOST_OF_ITEM * groups
    return _groups(shape, groups) if fits else None


def _stored(x: Array) -> Stored | None:
    stored = BY_DTYPE.get(x.dtype)
    if stored is FLOAT64:
        return stored if x.size <= MOST_OF_FLOAT64 else None
    return stored if stored is FLOAT32 and x.size <= MOST else None


def _lies_last(x: Array) -> bool:
    return x.ndim in LAST and bool(x.transpose(LAST[x.ndim]).flags.carray)


def _fit(x: Array, channels: int, vectors: tuple[Array | None, ...]) -> bool:
    """Whether there is a number for each channel, of the data's dtype."""
    return all(v is None or (v.dtype == x.dtype and v.shape == (channels,) and v.flags.carray) for v in vectors)


def plan_of(x: Array, vectors: tuple[Array | None, ...], groups: int | None = None) -> Plan | None:
    """The plan of a call; None where it is not served."""
    stored = _stored(x)
    if stored is None:
        return None
    plain = x.flags.carray
    lies_last = not plain and groups is None and _lies_last(x)
    if not plain and not lies_last:
        return None
    plan = _plan(x.shape, lies_last, groups, registers().lanes(stored))
    return plan if plan is not None and _fit(x, x.shape[1], vectors) else None


def _new(plan: Plan, x: Array) -> Array:
    """An array for a result that lies as `x` does."""
    return np.empty(x.shape, x.dtype) if plan.moved is None else np.empty(plan.moved, x.dtype).transpose(FIRST[x.ndim])


def normalized(
    plan: Plan, x: Array, weight: Array | None, bias: Array | None, known: tuple[Array, Array] | None, eps: float
) -> tuple[Array, ...] | None:
    """(result, mean, variance, 1 / sqrt(variance + eps)); `known`: the mean and variance where they are not the data's."""
    key = BY_DTYPE[x.dtype], known is None, weight is not None, bias is not None
    out, rstd = _new(plan, x), np.empty(plan.statistics, x.dtype)
    mean, variance = (np.empty_like(rstd), np.empty_like(rstd)) if known is None else (known[0].copy(), known[1].copy())
    program = COLUMNS if plan.last else ROWS
    given = x, out, mean, variance, rstd, 0 if weight is None else weight, 0 if bias is None else bias, float(eps)
    return (out, mean, variance, rstd) if program.run(key, plan.items, plan.grain, *given, *plan.sizes) else None


def gradients(
    plan: Plan, g: Array, x: Array, weight: Array | None, mean: Array, rstd: Array, training: bool
) -> tuple[Array, ...] | None:
    """The gradients of input, weight and bias."""
    if g.dtype != x.dtype or g.shape != x.shape:
        return None
    if mean.dtype != x.dtype or rstd.dtype != x.dtype or mean.shape != plan.statistics or rstd.shape != plan.statistics:
        return None
    if not (mean.flags.carray and rstd.flags.carray):
        return None
    if plan.moved is not None:
        g = np.ascontiguousarray(g.transpose(LAST[x.ndim]))
    elif not g.flags.carray:
        g = in_one_piece(g)
    out, channels = _new(plan, x), x.shape[1]
    if plan.last:
        program, sums = COLUMNS_GRADIENT, (np.empty(channels, x.dtype), np.empty(channels, x.dtype))
    else:
        program, sums = ROWS_GRADIENT, (np.zeros(channels), np.zeros(channels))
    key = BY_DTYPE[x.dtype], training, weight is not None
    given = g, x, out, mean, rstd, 0 if weight is None else weight, *sums
    if not program.run(key, plan.items, plan.grain, *given, *plan.sizes):
        return None
    of_weight, of_bias = sums
    return out, of_weight.astype(x.dtype, copy=False), of_bias.astype(x.dtype, copy=False)
