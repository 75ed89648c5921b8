"""Adam, and AdamW, which decays weights apart from the gradient."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import sqrt
from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.optim.blocks import Formula, in_blocks
from tenfold.optim.functional_form import FunctionalForm
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.options import given
from tenfold.optim.rule import RuleOptimizer, averages, counter, decayed, moments, root


class Adam(RuleOptimizer):
    """Steps scaled by running averages of the gradient and of its square.

    `m = beta1 m + (1 - beta1) g`, `v = beta2 v + (1 - beta2) g^2`, `param -= lr * (m / (1 - beta1^t)) / (sqrt(v / (1 -
    beta2^t)) + eps)`; with `amsgrad`, `v` is its running maximum. `weight_decay * param` is added to `g`, or with
    `decoupled_weight_decay` taken off the parameter, times lr.

    Raises:
        ValueError: a negative lr, eps or weight_decay; a beta outside [0, 1).
        RuntimeError: `fused` with `foreach` or `differentiable`; a sparse gradient in `step`.

    Source: Kingma, Ba: Adam, ICLR 2015 (arXiv 1412.6980); Reddi, Kale, Kumar: On the convergence of Adam, ICLR 2018.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = tenfold.optim.Adam([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> [round(value, 4) for value in x.tolist()]
    [0.9, -1.9]
    """

    rule = "adam"
    sparse_hint = ", please consider SparseAdam instead"

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(params, given(locals(), last="foreach capturable differentiable fused decoupled_weight_decay"))

    def init_state(self, param: Tensor, group: Group) -> State:
        largest = averages(param, "max_exp_avg_sq") if group["amsgrad"] else {}
        return {"step": counter(), **averages(param, "exp_avg", "exp_avg_sq"), **largest}

    @staticmethod
    def update(param: Tensor, grad: Tensor, state: State, group: Any) -> None:
        """Kingma and Ba 2015, section 2's efficient order; with `amsgrad` Reddi et al. 2018, algorithm 2."""
        t, (beta1, beta2) = float(state["step"]), group.betas
        unbias = sqrt(1 - beta2**t)
        eps, size = group.eps * unbias, -group.lr * unbias / (1 - beta1**t)
        if not group.differentiable and _in_blocks(param, grad, state, group, eps, size):
            return
        mean, square = moments(decayed(param, grad, group), state, group)
        if group.amsgrad:
            largest = state["max_exp_avg_sq"]
            square = largest.copy_(tenfold.maximum(largest.clone() if group.differentiable else largest, square))
        param.addcdiv_(mean, root(square, eps, group), value=size)


def _in_blocks(param: Tensor, grad: Tensor, state: State, group: Any, eps: float, size: float) -> bool:
    """The same rule by NumPy, where it can do that."""
    beta1, beta2 = group.betas
    decoupled = group.decoupled_weight_decay
    decay = 1 - group.lr * group.weight_decay if decoupled else group.weight_decay
    weight = 1 - beta1
    swift = weight >= 0.5
    formula = _formula(bool(group.weight_decay), bool(decoupled), swift, bool(group.amsgrad))
    targets = [param, state["exp_avg"], state["exp_avg_sq"]]
    if group.amsgrad:
        targets.append(state["max_exp_avg_sq"])
    numbers = (decay, 1 - weight if swift else weight, beta2, 1 - beta2, eps, size)
    return in_blocks(formula, numbers, targets, grad)


@cache
def _formula(decays: bool, decoupled: bool, swift: bool, amsgrad: bool) -> Formula:
    """The rule over one block; `swift`: the newer gradient counts for more than the average, which is then found from it."""

    def adam(numbers: Sequence[Any], s: Any, r: Any, p: Any, m: Any, v: Any, *others: Any) -> None:
        decay, weight, beta2, new_square, eps, size = numbers
        g = others[-1]
        if decays and decoupled:
            np.multiply(p, decay, p)
        elif decays:
            r = np.multiply(p, decay, r)
            g = np.add(g, r, r)
        s = np.subtract(g, m, s)
        np.multiply(s, weight, s)
        np.subtract(g, s, m) if swift else np.add(m, s, m)
        np.multiply(v, beta2, v)
        np.multiply(g, g, s)
        np.multiply(s, new_square, s)
        np.add(v, s, v)
        if amsgrad:
            v = np.maximum(others[0], v, out=others[0])
        np.sqrt(v, s)
        np.add(s, eps, s)
        np.divide(m, s, s)
        np.multiply(s, size, s)
        np.add(p, s, p)

    return adam


class AdamW(Adam):
    """Adam with `param -= lr * weight_decay * param` in place of a penalty in the gradient.

    Raises:
        ValueError, RuntimeError: see `Adam`.

    Source: Loshchilov, Hutter: Decoupled weight decay regularization, ICLR 2019 (arXiv 1711.05101).

    >>> import tenfold
    >>> x = tenfold.tensor([1.0], requires_grad=True)
    >>> optimizer = tenfold.optim.AdamW([x], lr=0.1, weight_decay=0.5)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.85
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, **given(locals()), decoupled_weight_decay=True)


adam = FunctionalForm(
    Adam,
    "params grads exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps",
    "foreach capturable differentiable fused grad_scale found_inf has_complex decoupled_weight_decay",
    "amsgrad beta1 beta2 lr weight_decay eps maximize",
)

__all__ = ["Adam", "adam"]
