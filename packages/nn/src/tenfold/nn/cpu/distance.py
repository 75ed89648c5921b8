"""Distances of all pairs of rows in blocks: the body makes every difference at once, 1.5 GB for two thousand rows each.

Cosines in fewer passes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from tenfold.cpu import blas
from tenfold.cpu.blocks import row_blocks
from tenfold.cpu.quiet import quiet
from tenfold.cpu.reduction.statistics import power_sum
from tenfold.dispatch.kernels import kernel
from tenfold.nn.ops import distance as ops

_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@kernel(ops.cdist, device="cpu")
@quiet
def cdist(x1: Any, x2: Any, p: float, compute_mode: str | None) -> Any:
    if not _served(x1, x2) or not p >= 0 or compute_mode not in (None, *_MODES):
        return NotImplemented
    many = x1.shape[-2] > 25 or x2.shape[-2] > 25
    by_product = p == 2 and (compute_mode == _MODES[1] or (many and compute_mode in (None, _MODES[0])))
    fill = _products if by_product else _differences
    if x1.ndim == x2.ndim == 2:
        out = np.empty((len(x1), len(x2)), x1.dtype)
        fill(out, x1, x2, p)
        return out
    batch = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    out = np.empty((*batch, x1.shape[-2], x2.shape[-2]), x1.dtype)
    first, second = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (x1, x2))
    for i in np.ndindex(batch):
        fill(out[i], first[i], second[i], p)
    return out


def _served(x1: Any, x2: Any) -> bool:
    if x1.ndim < 2 or x2.ndim < 2 or x1.dtype != x2.dtype or x1.dtype.char not in "fd":
        return False
    return x1.shape[-1] == x2.shape[-1] > 0 and x1.size > 0 and x2.size > 0


def _products(out: Any, x1: Any, x2: Any, p: float) -> None:
    """sqrt(|a|^2 + |b|^2 - 2 a b), in place."""
    out[...] = blas.matmul(x1, x2.T)
    rows, columns = (np.einsum("ij,ij->i", x, x) for x in (x1, x2))
    for part in row_blocks(len(out), out[0].nbytes):
        piece = out[part]
        np.multiply(piece, -2, piece)
        np.add(piece, rows[part, None], piece)
        np.add(piece, columns, piece)
        np.maximum(piece, 0, out=piece)
        np.sqrt(piece, piece)


def _differences(out: Any, x1: Any, x2: Any, p: float) -> None:
    if p in _STEPS and x2.shape[1] <= _FEW_FEATURES and len(x2) >= x2.shape[1]:
        _feature_by_feature(out, x1, x2, p)
        return
    for part in row_blocks(len(out), x2.nbytes):
        difference = x1[part, None] - x2
        if p == 2:
            out[part] = np.sqrt(np.einsum("ijk,ijk->ij", difference, difference))
        elif p == inf:  # of the differences that are known
            out[part] = np.fmax.reduce(np.abs(difference, difference), -1, initial=0)
        else:
            out[part] = _norms(difference, p)


def _norms(difference: Any, p: float) -> Any:
    """Of the last dimension, in place."""
    np.abs(difference, difference)
    if p == 0:  # how many differ: nan, where it is unknown
        return np.minimum(np.ceil(difference, difference), 1, out=difference).sum(-1)
    return power_sum(difference, p, (difference.ndim - 1,), False)


# How a difference becomes a summand, and how summands are put together.
_STEPS: dict[float, Any] = {1: (np.abs, np.add), 2: (np.square, np.add), inf: (np.abs, np.fmax)}
_FEW_FEATURES = 128


def _feature_by_feature(out: Any, x1: Any, x2: Any, p: float) -> None:
    """For rows of few features: passes over blocks of the result, which are longer than the rows."""
    summand, joined = _STEPS[p]
    columns = x2.T.copy()
    for part in row_blocks(len(out), out[0].nbytes, 1 << 17):
        sums = out[part]
        buffer = np.empty_like(sums)
        for k in range(len(columns)):
            into = buffer if k else sums
            np.subtract(x1[part, k, None], columns[k], into)
            summand(into, into)
            if k:
                joined(sums, buffer, out=sums)
        if p == 2:
            np.sqrt(sums, sums)
        elif p == inf:  # where none is known
            np.fmax(sums, 0, out=sums)


@kernel(ops.pdist, device="cpu")
@quiet
def pdist(input: Any, p: float) -> Any:
    if input.ndim != 2 or input.dtype.char not in "fd" or len(input) < 2 or not input.shape[1] or not p >= 0:
        return NotImplemented
    return _condensed(input, p)


def _condensed(x: Any, p: float) -> Any:
    """The distances of all pairs of rows (0, 1), (0, 2), ... of a matrix."""
    out = np.empty(len(x) * (len(x) - 1) // 2, x.dtype)
    if p == 2 and x.dtype == np.float32 and x.shape[1] > _FEW_PRODUCTS:
        _condensed_products(out, x)
    else:
        _fill_rows(out, x, lambda i: _row_distances(x, i, slice(i + 1, None), p))
    return out


def _fill_rows(out: Any, x: Any, row: Callable[[int], Any]) -> None:
    start = 0
    for i in range(len(x) - 1):
        end = start + len(x) - 1 - i
        out[start:end] = row(i)
        start = end


def _row_distances(x: Any, i: int, others: Any, p: float) -> Any:
    """From one row to others."""
    difference = x[others] - x[i]
    if p == 2:
        return np.sqrt(np.einsum("ij,ij->i", difference, difference))
    return _norms(difference, p)


_FEW_PRODUCTS = 4  # features up to which differences are as fast
_CLOSE = 1e-6  # squared distances below this part of the squared lengths lose too many digits in the difference


def _condensed_products(out: Any, x: Any) -> None:
    """sqrt(|a|^2 + |b|^2 - 2 a b) in float64, and by differences where rows are close or not finite."""
    wide = x.astype(np.float64)
    squares = np.einsum("ij,ij->i", wide, wide)
    places = np.arange(len(x))
    start = 0
    for part in row_blocks(len(x), squares.nbytes, 1 << 17):  # few rows: what is left of the diagonal is for nothing
        lengths = squares[part, None] + squares[part.start :]
        found = blas.matmul(wide[part], wide[part.start :].T)
        np.subtract(lengths, np.multiply(found, 2, found), found)
        lengths *= _CLOSE
        pairs = places[part, None] < places[part.start :]  # the others stand elsewhere, or are a row and itself
        unsure = ~(found > lengths)  # also where either is nan
        unsure &= pairs
        distances = np.sqrt(found.astype(np.float32))  # in whose range squares end
        for i in np.flatnonzero(unsure.any(1)).tolist():
            others = np.flatnonzero(unsure[i])
            distances[i, others] = _row_distances(x[part.start :], i, others, 2)
        kept = distances[pairs]
        out[start : start + len(kept)] = kept
        start += len(kept)


@kernel(ops.cosine_similarity, device="cpu")
@quiet
def cosine_similarity(x1: Any, x2: Any, dim: int, eps: float) -> Any:
    last = dim == -1 or dim == x1.ndim - 1
    if (
        not last
        or x1.ndim < 2
        or x1.shape[-1:] == (1,)
        or x1.shape != x2.shape
        or x1.dtype != x2.dtype
        or x1.dtype.char not in "fd"
        or not x1.size
        or not eps >= 0
    ):
        return NotImplemented
    return np.einsum("...i,...i->...", _unit(x1, eps), _unit(x2, eps))


def _unit(x: Any, eps: float) -> Any:
    lengths = np.sqrt(np.einsum("...i,...i->...", x, x))
    return x / np.maximum(lengths, eps, dtype=x.dtype)[..., None]
