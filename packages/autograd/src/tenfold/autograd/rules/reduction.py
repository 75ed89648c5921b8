"""Gradients of the reductions, scans and order statistics."""

from __future__ import annotations

from math import inf, nan
from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient
from tenfold.autograd.rules.conjugates import conj, is_complex
from tenfold.autograd.rules.indexing import sent
from tenfold.autograd.rules.passing import whole as elsewhere
from tenfold.autograd.seen import to_expand
from tenfold.dispatch.runtime import STATE
from tenfold.dispatch.shape_rules import wrap_dim, wrap_dims
from tenfold.ops.pointwise.several import where
from tenfold.ops.reduction.reductions import count_over
from tenfold.ops.reduction.statistics import spread_arguments
from tenfold.types.dtypes import int64


def restore_dims(g: Any, shape: Any, dim: Any, keepdim: bool) -> Any:
    """The gradient of a reduction with the reduced dimensions back, of size 1; of one over all it is broadcast without them."""
    if keepdim or not shape or dim is None:
        return g
    dims = wrap_dims(dim, len(shape))
    return g.view([1 if i in dims else n for i, n in enumerate(shape)])


# Sums and products


def _mean(g: Any, input_shape: Any, dim: Any, keepdim: bool) -> Any:
    g = to_expand(g / max(count_over(input_shape, dim), 1))
    return restore_dims(g, input_shape, dim, keepdim).expand(input_shape)


gradient(
    op.sum,
    input=lambda g, input_shape, dim, keepdim: restore_dims(g, input_shape, dim, keepdim).expand(input_shape),
    label=lambda node: "SumBackward0" if node.s_dim is None else "SumBackward1",
)
gradient(op.mean, input=_mean, label=lambda node: "MeanBackward0" if node.s_dim is None else "MeanBackward1")


def product_of_others(x: Any, dim: int) -> Any:
    """For each element the product of all others along a dimension, right for zeros too."""
    size = x.shape[dim]
    if size < 2:
        return op.ones_like(x)
    one = op.ones_like(x.narrow(dim, 0, 1))
    before = op.cat([one, x.narrow(dim, 0, size - 1)], dim).cumprod(dim)
    after = op.cat([one, x.narrow(dim, 1, size - 1).flip(dim)], dim).cumprod(dim).flip(dim)
    return before * after


