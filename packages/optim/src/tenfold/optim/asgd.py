"""Averaged stochastic gradient descent."""

from __future__ import annotations

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.rule import RuleOptimizer, check_lr, check_not_negative, plain_number


def update(
    param: Tensor,
    grad: Tensor,
    ax: Tensor,
    eta: float,
    mu: float,
    lambd: float,
    weight_decay: float,
) -> None:
    """Move `param` with step size `eta` and its average `ax` with weight `mu`: Bottou 2010, section 5.1."""
    if weight_decay:
        grad = grad.add(param, alpha=weight_decay)
    param.mul_(1 - lambd * eta).add_(grad, alpha=-eta)
    if mu == 1:
        ax.copy_(param)
    else:
        ax.add_(param.sub(ax), alpha=mu)


class ASGD(RuleOptimizer):
    """SGD with the step size `lr / (1 + lambd lr t)^alpha`, and in `state[param]["ax"]` the average of the iterates after `t0`.

    Raises:
        ValueError: a negative lr or weight_decay.
        RuntimeError: a sparse gradient in `step`.

    Differs from PyTorch: `state[param]["step"]`, `["eta"]` and `["mu"]` are Python numbers, and tensors in `state_dict()`.
    Source: Polyak, Juditsky: Acceleration of stochastic approximation by averaging, 1992.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0], requires_grad=True)
    >>> optimizer = tenfold.optim.ASGD([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.8
    """

    rule = "asgd"
    _number_state = ("step", "eta", "mu")

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def init_state(self, param: Tensor, group: Group) -> State:
        return {"step": 0, "eta": plain_number(group["lr"]), "mu": 1.0, "ax": tenfold.zeros_like(param)}

    def update_group(self, group: Group) -> None:
        lr, lambd, alpha, t0 = plain_number(group["lr"]), group["lambd"], group["alpha"], group["t0"]
        weight_decay = group["weight_decay"]
        for param, grad, state in self.ready(group):
            update(param, grad, state["ax"], state["eta"], state["mu"], lambd, weight_decay)
            step = state["step"]
            state["eta"] = lr / (1 + lambd * lr * step) ** alpha
            state["mu"] = 1 / max(1, step - t0)
