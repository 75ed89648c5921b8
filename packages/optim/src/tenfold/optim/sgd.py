"""Stochastic gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from tenfold import Tensor
from tenfold.optim.blocks import BLOCK, Formula, in_blocks
from tenfold.optim.functional_form import FunctionalForm
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.options import given
from tenfold.optim.rule import RuleOptimizer, decayed


class SGD(RuleOptimizer):
    """Stochastic gradient descent: `buf = momentum * buf + (1 - dampening) * g`, `param -= lr * buf`.

    With `nesterov`, `param -= lr * (g + momentum * buf)`; `g` includes `weight_decay * param`. The first `buf` is `g`.
    Sparse gradients are accepted without momentum and weight decay.

    Raises:
        ValueError: a negative lr, momentum or weight_decay; nesterov without momentum or with dampening.

    Source: Sutskever, Martens, Dahl, Hinton: On the importance of initialization and momentum in deep learning, ICML 2013.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = tenfold.optim.SGD([x], lr=0.1, momentum=0.9)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> [round(value, 4) for value in x.tolist()]
    [0.8, 1.6]
    """

    rule = "sgd"
    accepts_sparse = True
    complex_as_real = False  # the rule is linear
    scalars = ()

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, given(locals()))

    def init_state(self, param: Tensor, group: Group) -> State:
        return {"momentum_buffer": None} if group["momentum"] else {}

    def keeps_state(self, group: Group) -> bool:
        return bool(group["momentum"])

    @staticmethod
    def update(param: Tensor, grad: Tensor, state: State, group: Any) -> None:
        """Sutskever et al. 2013, equations 1-2, with lr outside the buffer."""
        if not group.differentiable and _in_blocks(param, grad, state, group):
            return
        grad = decayed(param, grad, group)
        if group.momentum:
            buf = state.get("momentum_buffer")
            buf = grad.clone() if buf is None else buf.mul_(group.momentum).add_(grad, alpha=1 - group.dampening)
            state["momentum_buffer"] = buf
            grad = grad.add(buf, alpha=group.momentum) if group.nesterov else buf
        param.add_(grad, alpha=-group.lr)


def _in_blocks(param: Tensor, grad: Tensor, state: State, group: Any) -> bool:
    """The same rule by NumPy, where it can do that; operators make the first buffer, and are as fast where they are two."""
    targets = [param]
    if not group.momentum:
        if param.numel() <= BLOCK:
            return False
    else:
        buf = state.get("momentum_buffer")
        if buf is None:
            return False
        targets.append(buf)
    formula = _formula(bool(group.weight_decay), bool(group.momentum), bool(group.dampening), bool(group.nesterov))
    return in_blocks(formula, (group.weight_decay, group.momentum, 1 - group.dampening, -group.lr), targets, grad)


@cache
def _formula(decays: bool, momentum: bool, dampened: bool, nesterov: bool) -> Formula:
    """The rule over one block."""

    def sgd(numbers: Sequence[Any], s: Any, r: Any, p: Any, *others: Any) -> None:
        decay, keep, share, size = numbers
        g = others[-1]
        if decays:
            r = np.multiply(p, decay, r)
            g = np.add(g, r, r)
        if momentum:
            buf = others[0]
            np.multiply(buf, keep, buf)
            np.add(buf, np.multiply(g, share, s) if dampened else g, buf)
            g = np.add(g, np.multiply(buf, keep, s), r) if nesterov else buf
        np.add(p, np.multiply(g, size, s), p)

    return sgd


sgd = FunctionalForm(
    SGD,
    "params d_p_list momentum_buffer_list",
    "has_sparse_grad foreach fused grad_scale found_inf",
    "weight_decay momentum lr dampening nesterov maximize",
)

__all__ = ["SGD", "sgd"]
