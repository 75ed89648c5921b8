"""Medians, modes and sums without NaN: operators of tenfold-scientific, by sorting.py and reducing.py."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import refusing
from tenfold.cuda.kernels.handwritten import Handwritten, contiguous, start
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.kernels.reducing import nansum, spreading
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

kernel(op.nansum, device="cuda")(nansum)
kernel(op.var_mean, device="cuda")(spreading("variance and mean"))
kernel(op.std_mean, device="cuda")(spreading("deviation and mean"))


@kernel(op.median_value, device="cuda")
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


@kernel(op.median_dim, device="cuda")
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
