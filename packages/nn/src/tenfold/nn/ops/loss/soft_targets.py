"""Cross entropy whose targets are probabilities, as one operator: where a device has a kernel for it, it is one pass over rows.

Everywhere else it is the body of `cross_entropy` (classes.py), which this one's results agree with.
"""

from __future__ import annotations

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import has_kernel, widened
from tenfold.nn.ops.loss.reduction import reduced
from tenfold.tensor.tensor import Tensor


def in_one_pass(input: Tensor, target: Tensor, weight: Tensor | None) -> bool:
    """Whether the device has a kernel for these: plain tensors of one dtype, of which only the input wants a gradient."""
    if not has_kernel("fused_soft_cross_entropy", input, target, weight) or not input.numel():
        return False
    if target.dtype is not input.dtype or (weight is not None and weight.shape != _classes(input)):
        return False
    return not (tf.is_grad_enabled() and any(t is not None and t.requires_grad for t in (target, weight)))


def _classes(input: Tensor) -> tuple[int, ...]:
    return (input.shape[min(input.dim() - 1, 1)],)


def _shares(input: Tensor, target: Tensor, weight: Tensor | None, label_smoothing: float) -> Tensor:
    """What each class counts: the target, mixed with the uniform distribution, times the weights."""
    dim, q = min(input.dim() - 1, 1), widened(target)
    q = q * (1 - label_smoothing) + label_smoothing / input.shape[dim] if label_smoothing else q
    return q if weight is None else q * widened(weight).view(-1, *[1] * (input.dim() - dim - 1))


@composite("loss", accepts={"input": "floating"}, method=None)
def fused_soft_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None, label_smoothing: float, reduction: str
) -> tuple[Tensor, Tensor]:
    """Cross entropy with probabilities; and for the gradient the largest logit, log(sum(exp(input - it))) and the shares' sum.

    >>> import tenfold
    >>> tenfold.op.fused_soft_cross_entropy(tenfold.zeros(1, 2), tenfold.tensor([[0.5, 0.5]]), None, 0.0, "sum")[0]
    tensor(0.6931)
    """
    dim, x = min(input.dim() - 1, 1), widened(input)
    shares = _shares(input, target, weight, label_smoothing)
    losses = -(tf.log_softmax(x, dim) * shares).sum(dim)
    top = x.detach().amax(dim, True)
    log_sum = (x.detach() - top).exp().sum(dim).log()
    return reduced(losses, reduction).to(input.dtype), tf.stack([top.squeeze(dim), log_sum, shares.detach().sum(dim)])


@composite("loss", method=None)
def fused_soft_cross_entropy_grad(
    grad: Tensor, input: Tensor, target: Tensor, weight: Tensor | None, label_smoothing: float, reduction: str, saved: Tensor
) -> Tensor:
    """The gradient of `fused_soft_cross_entropy` for its input: softmax(input) sum(shares) - shares; computed again by the body.

    >>> import tenfold
    >>> x, q = tenfold.zeros(1, 2), tenfold.tensor([[1.0, 0.0]])
    >>> loss, saved = tenfold.op.fused_soft_cross_entropy(x, q, None, 0.0, "sum")
    >>> tenfold.op.fused_soft_cross_entropy_grad(tenfold.tensor(1.0), x, q, None, 0.0, "sum", saved)
    tensor([[-0.5000,  0.5000]])
    """
    dim = min(input.dim() - 1, 1)
    shares = _shares(input, target, weight, label_smoothing)
    g = widened(grad)
    if reduction == "none":
        g = g.unsqueeze(dim)
    elif reduction == "mean":
        g = g / (input.numel() // input.shape[dim])
    return ((tf.softmax(widened(input), dim) * shares.sum(dim, True) - shares) * g).to(input.dtype)
