"""Fourier transforms under vmap and forward mode: the batch is one dimension more in front."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.batching import Batch, Result, batching_by_name
from tenfold.autograd.batching_rules.kinds import shifted
from tenfold.autograd.tangents import LINEAR, jvp_by_name


def along(batch: Batch) -> Result:
    """Each dimension counts one further."""
    dims: Any = batch.values["dim"]
    further = shifted(dims, batch.ndim("input")) if isinstance(dims, int) or dims else dims
    return batch.call(input=batch.front("input"), dim=further), 0


batching_by_name("complex_transform real_transform real_inverse_transform", along)
jvp_by_name("complex_transform real_transform real_inverse_transform", LINEAR)
