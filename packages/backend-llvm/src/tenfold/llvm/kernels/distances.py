"""Distances of all pairs of rows, and cosines and distances of pairs of rows: operators of tenfold-nn."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.distances import KINDS, distances, slopes
from tenfold.llvm.elimination import width
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64, Stored

Array = np.ndarray[Any, Any]
DISTANCES, SLOPES = Compiled("distances of rows", distances), Compiled("gradients of distances of rows", slopes)
MOST_PRODUCTS = 1 << 18  # multiplications from which a product of matrices takes less time than differences
MODES = (None, "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def _padded(x: Array, stored: Stored) -> Array:
    """Rows in one piece, with zeros behind each to whole vectors."""
    columns = x.shape[-1]
    whole = width(stored, columns)
    if whole == columns:
        return np.ascontiguousarray(x)
    made = np.zeros((*x.shape[:-1], whole), x.dtype)
    made[..., :columns] = x
    return made


def _kind(p: float, *arrays: Array) -> tuple[Stored, str] | None:
    """The dtype of arrays that are served, and what is added up; None for others."""
    stored, kind = BY_DTYPE.get(arrays[0].dtype), KINDS.get(p)
    if stored not in (FLOAT32, FLOAT64) or kind is None or any(a.dtype != stored.dtype or not a.size for a in arrays):
        return None
    return stored, kind


def fused_distances(x1: Array, x2: Any, p: float, product: bool) -> Any:
    """The p-norms of the differences of all pairs of rows."""
    own = x2 is None
    found = _kind(p, x1) if own else _kind(p, x1, x2)
    if found is None or (own and len(x1) < 2):
        return NotImplemented
    stored, kind = found
    *batch, P, M = x1.shape
    R = P if own else x2.shape[-2]
    if product and P * R * M * prod(batch) > MOST_PRODUCTS:
        return NotImplemented
    out = np.empty((P * (P - 1) // 2,) if own else (*batch, P, R), x1.dtype)
    a = _padded(x1, stored)
    c, whole = a if own else _padded(x2, stored), a.shape[-1]
    grain = max(1, GRAIN_ELEMENTS // (R * whole))
    return out if DISTANCES.run((stored, kind, own), prod(batch) * P, grain, a, c, out, P, R, whole) else NotImplemented


def fused_distances_grad(grad: Array, x1: Array, x2: Any, result: Array, p: float, product: bool) -> Any:
    """The gradient of distances for the first rows."""
    own = x2 is None
    found = _kind(p, x1, grad, result) if own else _kind(p, x1, x2, grad, result)
    if found is None:
        return NotImplemented
    stored, kind = found
    *batch, P, M = x1.shape
    R = P if own else x2.shape[-2]
    if product and P * R * M * prod(batch) > MOST_PRODUCTS:
        return NotImplemented
    a = _padded(x1, stored)
    c, whole = a if own else _padded(x2, stored), a.shape[-1]
    out, shares = np.empty(a.shape, a.dtype), np.empty((*batch, P, R), a.dtype)
    given = (np.ascontiguousarray(grad), np.ascontiguousarray(result), a, c, shares, out, P, R, whole)
    grain = max(1, GRAIN_ELEMENTS // (R * whole))
    done = SLOPES.run((stored, kind, own), prod(batch) * P, grain, *given)
    return np.ascontiguousarray(out[..., :M]) if done else NotImplemented


def cdist(x1: Array, x2: Array, p: float, compute_mode: Any) -> Any:
    """Distances where no gradient is asked for; batches of one shape."""
    if x1.ndim < 2 or x1.shape[:-2] != x2.shape[:-2] or x1.shape[-1] != x2.shape[-1] or compute_mode not in MODES:
        return NotImplemented
    product = p == 2 and (compute_mode == MODES[2] or (max(x1.shape[-2], x2.shape[-2]) > 25 and compute_mode in MODES[:2]))
    return fused_distances(x1, x2, p, product)


def pdist(input: Array, p: float) -> Any:
    """The distances of a matrix's pairs of rows, where no gradient is asked for."""
    return fused_distances(input, None, p, False) if input.ndim == 2 else NotImplemented


NOTE = "float32 and float64, p of 1, 2 and infinity"
chosen("fused_distances", fused_distances, 4, NOTE)
chosen("fused_distances_grad", fused_distances_grad, 6, NOTE)
chosen("cdist", cdist, 4, NOTE)
chosen("pdist", pdist, 2, NOTE)
