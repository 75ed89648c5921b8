"""Rows scaled by what their norms say, as an operator: where a device has a kernel for it, that is one pass over rows.

Everywhere else it is the bodies of `normalize` (lengths.py) and `renorm` (renorm.py), which this one's results agree with.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tenfold.dispatch.operators import composite, op
from tenfold.nn.arguments import has_kernel, widened
from tenfold.ops.pointwise.several import where
from tenfold.tensor.tensor import Tensor

SMALL = 1e-7  # keeps rounding from leaving a norm above the limit


def in_one_pass(input: Tensor, p: Any, bound: Any) -> bool:
    """Whether the device has a kernel for these: plain floating tensors, numbers, and a norm of some order above 0."""
    if type(p) not in (int, float) or type(bound) not in (int, float) or not p > 0:
        return False
    return has_kernel("fused_scaled_rows", input) and input.dtype.is_floating_point and input.numel() > 0


@composite("norm", method=None)
def fused_scaled_rows(input: Tensor, p: float, kind: str, bound: float) -> tuple[Tensor, Tensor]:
    """Rows over their p-norms, of kind "unit", which are at least `bound`; or scaled down to that, of kind "limit"; the norms.

    >>> import tenfold
    >>> tenfold.op.fused_scaled_rows(tenfold.tensor([[3.0, 4.0]]), 2.0, "unit", 1e-12)
    (tensor([[0.6000, 0.8000]]), tensor([5.]))
    """
    x = widened(input)
    norms: Any = op.vector_norm(x, p, -1, True)
    if kind == "unit":
        out = x / norms.clamp_min(bound)
    else:
        large = norms > bound
        factor = bound / (op.vector_norm(where(large, x, 1), p, -1, True) + SMALL)
        out = where(large, x * factor, x)
    return out.to(input.dtype), norms.detach().squeeze(-1)


@composite("norm", method=None)
def fused_scaled_rows_grad(grad: Tensor, input: Tensor, norms: Tensor, p: float, kind: str, bound: float) -> Tensor:
    """The gradient of `fused_scaled_rows` for its input; the body computes the norms again.

    >>> import tenfold
    >>> x = tenfold.tensor([[3.0, 4.0]])
    >>> _, norms = tenfold.op.fused_scaled_rows(x, 2.0, "unit", 1e-12)
    >>> tenfold.op.fused_scaled_rows_grad(tenfold.tensor([[1.0, 0.0]]), x, norms, 2.0, "unit", 1e-12)
    tensor([[ 0.1280, -0.0960]])
    """
    x, g = widened(input), widened(grad)
    n: Any = op.vector_norm(x, p, -1, True)
    if kind == "unit":
        least = n.clamp_min(bound)
        along = where(n >= bound, (g * (x / least)).sum(-1, True) * slopes_of_norm(x, n, p), 0)
        return ((g - along) / least).to(input.dtype)
    large = n > bound
    n, x = where(large, n, 1), where(large, x, 1)
    part = where(n == inf, 1, n / (n + SMALL))  # an infinite norm of finite numbers, which are scaled to 0
    along = (g * (x / n)).sum(-1, True) * part * slopes_of_norm(x, n, p)
    return where(large, (g - along) * (bound / (n + SMALL)), g).to(input.dtype)


def slopes_of_norm(x: Tensor, norms: Tensor, p: float) -> Tensor:
    """What a norm changes by with each element; 0 of a row of zeros; of the largest sizes in equal parts."""
    if p == 1:
        return x.sign()
    if p == inf:
        attained = x.abs() == norms
        return where(attained, x.sign() / attained.sum(-1, True), 0)
    still = norms == 0
    shares = where(still, 0, x / where(still, 1, norms))
    return shares if p == 2 else where(shares == 0, 0, where(shares == 0, 1, shares).abs() ** (p - 1) * shares.sign())
