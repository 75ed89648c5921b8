"""Adadelta."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold.optim.functional_form import FunctionalForm
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.options import given
from tenfold.optim.rule import RuleOptimizer, averages, counter, decayed


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
        super().__init__(params, given(locals(), last="maximize capturable foreach differentiable"))

    def init_state(self, param: Tensor, group: Group) -> State:
        return {"step": counter(), **averages(param, "square_avg", "acc_delta")}

    @staticmethod
    def update(param: Tensor, grad: Tensor, state: State, group: Any) -> None:
        """Zeiler 2012, algorithm 1."""
        grad = decayed(param, grad, group)
        square, moved, rho, eps = state["square_avg"], state["acc_delta"], group.rho, group.eps
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = moved.add(eps).sqrt().div(square.add(eps).sqrt()).mul(grad)
        moved.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.add_(delta, alpha=-group.lr)


adadelta = FunctionalForm(
    Adadelta,
    "params grads square_avgs acc_deltas state_steps",
    "capturable foreach differentiable has_complex",
    "lr rho eps weight_decay maximize",
)

__all__ = ["Adadelta", "adadelta"]
