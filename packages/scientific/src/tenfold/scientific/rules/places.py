"""The gradient of writing under a mask, where a device has a kernel for it."""

from __future__ import annotations

from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient
from tenfold.ops.pointwise.several import where
from tenfold.scientific.ops.places import nonzero_static


def _source(g: Any, mask: Any, source: Any) -> Any:
    """What each element was written to, found without asking how many were; the others get nothing."""
    if not source.numel() or not g.numel():
        return source.new_zeros(source.shape)
    place = nonzero_static(mask.expand(g.shape).reshape(-1), size=source.numel()).view(-1)
    taken = g.reshape(-1).index_select(0, place.clamp(min=0))
    return where(place >= 0, taken, 0).view(source.shape)


gradient(op.masked_scatter, input=lambda g, mask: g.masked_fill(mask, 0), source=_source)
