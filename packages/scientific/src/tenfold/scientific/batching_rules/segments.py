"""Reductions of segments under vmap."""

from __future__ import annotations

from tenfold.autograd.batching import Batch, Result, batching
from tenfold.dispatch.operators import op


@batching(op.reduced_segments)
def reduced_segments(batch: Batch) -> Result:
    return batch.call(data=batch.front("data").contiguous(), offsets=batch.front("offsets").contiguous()), 0
