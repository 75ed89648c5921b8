"""Factories that follow another tensor's shape, under vmap: an in-place write may then differ between the examples."""

from __future__ import annotations

from tenfold.autograd.batching import Batch, Result, batching_by_name
from tenfold.autograd.batching_rules.kinds import like

batching_by_name("zeros_like ones_like empty_like full_like", like)


def sized(batch: Batch) -> Result:
    """Factories on a tensor's device and dtype: of their own size for each example."""
    size = batch.values["size"]
    return batch.call(size=(batch.size, *((size,) if isinstance(size, int) else size))), 0


def strided(batch: Batch) -> Result:
    """The same with strides: each example's memory after the one before."""
    size, stride = tuple(batch.values["size"]), tuple(batch.values["stride"])
    reach = 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride))
    return batch.call(size=(batch.size, *size), stride=(reach, *stride)), 0


batching_by_name("new_empty_strided", strided)
batching_by_name("new_zeros new_ones new_empty new_full", sized)
