"""Adamax, Adam with the infinity norm."""

from __future__ import annotations

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.rule import RuleOptimizer, check_betas, check_lr, check_not_negative, plain_number


def update(
    param: Tensor,
    grad: Tensor,
    exp_avg: Tensor,
    exp_inf: Tensor,
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
) -> None:
    """Move `param` once: Kingma and Ba 2015, algorithm 2, with eps inside the maximum."""
    if weight_decay:
        grad = grad.add(param, alpha=weight_decay)
    exp_avg.lerp_(grad, 1 - beta1)
    exp_inf.copy_(tenfold.maximum(exp_inf.mul(beta2), grad.abs().add(eps)))
    param.addcdiv_(exp_avg, exp_inf, value=-lr / (1 - beta1**step))


class Adamax(RuleOptimizer):
    """`m = beta1 m + (1 - beta1) g`, `u = max(beta2 u, |g| + eps)`, `param -= lr / (1 - beta1^t) * m / u`.

    Raises:
        ValueError: a negative lr, eps or weight_decay; a beta outside [0, 1).
        RuntimeError: a sparse gradient in `step`.

    Source: Kingma, Ba: Adam, ICLR 2015 (arXiv 1412.6980), section 7.1.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0], requires_grad=True)
    >>> optimizer = tenfold.optim.Adamax([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.9
    """

    rule = "adamax"

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def init_state(self, param: Tensor, group: Group) -> State:
        return {"step": 0, "exp_avg": tenfold.zeros_like(param), "exp_inf": tenfold.zeros_like(param)}

    def update_group(self, group: Group) -> None:
        lr, eps, weight_decay = plain_number(group["lr"]), group["eps"], group["weight_decay"]
        beta1, beta2 = group["betas"]
        for param, grad, state in self.ready(group):
            exp_avg, exp_inf, step = state["exp_avg"], state["exp_inf"], state["step"]
            update(param, grad, exp_avg, exp_inf, step, lr, beta1, beta2, eps, weight_decay)
