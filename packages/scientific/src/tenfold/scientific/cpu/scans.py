"""NumPy kernels of running extremes and of logarithms of running sums: their results lie row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.reduction.reductions import orderable
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op


@kernel(op.logcumsumexp, device="cpu")
def logcumsumexp(input: Any, dim: int) -> Any:
    if not input.ndim:
        np.empty(1)[dim]  # IndexError beyond 0 and -1
        return input.copy()
    with np.errstate(all="ignore"):
        if input.dtype.kind != "c":
            return np.logaddexp.accumulate(input.astype(np.float64), dim).astype(input.dtype, order="C")
        rows = np.moveaxis(input.astype(np.complex128), dim, 0)
        # One part that is nan leaves nothing known of the sum, and what is minus infinity has no phase.
        rows = np.where(np.isnan(rows), complex(np.nan, np.nan), np.where(np.isneginf(rows.real), -np.inf, rows))
        result = rows.copy()
        for i in range(1, rows.shape[0]):
            result[i] = _log_add_exp(result[i - 1], rows[i])
        return np.moveaxis(result, 0, dim).astype(input.dtype, order="C")


def _log_add_exp(a: Any, b: Any) -> Any:
    greater = np.where(a.real > b.real, a, b)
    less = np.where(a.real > b.real, b, a)
    none = np.isneginf(less.real)  # its phase does not matter
    total = np.where(none, greater, greater + np.log1p(np.exp(np.where(none, 0, less - greater))))
    infinite = np.isposinf(less.real)  # both, whose difference is none
    return np.where(infinite, np.log(np.exp(a) + np.exp(b)), total) if infinite.any() else total


def _running(accumulate: Any, name: str) -> Any:
    def run(input: Any, dim: int) -> tuple[Any, Any]:
        x = np.ascontiguousarray(orderable(input)) if input.ndim else input
        if not x.ndim:
            return input.copy(), np.zeros((), np.int64)
        values = accumulate(x, dim)
        reached = x == values
        if x.dtype.kind == "f":
            reached |= np.isnan(x)
        shape = [1] * x.ndim
        shape[dim] = -1
        position = np.arange(x.shape[dim]).reshape(shape)
        return values.astype(input.dtype, copy=False), np.maximum.accumulate(np.where(reached, position, 0), dim)

    return run


kernel(op.cummax_pair, device="cpu")(_running(np.maximum.accumulate, "cummax"))
kernel(op.cummin_pair, device="cpu")(_running(np.minimum.accumulate, "cummin"))
