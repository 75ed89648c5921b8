"""Gradients of indexing operators."""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import Any

from tenfold import op
from tenfold.autograd.geometry import placed
from tenfold.autograd.gradients import gradient, gradients
from tenfold.autograd.refusing import refusing
from tenfold.autograd.rules.passing import whole as elsewhere
from tenfold.dispatch.runtime import STATE
from tenfold.ops.creation.factories import zeros
from tenfold.ops.creation.like import ones_like, zeros_like
from tenfold.ops.indexing.along import gather, scatter_add, scatter_reduce, scatter_set
from tenfold.ops.indexing.joining import roll
from tenfold.ops.indexing.selection import index, index_put
from tenfold.ops.indexing.strided import strided_set
from tenfold.ops.indexing.subscripts import index_put_
from tenfold.ops.pointwise.several import where
from tenfold.ops.view.parts import unbind
from tenfold.ops.view.shapes import as_strided
from tenfold.types.dtypes import bool_


def _index_label(node: Any) -> str:
    """PyTorch's name: it takes an index apart and names the last step."""
    index = node.s_index
    steps = [i for i in (index if isinstance(index, tuple) else (index,)) if i is not Ellipsis and i != slice(None)]
    if not steps:
        return "AliasBackward0"
    return "UnsqueezeBackward0" if steps[-1] is None else "SliceBackward0" if isinstance(steps[-1], slice) else "SelectBackward0"


def _subscripted(g: Any, input_shape: Any, index: Any) -> Any:
    if g.numel() == prod(input_shape):  # all elements in their order, as subscripts of None and of whole slices show them
        return g.reshape(input_shape)
    return placed(g, input_shape, op.getitem.shape_rule, index)


gradient(op.getitem, input=_subscripted, label=_index_label)


def _zero(g: Any) -> Any:
    return zeros((), dtype=g.dtype, device=g.device)


@gradients(op.index, "input")
def _(g: Any, input_shape: Any, indices: Any) -> Any:
    if len(indices) == 1 and indices[0].dtype is bool_:
        found = elsewhere("index by a mask", g, indices[0], tuple(input_shape))
    else:
        found = elsewhere("index", g, tuple(input_shape), *indices)
    if found is not None:
        return found
    whole = zeros(input_shape, dtype=g.dtype, device=g.device)
    # Inside vmap the zeros are one tensor for all examples, which cannot be written in place.
    plain = g._key.level is None and all(i is None or i._key.level is None for i in indices)
    return ((index_put_ if plain else index_put)(whole, indices, g, True),)


@gradients(op.index_put, "input", "values")
def _(g: Any, needs: Any, indices: Any, values_shape: Any, accumulate: bool) -> Any:
    kept = g if accumulate or not needs[0] else index_put(g, indices, _zero(g))
    if not needs[1]:
        return kept, None
    mask = indices[0]
    if prod(values_shape) == 1 and len(indices) == 1 and mask.dtype is bool_ and g.device.type != "cpu":
        mask = mask.reshape([*mask.shape, *(1,) * (g.dim() - mask.dim())])  # of how many elements nobody need know
        return kept, where(mask, g, 0).sum().reshape(values_shape)
    return kept, index(g, indices)


gradient(
    op.strided_sum,
    input=lambda g, size, stride, storage_offset: as_strided(_dense(g), size, stride, _start(g, storage_offset)),
)
gradient(
    op.strided_set,
    input=lambda g, size, stride, storage_offset: strided_set(g, _zero(g), size, stride, storage_offset),
    src=lambda g, size, stride, storage_offset: as_strided(_dense(g), size, stride, _start(g, storage_offset or 0)),
)


def _dense(g: Any) -> Any:
    return g.contiguous()


def _start(g: Any, offset: int) -> int:
    """Where a region lies in the storage of the (row-major) gradient."""
    return offset + (g.storage_offset() if g.is_contiguous() else 0)


# Along one dimension


def sent(g: Any, input_shape: Any, dim: int, index: Any) -> Any:
    """Zeros of a shape with g added at places along a dimension, in place where nobody looks on."""
    if (found := elsewhere("gather", g, tuple(input_shape), dim, index)) is not None:
        return found[0]
    whole = zeros(input_shape, dtype=g.dtype, device=g.device)
    unseen = not STATE.grad_enabled and g._key.level is None and index._key.level is None
    return (op.scatter_add_ if unseen else scatter_add)(whole, dim, index, g)


