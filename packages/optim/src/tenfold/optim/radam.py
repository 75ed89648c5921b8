"""RAdam, Adam that waits until its second moment can be trusted."""

from __future__ import annotations

from math import sqrt

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.rule import RuleOptimizer, check_betas, check_lr, check_not_negative, plain_number


def rectification(step: int, beta2: float) -> float | None:
    """The factor r_t of Liu et al. 2020, algorithm 2; None while the variance is intractable (rho_t <= 5)."""
    longest = 2 / (1 - beta2) - 1
    rho = longest - 2 * step * beta2**step / (1 - beta2**step)
    if rho <= 5:
        return None
    return sqrt((rho - 4) * (rho - 2) * longest / ((longest - 4) * (longest - 2) * rho))


def update(
    param: Tensor,
    grad: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    differentiable: bool,
) -> None:
    """Move `param` once: Liu et al. 2020, algorithm 2."""
    if weight_decay:
        if decoupled:
            param.mul_(1 - lr * weight_decay)
        else:
            grad = grad.add(param, alpha=weight_decay)
    exp_avg.lerp_(grad, 1 - beta1)
    exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    size = lr / (1 - beta1**step)
    rectified = rectification(step, beta2)
    if rectified is None:
        param.add_(exp_avg, alpha=-size)
        return
    denom = exp_avg_sq.sqrt()
    denom = denom.add(eps) if differentiable else denom.add_(eps)
    param.addcdiv_(exp_avg, denom, value=-size * rectified * sqrt(1 - beta2**step))


class RAdam(RuleOptimizer):
    """Adam with its step rectified by r_t, and plain momentum while r_t is undefined (the first steps).

    Raises:
        ValueError: a negative lr, eps or weight_decay; a beta outside [0, 1).
        RuntimeError: a sparse gradient in `step`.

    Source: Liu et al.: On the variance of the adaptive learning rate and beyond, ICLR 2020 (arXiv 1908.03265).

    >>> import tenfold
    >>> x = tenfold.tensor([1.0], requires_grad=True)
    >>> optimizer = tenfold.optim.RAdam([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.8
    """

    rule = "radam"

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def init_state(self, param: Tensor, group: Group) -> State:
        return {"step": 0, "exp_avg": tenfold.zeros_like(param), "exp_avg_sq": tenfold.zeros_like(param)}

    def update_group(self, group: Group) -> None:
        lr, eps, weight_decay = plain_number(group["lr"]), group["eps"], group["weight_decay"]
        (beta1, beta2), decoupled = group["betas"], group["decoupled_weight_decay"]
        differentiable = group["differentiable"]
        for param, grad, state in self.ready(group):
            update(
                param,
                grad,
                state["exp_avg"],
                state["exp_avg_sq"],
                state["step"],
                lr,
                beta1,
                beta2,
                eps,
                weight_decay,
                decoupled,
                differentiable,
            )
