"""Stochastic gradient descent with momentum."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.rule import RuleOptimizer, check_fused, check_lr, check_not_negative, plain_number


def update(
    param: Tensor,
    grad: Tensor,
    buf: Tensor | None,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
) -> Tensor | None:
    """Move `param` once and return its momentum buffer; Sutskever et al. 2013, equations 1-2, with lr outside the buffer."""
    if weight_decay:
        grad = grad.add(param, alpha=weight_decay)
    if momentum:
        buf = grad.clone() if buf is None else buf.mul_(momentum).add_(grad, alpha=1 - dampening)
        grad = grad.add(buf, alpha=momentum) if nesterov else buf
    param.add_(grad, alpha=-lr)
    return buf


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
    _number_state = ()

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
        check_lr(lr)
        check_not_negative(momentum=momentum)
        if not weight_decay >= 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_fused(fused, foreach, differentiable)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def init_state(self, param: Tensor, group: Group) -> State:
        return {"momentum_buffer": None} if group["momentum"] else {}

    def update_group(self, group: Group) -> None:
        lr, weight_decay = plain_number(group["lr"]), plain_number(group["weight_decay"])
        momentum, dampening, nesterov = group["momentum"], group["dampening"], group["nesterov"]
        maximize = group["maximize"]
        for param in group["params"]:
            grad: Any = param.grad
            if grad is None:
                continue
            if maximize:
                grad = -grad
            if momentum:
                state = self.state[param]
                buf = state.get("momentum_buffer")
                state["momentum_buffer"] = update(param, grad, buf, lr, momentum, dampening, weight_decay, nesterov)
            else:
                update(param, grad, None, lr, 0.0, 0.0, weight_decay, False)
