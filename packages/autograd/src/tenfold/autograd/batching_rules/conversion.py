"""Copies and conversions under vmap and forward mode."""

from __future__ import annotations

from tenfold.autograd.batches import NotBatched
from tenfold.autograd.batching import Batch, Result, batching
from tenfold.autograd.batching_rules.kinds import keep
from tenfold.autograd.tangents import LINEAR, jvp_rule
from tenfold.dispatch.operators import op

batching(op.to_dtype, op.to_device)(keep)


@batching(op.clone)
def clone(batch: Batch) -> Result:
    format = batch.values["memory_format"]
    if format is not None and format.order:
        raise NotBatched(
            "NYI: querying is_contiguous inside of vmap for memory_format other than torch.contiguous_format, and "
            "Tensor.clone(memory_format) inside vmap is only supported with memory_format torch.preserve_format or "
            f"torch.contiguous_format (got {format}): convert the batch outside of vmap"
        )
    if format is None or format.order is None:
        return batch.call(), batch.dims["input"]
    return batch.call(input=batch.front("input")), 0


for _operator in (op.clone, op.to_dtype, op.to_device):
    jvp_rule(_operator, LINEAR)
