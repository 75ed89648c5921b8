"""Averaged stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tenfold import Tensor
from tenfold.optim.functional_form import FunctionalForm
from tenfold.optim.optimizer import Group, Params, State, scalar_state
from tenfold.optim.options import Check, given
from tenfold.optim.rule import RuleOptimizer, averages, counter, decayed, plain


class ASGD(RuleOptimizer):
    """SGD with the step size `lr / (1 + lambd lr t)^alpha`, and in `state[param]["ax"]` the average of the iterates after `t0`.

    Raises:
        ValueError: a negative lr or weight_decay.
        RuntimeError: a sparse gradient in `step`.

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
    checks: ClassVar[Mapping[str, Check]] = {"alpha": lambda value: None}
    scalars = ("step", "eta", "mu")

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
        super().__init__(params, given(locals()))

    def init_state(self, param: Tensor, group: Group) -> State:
        scalars = {"eta": scalar_state(plain(group["lr"])), "mu": scalar_state(1.0)}
        return {"step": counter(), **scalars, **averages(param, "ax")}

    @staticmethod
    def update(param: Tensor, grad: Tensor, state: State, group: Any) -> None:
        """Bottou 2010, section 5.1: step size `eta`, and an average `ax` that takes new iterates in with weight `mu`."""
        t, eta, mu, average = float(state["step"]), float(state["eta"]), float(state["mu"]), state["ax"]
        grad = decayed(param, grad, group)
        param.mul_(1 - group.lambd * eta).add_(grad, alpha=-eta)
        if mu == 1:
            average.copy_(param)
        else:
            average.add_(param.sub(average), alpha=mu)
        state["eta"].fill_(group.lr / (1 + group.lambd * group.lr * t) ** group.alpha)
        state["mu"].fill_(1 / max(1, t - group.t0))


asgd = FunctionalForm(
    ASGD,
    "params grads axs mus etas state_steps",
    "foreach maximize differentiable capturable has_complex",
    "lambd lr t0 alpha weight_decay",
)

__all__ = ["ASGD", "asgd"]