def _prod(g: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    if not input.shape:
        return g
    if dim is None:
        return g * conj(product_of_others(input.reshape(-1), 0)).reshape(input.shape)
    dims = wrap_dims(dim, input.dim())
    if len(dims) == 1:
        return restore_dims(g, input.shape, dim, keepdim) * conj(product_of_others(input, dims[0]))
    kept = [d for d in range(input.dim()) if d not in dims]
    order = [*kept, *dims]
    moved = input.permute(order)
    others = product_of_others(moved.reshape([*moved.shape[: len(kept)], -1]), len(kept)).reshape(moved.shape)
    others = others.permute([order.index(d) for d in range(input.dim())])
    return restore_dims(g, input.shape, dim, keepdim) * conj(others)


gradient(op.prod, input=_prod)


# Extremes


def _shared(g: Any, input: Any, out: Any, dim: Any, keepdim: bool) -> Any:
    """The gradient of an extreme, in equal parts to all elements that attain it.

    Of `max` and `min` (dim None) nan attains nan, and the others get 0 whatever g is; of `amax` and `amin` nothing attains
    nan, and all gradients beside it are nan.
    """
    extreme = restore_dims(out, input.shape, dim, keepdim)
    chosen = input == extreme
    if dim is None:
        chosen = chosen | (input.isnan() & extreme.isnan())
        return where(chosen, g / chosen.sum(), 0)
    g = restore_dims(g, input.shape, dim, keepdim)
    return g * chosen / chosen.sum(None if isinstance(dim, (tuple, list)) and not dim else dim, True)


gradient(op.amax, input=_shared)
gradient(op.amin, input=_shared)


def _to_positions(g: Any, shape: Any, dim: int, positions: Any, keepdim: bool) -> Any:
    """Zeros of a shape with g at the given positions along a dimension."""
    if not shape:
        return g.reshape(())
    d = wrap_dim(dim, len(shape))
    if not keepdim:
        g, positions = g.unsqueeze(d), positions.unsqueeze(d)
    return sent(g, tuple(shape), d, positions)


def chosen_elements(g: Any, input_shape: Any, dim: int, keepdim: bool, out1: Any) -> Any:
    return _to_positions(g[0], input_shape, dim, out1, keepdim)


def chosen_in_place(g: Any, input_shape: Any, dim: int, out1: Any) -> Any:
    return _to_positions(g[0], input_shape, dim, out1, True)


for _operator in (op.max_dim, op.min_dim, op.kthvalue_pair):
    gradient(_operator, input=chosen_elements)
for _operator in (op.sort_pair, op.topk_pair):
    gradient(_operator, input=chosen_in_place)


# Exponentials

gradient(
    op.logsumexp,
    input=lambda g, input, out, dim, keepdim: (
        restore_dims(g, input.shape, dim, keepdim) * conj((input - restore_dims(out, input.shape, dim, keepdim)).exp())
    ),
)


def reversed_scan(scan: Any, x: Any, dim: int) -> Any:
    found = elsewhere(f"reversed {scan.name}", x, dim)
    return found[0] if found is not None else scan(x.flip(dim), dim).flip(dim) if x.dim() else x


gradient(op.cumsum, input=lambda g, dim: reversed_scan(op.cumsum, g, dim))


def _has_zero(x: Any) -> bool:
    """Whether an element is zero; inside a transform, whose values cannot be read, one may be."""
    return x._key.level is not None or bool((x == 0).any())


def _cumprod(g: Any, input: Any, out: Any, dim: int) -> Any:
    if input.dim() == 0 or input.numel() == 0 or input.shape[dim] == 1:
        return g
    if not _has_zero(input):
        return reversed_scan(op.cumsum, g * conj(out), dim) / conj(input)
    d = wrap_dim(dim, input.dim())
    if input._key.level is None and not STATE.grad_enabled:
        return _to_the_zeros(g, input, out, d)
    # Element k of the gradient: sum over j >= k of g[j] times the product up to j without k.
    rows, gs = input.transpose(d, -1), g.transpose(d, -1)
    size = rows.shape[-1]
    k = op.arange(size, device=input.device)
    without = where(k.unsqueeze(1) == k, 1, rows.unsqueeze(-2)).cumprod(-1)  # (..., k, j)
    return where(k.unsqueeze(1) > k, 0, gs.unsqueeze(-2) * conj(without)).sum(-1).transpose(d, -1)


def _to_the_zeros(g: Any, input: Any, out: Any, dim: int) -> Any:
    """cumprod's gradient in passes of scans: what comes after a line's first zero gets nothing, not even nan, as in PyTorch.

    An element before the zero counts in the products before the zero; the zero in those up to the second one.
    """
    x, y = conj(input), conj(out)
    zeros = (input == 0).cumsum(dim)
    before, since = zeros == 0, zeros == 1
    early = reversed_scan(op.cumsum, where(before, g * y, 0), dim) / x
    place = op.argmax(since.to(int64), dim, True)
    shape = [-1 if d == dim else 1 for d in range(input.dim())]
    first = since & (op.arange(input.shape[dim], device=input.device).reshape(shape) == place)
    after = (where(since & ~first, x, 1).cumprod(dim) * where(since, g, 0)).sum(dim, True)
    ahead = where(place == 0, 1, op.gather(y, dim, (place - 1).clamp_min(0)))
    return where(before, early, where(first, after * ahead, 0))


gradient(op.cumprod, input=_cumprod)


# Spread and norms


def _variance(g: Any, input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
    dim, correction = spread_arguments(dim, unbiased, correction)
    freedom = count_over(input.shape, dim) - correction
    if freedom <= 0 and dim is None:  # the quotient has no derivative at a constant, and grows without bound beside it
        return g * where(input == input.mean(dim, True), nan, inf)
    scale = 2.0 / freedom if freedom else inf
    return restore_dims(g * scale, input.shape, dim, keepdim) * (input - input.mean(dim, True))


def _deviation(g: Any, input: Any, out: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
    g = where(out == 0, 0, g / (2 * out))
    return _variance(g, input, dim, unbiased, keepdim, correction)


gradient(op.var, input=_variance)
gradient(op.std, input=_deviation)


def _norm(g: Any, input: Any, out: Any, ord: Any, dim: Any, keepdim: bool) -> Any:
    """g times the derivative of (sum |x|^p)^(1/p); 0 where that is not defined, as in PyTorch."""
    if ord == 0:
        return None
    g, out = restore_dims(g, input.shape, dim, keepdim), restore_dims(out, input.shape, dim, keepdim)
    if ord == 1:
        return input.sgn() * g
    if ord == 2:
        return g * where(out == 0, 0, input / out)
    size = input.abs()
    if ord in (inf, -inf):
        if is_complex(input):  # whose sizes are rounded, by how they are computed
            out = (size.amax if ord > 0 else size.amin)(() if dim is None else dim, True)
        attained = (size == out) | (size.isnan() & out.isnan())
        return input.sgn() * (g / attained.sum(dim, True) * attained)
    if ord < 1:
        scaled = where(size == 0, 0, input.sgn() * where(size == 0, 1, size).pow(ord - 1))
        return scaled * g * out.pow(1 - ord)
    if ord < 2:
        scaled = input.sgn() * size.pow(ord - 1)
        return scaled * where(out == 0, 0, g * out.pow(1 - ord))
    return input * size.pow(ord - 2) * where(out == 0, 0, g / out.pow(ord - 1))


gradient(op.vector_norm, input=_norm)
