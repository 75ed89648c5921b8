"""The NumPy kernel of reductions of segments."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op

_UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
_EMPTY = {"sum": 0.0, "mean": np.nan, "prod": 1.0, "amax": -np.inf, "amin": np.inf}


@kernel(op.reduced_segments, device="cpu")
def reduced_segments(data: Any, offsets: Any, reduce: str, initial: Any) -> Any:
    axis = offsets.ndim - 1
    batch, count = prod(offsets.shape[:-1]), offsets.shape[-1] - 1
    wide = np.float64 if data.dtype == np.float64 else np.float32
    rows = data.reshape(batch, data.shape[axis], prod(data.shape[axis + 1 :])).astype(wide, copy=False)
    ends = offsets.reshape(batch, -1)
    start = _EMPTY[reduce] if initial is None else initial
    result = np.full((batch, count, rows.shape[-1]), start, wide)
    with np.errstate(all="ignore"):
        for b in range(batch):
            _one(rows[b], ends[b], reduce, initial, result[b])
    return result.astype(data.dtype, copy=False).reshape(*data.shape[:axis], count, *data.shape[axis + 1 :])


def _one(rows: Any, ends: Any, reduce: str, initial: Any, result: Any) -> None:
    """Write the segments' reductions; those of no rows keep what they start from."""
    filled = np.flatnonzero(ends[1:] > ends[:-1])
    if not filled.size:
        return
    ufunc = _UFUNCS[reduce]
    # pairs of a start and an end: what lies between an end and the next start comes out at odd places and is dropped
    bounds = np.stack([ends[:-1][filled], ends[1:][filled]], 1).reshape(-1)
    found = ufunc.reduceat(np.concatenate([rows, rows[:1]]), bounds, axis=0)[::2]
    if initial is not None:
        found = ufunc(found, np.asarray(initial, found.dtype))
    if reduce == "mean":
        found = found / (ends[1:] - ends[:-1])[filled, None]
    result[filled] = found
