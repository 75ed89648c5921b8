"""Elementwise operators under vmap and forward mode; `batching.find` and `tangents.find` know the plain ones by family."""

from __future__ import annotations

from tenfold.autograd.batching import Batch, Result, batching_by_name
from tenfold.autograd.batching_rules.kinds import pointwise
from tenfold.autograd.tangents import LINEAR, jvp_by_name


def in_front(batch: Batch) -> Result:
    """Operators that make or take away a last dimension."""
    return batch.call(input=batch.front("input")), 0


batching_by_name("rsub", pointwise)  # a composite, so not known by its family
batching_by_name("view_as_real view_as_complex", in_front)
jvp_by_name("real_part imag_part view_as_real view_as_complex conj_physical complex neg", LINEAR)
