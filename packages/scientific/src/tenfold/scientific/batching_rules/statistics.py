"""Medians and modes under vmap."""

from __future__ import annotations

from tenfold.autograd.batching import Batch, Result, batching, batching_by_name
from tenfold.autograd.batching_rules.kinds import reduction
from tenfold.dispatch.operators import op
from tenfold.ops.view.shapes import reshape

batching_by_name("median_dim mode_pair", reduction)


@batching(op.median_value)
def median_value(batch: Batch) -> Result:
    flat = reshape(batch.front("input"), (batch.size, -1))
    return op.median_dim(flat, 1, False, batch.values["skip_nan"])[0], 0
