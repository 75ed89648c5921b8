"""Stochastic gradient descent with momentum."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
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
        grad = decayed(param, grad, group)
        if group.momentum:
            buf = state.get("momentum_buffer")
            buf = grad.clone() if buf is None else buf.mul_(group.momentum).add_(grad, alpha=1 - group.dampening)
            state["momentum_buffer"] = buf
            grad = grad.add(buf, alpha=group.momentum) if group.nesterov else buf
        param.add_(grad, alpha=-group.lr)
