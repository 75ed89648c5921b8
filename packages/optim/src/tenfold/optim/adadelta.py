"""Adadelta."""

from __future__ import annotations

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.rule import RuleOptimizer, check_lr, check_not_negative, plain_number


def update(
    param: Tensor,
    grad: Tensor,
    square_avg: Tensor,
    acc_delta: Tensor,
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
) -> None:
    """Move `param` once: Zeiler 2012, algorithm 1."""
    if weight_decay:
        grad = grad.add(param, alpha=weight_decay)
    square_avg.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    delta = acc_delta.add(eps).sqrt().div(square_avg.add(eps).sqrt()).mul(grad)
    acc_delta.mul_(rho).addcmul_(delta, delta, value=1 - rho)
    param.add_(delta, alpha=-lr)


class Adadelta(RuleOptimizer):
    """Steps in the parameter's own units: `delta = g * sqrt(u + eps) / sqrt(v + eps)`, `param -= lr * delta`.

    `v = rho v + (1 - rho) g^2` and, after the step, `u = rho u + (1 - rho) delta^2`.

    Raises:
        ValueError: a negative lr, eps or weight_decay; rho outside [0, 1].
        RuntimeError: a sparse gradient in `step`.

    Source: Zeiler: ADADELTA, arXiv 1212.5701.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0], requires_grad=True)
    >>> optimizer = tenfold.optim.Adadelta([x])
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.9968
    """

    rule = "adadelta"

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative(eps=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def init_state(self, param: Tensor, group: Group) -> State:
        return {"step": 0, "square_avg": tenfold.zeros_like(param), "acc_delta": tenfold.zeros_like(param)}

    def update_group(self, group: Group) -> None:
        lr, rho, eps, weight_decay = plain_number(group["lr"]), group["rho"], group["eps"], group["weight_decay"]
        for param, grad, state in self.ready(group):
            update(param, grad, state["square_avg"], state["acc_delta"], lr, rho, eps, weight_decay)
