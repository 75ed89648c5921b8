"""Resilient backpropagation."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.optim.functional_form import FunctionalForm
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.options import given
from tenfold.optim.rule import RuleOptimizer, averages, counter, plain


class Rprop(RuleOptimizer):
    """Each weight has its own step size: times `etas[1]` while its gradient keeps the sign, times `etas[0]` when it turns.

    Args:
        lr: the first step size.
        step_sizes: the smallest and the largest step size.

    Raises:
        ValueError: a negative lr; etas not 0 < etas[0] < 1 < etas[1].
        RuntimeError: a sparse gradient in `step`.

    Source: Riedmiller, Braun: A direct adaptive method for faster backpropagation learning, 1993; Igel, Huesken: Improving
    the Rprop learning algorithm, 2000.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0], requires_grad=True)
    >>> optimizer = tenfold.optim.Rprop([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.9
    """

    rule = "rprop"

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, given(locals(), last="capturable"))

    def init_state(self, param: Tensor, group: Group) -> State:
        lr = plain(group["lr"])
        fill = complex(lr, lr) if param.dtype.is_complex else lr
        return {"step": counter(), **averages(param, "prev"), "step_size": tenfold.full_like(param, fill)}

    @staticmethod
    def update(param: Tensor, grad: Tensor, state: State, group: Any) -> None:
        """Igel and Huesken 2000, iRprop-, where a weight rests after its gradient changed sign."""
        prev, size, (shrink, grow) = state["prev"], state["step_size"], group.etas
        agreement = grad.mul(prev)
        turned = agreement.lt(0)
        factor = tenfold.ones_like(grad).masked_fill_(agreement.gt(0), grow).masked_fill_(turned, shrink)
        size.mul_(factor).clamp_(*group.step_sizes)
        grad = grad.masked_fill(turned, 0)
        param.addcmul_(grad.sign(), size, value=-1)
        prev.copy_(grad)


rprop = FunctionalForm(
    Rprop,
    "params grads prevs step_sizes state_steps",
    "foreach capturable maximize differentiable has_complex",
    "step_size_min step_size_max etaminus etaplus",
)

__all__ = ["Rprop", "rprop"]
