"""Adamax, Adam with the infinity norm."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.optim.functional_form import FunctionalForm
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.options import given
from tenfold.optim.rule import RuleOptimizer, averages, counter, decayed


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
        super().__init__(params, given(locals()))

    def init_state(self, param: Tensor, group: Group) -> State:
        return {"step": counter(), **averages(param, "exp_avg", "exp_inf")}

    @staticmethod
    def update(param: Tensor, grad: Tensor, state: State, group: Any) -> None:
        """Kingma and Ba 2015, algorithm 2, with eps inside the maximum."""
        t, (beta1, beta2), largest = float(state["step"]), group.betas, state["exp_inf"]
        grad = decayed(param, grad, group)
        mean = state["exp_avg"].lerp_(grad, 1 - beta1)
        largest.copy_(tenfold.maximum(largest.mul(beta2), grad.abs().add(group.eps)))
        param.addcdiv_(mean, largest, value=-group.lr / (1 - beta1**t))


adamax = FunctionalForm(
    Adamax,
    "params grads exp_avgs exp_infs state_steps",
    "foreach maximize differentiable capturable has_complex",
    "eps beta1 beta2 lr weight_decay",
)

__all__ = ["Adamax", "adamax"]
