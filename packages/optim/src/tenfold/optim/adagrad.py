"""Adagrad, for dense and sparse gradients."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.rule import RuleOptimizer, check_fused, check_lr, check_not_negative, plain_number


def update(
    param: Tensor,
    grad: Tensor,
    total: Tensor,
    step: int,
    lr: float,
    lr_decay: float,
    eps: float,
    weight_decay: float,
    differentiable: bool,
) -> None:
    """Move `param` once: Duchi et al. 2011, figure 1 with a diagonal matrix."""
    if weight_decay:
        grad = grad.add(param, alpha=weight_decay)
    total.addcmul_(grad, grad, value=1)
    denom = total.sqrt()
    denom = denom.add(eps) if differentiable else denom.add_(eps)
    param.addcdiv_(grad, denom, value=-lr / (1 + (step - 1) * lr_decay))


def sparse_update(param: Tensor, grad: Any, total: Tensor, step: int, lr: float, lr_decay: float, eps: float) -> None:
    """The same rule where a sparse gradient has values; everything else stays as it is."""
    grad = grad.coalesce()
    at, values = tuple(grad.indices()), grad.values()
    sums = total[at] + values * values
    total[at] = sums
    param[at] -= lr / (1 + (step - 1) * lr_decay) * values / (sums.sqrt() + eps)


class Adagrad(RuleOptimizer):
    """Gradients divided by the root of the sum of all their squares.

    `s += g^2`, `param -= lr / (1 + (t - 1) lr_decay) * g / (sqrt(s) + eps)`.

    Raises:
        ValueError: a negative option.
        RuntimeError: `weight_decay` with a sparse gradient; `fused` with `foreach` or `differentiable`.

    Source: Duchi, Hazan, Singer: Adaptive subgradient methods, JMLR 12, 2011.

    >>> import tenfold
    >>> x = tenfold.tensor([1.0], requires_grad=True)
    >>> optimizer = tenfold.optim.Adagrad([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    0.9
    """

    rule = "adagrad"
    accepts_sparse = True

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative(lr_decay=lr_decay, weight_decay=weight_decay)
        check_not_negative(initial_accumulator_value=initial_accumulator_value, eps=eps)
        check_fused(fused, foreach, differentiable)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        with tenfold.no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    self._state_of(param, group)

    def share_memory(self) -> None:
        """Move the sums to shared memory, so that several processes can train the same parameters."""
        for state in self.state.values():
            state["sum"].share_memory_()

    def init_state(self, param: Tensor, group: Group) -> State:
        value = group["initial_accumulator_value"]
        fill = complex(value, value) if param.dtype.is_complex else value
        return {"step": 0, "sum": tenfold.full_like(param, fill)}

    def update_group(self, group: Group) -> None:
        lr, lr_decay, eps = plain_number(group["lr"]), group["lr_decay"], group["eps"]
        weight_decay, differentiable = group["weight_decay"], group["differentiable"]
        for param, grad, state in self.ready(group):
            if not grad.is_sparse:
                update(param, grad, state["sum"], state["step"], lr, lr_decay, eps, weight_decay, differentiable)
                continue
            if weight_decay:
                raise RuntimeError("Adagrad: weight_decay option is not compatible with sparse gradients; pass weight_decay=0")
            sparse_update(param, grad, state["sum"], state["step"], lr, lr_decay, eps)
