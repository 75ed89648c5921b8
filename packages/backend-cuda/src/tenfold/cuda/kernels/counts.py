"""How often whole numbers occur: bincount, and the counting that histograms share."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import reports, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import places as at, sums
from tenfold.cuda.kernels.array_kernels import cast
from tenfold.cuda.kernels.handwritten import F32, F64, Handwritten, contiguous, start
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op

BLOCK = 1024  # elements that are counted at a time
PROGRAMS = 1056  # 8 for each multiprocessor of an H100
FEW = 2048  # bins that a program counts by itself
_bincount_on_host = through_host("bincount")


def count(out: Any, x: Any, bounds: Any = None) -> None:
    """Add the counts of an array's elements to whole numbers; `bounds` are those of equal bins."""
    now, bins = runtime.current(), out.size
    spare = 1 << bins.bit_length() if bins < FEW else 0  # one more than there are bins
    share = max(1, -(-x.size // (BLOCK * PROGRAMS))) if spare else 1
    fixed = (("RANGE", int(bounds is not None)), ("SPARE", spare), ("BLOCK", BLOCK))
    given = (out, x, out if bounds is None else bounds, reports.words(now), reports.WORDS.index("histc"))
    grid = (-(-x.size // (BLOCK * share)),)
    start(Handwritten("histogram", fixed), grid, (*given, x.size, bins, share), now.index_of(out))
    if runtime.is_replaced():
        reports.check()


@kernel(op.bincount, device="cuda")
def bincount(input: Any, weights: Any, minlength: int) -> Any:
    if input.ndim != 1 or input.dtype.kind not in "iu" or input.dtype.name == "uint64" or minlength < 0:
        return _bincount_on_host(input, weights, minlength)
    if weights is not None and (weights.shape != input.shape or weights.dtype.kind == "c"):
        return _bincount_on_host(input, weights, minlength)
    now = runtime.current()
    index, bins = now.index_of(input), minlength
    if input.size:  # the result's length has to be known: one wait, for both numbers
        ends = now.to_host(xp.stack([cast(input.min(), np.int64), cast(input.max(), np.int64)])).tolist()
        if ends[0] < 0 or ends[1] >= 2**63 - 1:
            return _bincount_on_host(input, weights, minlength)  # which has the words of the error
        bins = max(minlength, ends[1] + 1)
    if weights is None or not input.size:
        counts = sums.zeros((bins,), sums.I64, index)
        if input.size:
            count(counts, contiguous(input))
        return counts
    total = sums.zeros((bins,), F32 if weights.dtype == F32 else F64, index)
    found = input if input.dtype in at.INTEGERS else cast(input, np.int64)
    places = at.Places(found.shape, (None,), (at.Index(0, found, found.strides),), False)
    terms = cast(weights, total.dtype)
    if not sums.add_to("index", total, places, terms, terms.strides):
        return _bincount_on_host(input, weights, minlength)
    return total
