"""RAdam, Adam that waits until its second moment can be trusted."""

from __future__ import annotations

from math import sqrt
from typing import Any

from tenfold import Tensor
from tenfold.optim.functional_form import FunctionalForm
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.options import given
from tenfold.optim.rule import RuleOptimizer, averages, counter, decayed, moments, root


def rectification(step: float, beta2: float) -> float | None:
    """The factor r_t of Liu et al. 2020, algorithm 2; None while the variance is intractable (rho_t <= 5)."""
    longest = 2 / (1 - beta2) - 1
    rho = longest - 2 * step * beta2**step / (1 - beta2**step)
    if rho <= 5:
        return None
    return sqrt((rho - 4) * (rho - 2) * longest / ((longest - 4) * (longest - 2) * rho))


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
        super().__init__(params, given(locals(), last="foreach capturable decoupled_weight_decay differentiable"))

    def init_state(self, param: Tensor, group: Group) -> State:
        return {"step": counter(), **averages(param, "exp_avg", "exp_avg_sq")}

    @staticmethod
    def update(param: Tensor, grad: Tensor, state: State, group: Any) -> None:
        """Liu et al. 2020, algorithm 2."""
        t, (beta1, beta2) = float(state["step"]), group.betas
        mean, square = moments(decayed(param, grad, group), state, group)
        step = mean.div(1 - beta1**t).mul(group.lr)
        rectified = rectification(t, beta2)
        if rectified is not None:
            step = step * (root(square, group.eps, group).reciprocal() * sqrt(1 - beta2**t)) * rectified
        param.sub_(step)


radam = FunctionalForm(
    RAdam,
    "params grads exp_avgs exp_avg_sqs state_steps",
    "decoupled_weight_decay foreach differentiable capturable has_complex maximize",
    "beta1 beta2 lr weight_decay eps",
)

__all__ = ["RAdam", "radam"]
