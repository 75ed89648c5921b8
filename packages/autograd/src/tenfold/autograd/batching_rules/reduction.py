"""Reductions, scans and orderings along dimensions, under vmap and forward mode."""

from __future__ import annotations

from tenfold.autograd.batching import Batch, Result, batching, batching_by_name
from tenfold.autograd.batching_rules.kinds import reduction
from tenfold.autograd.tangents import LINEAR, jvp_by_name
from tenfold.dispatch.operators import op
from tenfold.ops.view.shapes import reshape

batching_by_name(
    "sum mean prod amax amin max_dim min_dim all any count_nonzero argmax argmin sort_pair topk_pair kthvalue_pair cumsum "
    "cumprod vector_norm",
    reduction,
)


@batching(op.search_positions)
def search_positions(batch: Batch) -> Result:
    if batch.names == ["input"] and batch.ndim("sorted_sequence") == 1:
        return batch.call(), batch.dims["input"]
    sequence, x = batch.front("sorted_sequence"), batch.front("input")
    if batch.ndim("sorted_sequence") > 1:
        return batch.call(sorted_sequence=sequence, input=x), 0
    found = batch.call(sorted_sequence=sequence, input=reshape(x, (batch.size, -1)))
    return reshape(found, x.shape), 0


jvp_by_name("sum cumsum", LINEAR)
