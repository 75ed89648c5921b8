"""The gradient of reductions of segments."""

from __future__ import annotations

from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient
from tenfold.autograd.rules.reduction import product_of_others
from tenfold.ops.pointwise.several import where


def _segments(g: Any, out: Any, data: Any, offsets: Any, reduce: str, initial: Any) -> Any:
    """The segments as rows of one length, padded; each place of `data` takes its element's share of the gradient."""
    axis = offsets.dim() - 1
    lengths = offsets.narrow(-1, 1, offsets.shape[-1] - 1) - offsets.narrow(-1, 0, offsets.shape[-1] - 1)
    place = op.arange(data.shape[axis], device=data.device)
    segment = (place.unsqueeze(-1) >= offsets.narrow(-1, 1, offsets.shape[-1] - 1).unsqueeze(-2)).sum(-1)
    inside = (segment < lengths.shape[-1]) & (place >= offsets.narrow(-1, 0, 1))
    segment = segment.clamp(max=max(lengths.shape[-1] - 1, 0))
    shape = (*segment.shape, *[1] * (data.dim() - axis - 1))

    def at(values: Any) -> Any:  # values of segments at their elements
        return values.gather(axis, segment.view(shape).expand(data.shape))

    inside = inside.view(shape)
    if 0 in data.shape or not lengths.shape[-1]:
        return op.zeros_like(data)
    here = at(g)
    if reduce == "mean":
        here = here / lengths.gather(-1, segment).view(shape)
    elif reduce in ("amax", "amin"):
        best = at(out)
        hits = ((data == best) | (data.isnan() & best.isnan())).to(g.dtype) * inside
        counts = op.zeros_like(out).scatter_add(axis, segment.view(shape).expand(data.shape), hits)
        here = here * hits / at(counts.clamp(min=1))
    elif reduce == "prod":
        here = here * _others(data, segment.view(shape), lengths, place, offsets, axis) * (1.0 if initial is None else initial)
    return where(inside, here, op.zeros_like(here))


def _others(data: Any, segment: Any, lengths: Any, place: Any, offsets: Any, axis: int) -> Any:
    """For each element the product of its segment's others."""
    longest, count = int(lengths.max()), lengths.shape[-1]
    start = offsets.narrow(-1, 0, count).gather(-1, segment.reshape(*lengths.shape[:-1], -1))
    slot = (segment.reshape(start.shape) * longest + (place - start).clamp(0, max(longest - 1, 0))).view(segment.shape)
    slots = slot.expand(data.shape)
    padded = op.ones((*data.shape[:axis], count * longest, *data.shape[axis + 1 :]), dtype=data.dtype, device=data.device)
    padded = op.scatter(padded, axis, slots, data).unflatten(axis, (count, longest))
    return product_of_others(padded, axis + 1).flatten(axis, axis + 1).gather(axis, slots)


gradient(op.reduced_segments, data=_segments, label=lambda node: "SegmentReduceBackward0")
