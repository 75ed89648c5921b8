"""NAdam, Adam with Nesterov momentum."""

from __future__ import annotations

from math import sqrt

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.rule import RuleOptimizer, check_betas, check_lr, check_not_negative, plain_number


def update(
    param: Tensor,
    grad: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    mu_product: float,
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    momentum_decay: float,
    decoupled: bool,
    differentiable: bool,
) -> float:
    """Move `param` once and return the product of the momenta so far: Dozat 2016, algorithm 2 with its section 2.2 schedule."""
    if weight_decay:
        if decoupled:
            param.mul_(1 - lr * weight_decay)
        else:
            grad = grad.add(param, alpha=weight_decay)
    mu = beta1 * (1 - 0.5 * 0.96 ** (step * momentum_decay))
    mu_next = beta1 * (1 - 0.5 * 0.96 ** ((step + 1) * momentum_decay))
    mu_product *= mu
    exp_avg.lerp_(grad, 1 - beta1)
    exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    root = sqrt(1 - beta2**step)
    denom = exp_avg_sq.sqrt()
    denom = denom.add(eps * root) if differentiable else denom.add_(eps * root)
    param.addcdiv_(grad, denom, value=-lr * root * (1 - mu) / (1 - mu_product))
    param.addcdiv_(exp_avg, denom, value=-lr * root * mu_next / (1 - mu_product * mu_next))
    return mu_product


class NAdam(RuleOptimizer):
    """Adam whose step looks ahead along its momentum `mu_t = beta1 (1 - 0.5 * 0.96^(t * momentum_decay))`.

    `param -= lr * (mu_{t+1} m / (1 - prod mu_{1..t+1}) + (1 - mu_t) g / (1 - prod mu_{1..t})) / (sqrt(v_hat) + eps)`.

    Raises:
        ValueError: a negative lr, eps, weight_decay or momentum_decay; a beta outside [0, 1).
        RuntimeError: a sparse gradient in `step`.

    Differs from PyTorch: `state[param]["step"]` and `["mu_product"]` are Python numbers, and tensors in `state_dict()`.
    Source: Dozat: Incorporating Nesterov momentum into Adam, ICLR workshop 2016.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0], requires_grad=True)
    >>> optimizer = tenfold.optim.NAdam([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.8944
    """

    rule = "nadam"
    _number_state = ("step", "mu_product")

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        check_not_negative(weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def init_state(self, param: Tensor, group: Group) -> State:
        averages = {name: tenfold.zeros_like(param) for name in ("exp_avg", "exp_avg_sq")}
        return {"step": 0, "mu_product": 1.0, **averages}

    def update_group(self, group: Group) -> None:
        lr, eps, weight_decay = plain_number(group["lr"]), group["eps"], group["weight_decay"]
        (beta1, beta2), momentum_decay = group["betas"], group["momentum_decay"]
        decoupled, differentiable = group["decoupled_weight_decay"], group["differentiable"]
        for param, grad, state in self.ready(group):
            state["mu_product"] = update(
                param,
                grad,
                state["exp_avg"],
                state["exp_avg_sq"],
                state["mu_product"],
                state["step"],
                lr,
                beta1,
                beta2,
                eps,
                weight_decay,
                momentum_decay,
                decoupled,
                differentiable,
            )