def _fetched(g: Any, src_shape: Any, dim: int, index: Any) -> Any:
    """The gradient of a source, whose elements beyond the index went nowhere."""
    found = g.gather(dim, index)
    if found.shape == src_shape:
        return found
    return placed(found, src_shape, op.getitem.shape_rule, tuple(slice(n) for n in found.shape))


gradient(op.gather, input=sent)
gradient(op.scatter_set, input=lambda g, dim, index: scatter_set(g, dim, index, 0), src=_fetched)
gradient(op.scatter_add, input=lambda g: g, src=_fetched)


@gradients(op.scatter_reduce, "input", "src")
def _(g: Any, input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, out: Any) -> Any:
    own, sent = _REDUCED[reduce](g, input, dim, index, src, include_self, out)
    return own if include_self else scatter_set(own, dim, index, 0), sent


def _sum(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any) -> Any:
    return g, _fetched(g, src.shape, dim, index)


def _mean(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any) -> Any:
    count = ones_like(input) if include_self else zeros_like(input)
    count = scatter_add(count, dim, index, ones_like(src))
    share = g / where(count.real > 1, count, 1)
    return share, _fetched(share, src.shape, dim, index)


def _extreme(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any) -> Any:
    """Shared equally among all that attain the extreme; nan, which is equal to nothing, among none."""
    own, sent = (input == out).to(g.dtype), (src == gather(out, dim, index)).to(g.dtype)
    if not include_self:
        own = scatter_set(own, dim, index, 0)
    share = g / scatter_add(own, dim, index, sent)
    return own * share, sent * gather(share, dim, index)


def _prod(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any) -> Any:
    """The product of the others: by division, and where exactly one factor is zero by leaving it out."""
    safe = where(input == 0, 1, input)
    own = g * scatter_reduce(safe, dim, index, src, "prod", include_self=include_self) / safe
    is_zero = src == 0
    zeros_met = scatter_add((input == 0).to(g.dtype) if include_self else zeros_like(g), dim, index, is_zero.to(g.dtype))
    single = where(is_zero, gather(zeros_met, dim, index), 0) == 1
    others = scatter_reduce(input, dim, index, where(single, 1, src), "prod", include_self=include_self)
    divided = gather(g * out, dim, index) / where(is_zero, 1, src)
    sent = where(single, gather(g * others, dim, index), divided)
    sources = tuple(t._node for t in (g, input, src) if t._node is not None)
    if sent._node is not None and g._key.level is None and (zeros_met > 1).any():
        return own, refusing(sent, sources, _TWO_ZEROS)
    return own, sent


_TWO_ZEROS = (
    "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are scattered to the same position in self"
)


_REDUCED = {"sum": _sum, "mean": _mean, "amax": _extreme, "amin": _extreme, "prod": _prod}


# Joining and rearranging


@gradients(op.cat, "tensors")
def _(g: Any, tensors_shape: Any, dim: int) -> Any:
    dim = dim if -g.dim() <= dim < g.dim() else 0  # of empty vectors alone, which have any
    sizes = [0 if tuple(s) == (0,) else s[dim] for s in tensors_shape]
    starts = accumulate(sizes, initial=0)  # each part is a view of its own, which may be written
    parts = [g.narrow(dim, start, size) for start, size in zip(starts, sizes)]
    return [p.reshape(0) if tuple(s) == (0,) else p for p, s in zip(parts, tensors_shape)]


@gradients(op.stack, "tensors")
def _(g: Any, dim: int) -> Any:
    if not g.requires_grad:
        return unbind(g, dim)
    # Views that may be written, which several results of one operator may not.
    return [g.select(dim, i) for i in range(g.size(dim))]


gradient(op.tril, input=lambda g, diagonal: g.tril(diagonal))
gradient(op.triu, input=lambda g, diagonal: g.triu(diagonal))
gradient(op.flip, input=lambda g, dims: g.flip(dims))
gradient(op.roll, input=lambda g, shifts, dims: roll(g, _back(shifts), dims))


def _back(shifts: Any) -> Any:
    return -shifts if not isinstance(shifts, (tuple, list)) else tuple(-s for s in shifts)
