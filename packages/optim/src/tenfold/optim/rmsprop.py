"""RMSprop, plain or centered, with or without momentum."""

from __future__ import annotations

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.rule import RuleOptimizer, check_lr, check_not_negative, plain_number


def update(
    param: Tensor,
    grad: Tensor,
    square_avg: Tensor,
    grad_avg: Tensor | None,
    buf: Tensor | None,
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    differentiable: bool,
) -> None:
    """Move `param` once: Tieleman and Hinton 2012, lecture 6e; with `grad_avg` Graves 2013, equations 38-41."""
    if weight_decay:
        grad = grad.add(param, alpha=weight_decay)
    square_avg.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
    variance = square_avg
    if grad_avg is not None:
        grad_avg.lerp_(grad, 1 - alpha)
        variance = square_avg.addcmul(grad_avg, grad_avg, value=-1)
    denom = variance.sqrt()
    denom = denom.add(eps) if differentiable else denom.add_(eps)
    if buf is not None:
        buf.mul_(momentum).addcdiv_(grad, denom)
        param.add_(buf, alpha=-lr)
    else:
        param.addcdiv_(grad, denom, value=-lr)


class RMSprop(RuleOptimizer):
    """Gradients divided by a running root mean square.

    `v = alpha v + (1 - alpha) g^2`, `param -= lr * g / (sqrt(v) + eps)`; `centered` takes the squared running mean of `g`
    off `v`; with `momentum` a buffer `b = momentum b + g / (sqrt(v) + eps)` moves the parameter.

    Raises:
        ValueError: a negative option.
        RuntimeError: a sparse gradient in `step`.

    Source: Tieleman, Hinton: Lecture 6e, Neural Networks for Machine Learning, 2012; Graves: arXiv 1308.0850.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0], requires_grad=True)
    >>> optimizer = tenfold.optim.RMSprop([x], lr=0.01)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.9
    """

    rule = "rmsprop"

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def init_state(self, param: Tensor, group: Group) -> State:
        state = {"step": 0, "square_avg": tenfold.zeros_like(param)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = tenfold.zeros_like(param)
        if group["centered"]:
            state["grad_avg"] = tenfold.zeros_like(param)
        return state

    def update_group(self, group: Group) -> None:
        lr, alpha, eps, weight_decay = plain_number(group["lr"]), group["alpha"], group["eps"], group["weight_decay"]
        momentum, centered, differentiable = group["momentum"], group["centered"], group["differentiable"]
        for param, grad, state in self.ready(group):
            grad_avg = state["grad_avg"] if centered else None
            buf = state["momentum_buffer"] if momentum > 0 else None
            square_avg = state["square_avg"]
            update(param, grad, square_avg, grad_avg, buf, lr, alpha, eps, weight_decay, momentum, differentiable)
