"""Adam, and AdamW, which decays weights apart from the gradient."""

from __future__ import annotations

from math import sqrt
from typing import Any

import tenfold
from tenfold import Tensor
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
        mean, square = moments(decayed(param, grad, group), state, group)
        if group.amsgrad:
            largest = state["max_exp_avg_sq"]
            square = largest.copy_(tenfold.maximum(largest.clone() if group.differentiable else largest, square))
        unbias = sqrt(1 - beta2**t)
        param.addcdiv_(mean, root(square, group.eps * unbias, group), value=-group.lr * unbias / (1 - beta1**t))


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
