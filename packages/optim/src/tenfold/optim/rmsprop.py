"""RMSprop, plain or centered, with or without momentum."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold.optim.functional_form import FunctionalForm
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.options import given
from tenfold.optim.rule import RuleOptimizer, averages, counter, decayed, root


class RMSprop(RuleOptimizer):
    """Gradients divided by a running root mean square.

    `v = alpha v + (1 - alpha) g^2`, `param -= lr * g / (sqrt(v) + eps)`; `centered` takes the squared running mean of `g`
    off `v`; with `momentum` a buffer `b = momentum b + g / (sqrt(v) + eps)` moves the parameter.

    Raises:
        ValueError: a negative option.
        RuntimeError: a sparse gradient in `step`.

    Source: Tieleman, Hinton: Lecture 6e, Neural Networks for Machine Learning, 2012; Graves: arXiv 1308.0850.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0], requires_grad=True)
    >>> optimizer = tenfold.optim.RMSprop([x], lr=0.01)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.9
    """

    rule = "rmsprop"

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(
            params, given(locals(), last="momentum alpha eps centered weight_decay capturable foreach maximize differentiable")
        )

    def init_state(self, param: Tensor, group: Group) -> State:
        further = ["momentum_buffer"] * (group["momentum"] > 0) + ["grad_avg"] * group["centered"]
        return {"step": counter(), **averages(param, "square_avg", *further)}

    @staticmethod
    def update(param: Tensor, grad: Tensor, state: State, group: Any) -> None:
        """Tieleman and Hinton 2012, lecture 6e; centered Graves 2013, equations 38-41."""
        grad = decayed(param, grad, group)
        variance = state["square_avg"].mul_(group.alpha).addcmul_(grad, grad, value=1 - group.alpha)
        if group.centered:
            mean = state["grad_avg"].lerp_(grad, 1 - group.alpha)
            variance = variance.addcmul(mean, mean, value=-1)
        denom = root(variance, group.eps, group)
        if group.momentum > 0:
            param.add_(state["momentum_buffer"].mul_(group.momentum).addcdiv_(grad, denom), alpha=-group.lr)
        else:
            param.addcdiv_(grad, denom, value=-group.lr)


rmsprop = FunctionalForm(
    RMSprop,
    "params grads square_avgs grad_avgs momentum_buffer_list state_steps",
    "foreach maximize differentiable capturable has_complex",
    "lr alpha eps weight_decay momentum centered",
)

__all__ = ["RMSprop", "rmsprop"]
