"""Limits on the norms of slices."""

from __future__ import annotations

from math import frexp, inf
from typing import Any

from tenfold.dispatch.accepted import Only
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.nn.ops.norm.scaling import SMALL, fused_scaled_rows, in_one_pass
from tenfold.ops.pointwise.several import where
from tenfold.tensor.tensor import Tensor
from tenfold.types.numeric_limits import finfo

_NORMED = Only("floating complex", RuntimeError, "{name}: Expected a floating point or complex tensor as input. Got {dtype}")


@composite("norm", accepts=_NORMED, inplace=True, out="same")
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Each slice along a dimension whose p-norm is above `maxnorm`, scaled down to it.

    >>> import tenfold
    >>> tenfold.renorm(tenfold.tensor([[3.0, 4.0], [0.5, 0.0]]), 2, 0, 1)
    tensor([[0.6000, 0.8000],
            [0.5000, 0.0000]])
    """
    dim = _check_renorm(input.shape, p, dim, maxnorm)
    if in_one_pass(input, p, maxnorm):
        moved = input.movedim(dim, 0)
        rows = fused_scaled_rows(moved.reshape(moved.size(0), -1), float(p), "limit", float(maxnorm))[0]
        return rows.view(moved.shape).movedim(0, dim).contiguous()
    dims = [d for d in range(input.dim()) if d != dim]
    if input.dtype.is_half:  # whose norms may be larger than any of its numbers
        return renorm(input.float(), p, dim, maxnorm).to(input.dtype)
    norms: Any = op.vector_norm(input, p, dims, True)
    if input.requires_grad:  # only what is scaled has a norm that matters, even beside nan
        large, scaled = norms > maxnorm, where(norms > maxnorm, input, 1)
        # A norm of finite numbers that left the dtype's range scales to 0, whatever changes it.
        beyond = (norms == inf) & (op.vector_norm(input, inf, dims, True) < inf)
        # The gradient adds up products with its elements, which overflow where they are large: halved so often, exactly.
        bound = finfo(norms.dtype).max ** 0.5
        halved: Any = op.full_like(norms, 2.0 ** -frexp(bound)[1])
        scaled = scaled * where((norms > bound) & (norms < inf), halved, 1)
        factor = maxnorm / (op.vector_norm(where(beyond, 1, scaled), p, dims, True) + SMALL)
        return where(large, scaled * where(beyond, 0, factor).to(norms.dtype), input).contiguous()
    return (input * where(norms > maxnorm, maxnorm / (norms + SMALL), 1.0).to(norms.dtype)).contiguous()


def _check_renorm(shape: Any, p: float, dim: int, maxnorm: float) -> int:
    """The dimension, counted from the front; RuntimeError for arguments that mean no limit."""
    if len(shape) < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {len(shape)} dimensions")
    if not p > 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got p={p}")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    return wrap_dim(dim, len(shape), "renorm")


@renorm.rule
def _(input: Any, p: float, dim: int, maxnorm: float) -> Meta:
    _check_renorm(input.shape, p, dim, maxnorm)
    return Meta(input.shape, input.dtype)
