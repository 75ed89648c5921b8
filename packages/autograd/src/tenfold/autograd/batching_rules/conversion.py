"""Copies and conversions under vmap and forward mode."""

from __future__ import annotations

from tenfold.autograd.batching import Batch, Result, batching
from tenfold.autograd.batching_rules.kinds import keep
from tenfold.autograd.tangents import LINEAR, jvp_rule
from tenfold.dispatch.operators import op

batching(op.to_dtype, op.to_device)(keep)


@batching(op.clone)
def clone(batch: Batch) -> Result:
    # A memory format is about the example's dimensions, which lie behind the batch.
    if batch.values["memory_format"] is None or batch.values["memory_format"].order is None:
        return batch.call(), batch.dims["input"]
    batch.values["input"] = batch.front("input")
    order = batch.values["memory_format"].order
    if order:
        return batch.call(memory_format=None), 0
    return batch.call(), 0


for _operator in (op.clone, op.to_dtype, op.to_device):
    jvp_rule(_operator, LINEAR)
