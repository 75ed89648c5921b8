"""Medians, modes, sums without NaN, covariances: operators of tenfold-scientific, by sorting.py, reducing.py and products."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tenfold.cuda import products, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import refusing
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.folds import Fold, folded
from tenfold.cuda.kernels.handwritten import F32, F64, Handwritten, contiguous, start
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.kernels.matmul import product
from tenfold.cuda.kernels.reducing import nansum, reduction, spreading, to_the_body
from tenfold.cuda.kernels.sorting import (
    INT64,
    at_rank,
    bits,
    in_order,
    key_constants,
    rows_along,
    scalar_with_position,
    served,
    squeezed,
)
from tenfold.dispatch.operators import op

BLOCK = 1024
_KNOWN, _NUMBERS = (reduction(Fold("sum", name), to_the_body) for name in ("known", "numbers"))

kernel(op.nansum, device="cuda")(nansum)
kernel(op.var_mean, device="cuda")(spreading("variance and mean"))
kernel(op.std_mean, device="cuda")(spreading("deviation and mean"))


@kernel(op.nanmean, device="cuda")
def nanmean(input: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    """Of single and double precision: others' sums are rounded, and may overflow, before they are divided."""
    if dtype is not None or input.dtype not in (F32, F64):
        return NotImplemented
    total = _KNOWN(input, dim, keepdim)
    count = NotImplemented if total is NotImplemented else _NUMBERS(input, dim, keepdim)
    return NotImplemented if count is NotImplemented else run("div", total, count)


@kernel(op.median_value, device="cuda", plays=True)
def median_value(input: Any, skip_nan: bool) -> Any:
    now = runtime.current()
    if not input.size:
        # As C++ converts nan: to the least int or long, of which a narrower type has the lower bits.
        least = np.asarray(np.nan if input.dtype.kind in "fV" else np.iinfo(f"i{max(input.dtype.itemsize, 4)}").min)
        return now.from_host(least.astype(input.dtype), now.index_of(input))
    rows = rows_along(contiguous(input).reshape(-1), 0)
    if not served(input, rows):
        return through_host("median_value")(input, skip_nan)
    return at_rank(rows, 0, 1 + skip_nan)[0].reshape(())


@kernel(op.median_dim, device="cuda", plays=True)
@partial(refusing, op.median_dim)
def median_dim(input: Any, dim: int, keepdim: bool, skip_nan: bool) -> tuple[Any, Any]:
    if not input.ndim:
        return scalar_with_position(input)
    rows = rows_along(input, dim)
    if not served(input, rows):
        return through_host("median_dim")(input, dim, keepdim, skip_nan)
    return squeezed(at_rank(rows, 0, 1 + skip_nan), dim, keepdim)


@kernel(op.mode_pair, device="cuda")
@partial(refusing, op.mode_pair)
def mode_pair(input: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    if not input.ndim:
        return scalar_with_position(input)
    rows = rows_along(input, dim)
    if not served(input, rows):
        return through_host("mode_pair")(input, dim, keepdim)
    values, places = in_order(rows, flat=True)
    now = runtime.current()
    index = now.index_of(input)
    found = tuple(now.empty((*rows.shape[0], 1, *rows.shape[1]), dtype, index) for dtype in (input.dtype, INT64))
    if rows.rows:
        block = min(BLOCK, 1 << (rows.width - 1).bit_length())
        constants = (*key_constants(input.dtype), ("BLOCK", max(block, 32)))
        given = (bits(found[0]), found[1], bits(values), places, rows.width)
        start(Handwritten("mode_rows", constants, by_address=True), (rows.rows,), given, index)
    return squeezed((found[0], found[1]), dim, keepdim)


def _covariances(input: Any, correction: Any) -> Any:
    """The matrix, of one variable with both dimensions, too: a mean, what is apart from it, and one product with its factor.

    None for the body, which has the words for what is wrong.
    """
    if input.dtype.kind not in "fV" or input.ndim > 2 or not input.size or type(correction) not in (int, float):
        return None
    rows = input[(None,) * (2 - input.ndim)]
    freedom = rows.shape[1] - correction
    mean = folded(Fold("sum", end="mean"), rows, 1, True, rows.shape[1]) if freedom > 0 else None
    if mean is None:
        return None
    apart = run("sub", rows, mean)
    found = products.multiply(apart, apart.T, alpha=1 / freedom)
    return run("div", product(apart, apart.T), float(freedom)) if found is None else found


@kernel(op.cov, device="cuda", over=(op.mm,))
def cov(input: Any, correction: Any, fweights: Any, aweights: Any) -> Any:
    found = _covariances(input, correction) if fweights is None and aweights is None else None
    return NotImplemented if found is None else found.reshape(()) if found.size == 1 else found


@kernel(op.corrcoef, device="cuda", over=(op.mm,))
def corrcoef(input: Any) -> Any:
    found = _covariances(input, 1)
    if found is None:
        return NotImplemented
    if found.size == 1:
        return run("div", found, found).reshape(())
    variances = found.diagonal()
    return run("correlation", found, variances[:, None], variances[None])
