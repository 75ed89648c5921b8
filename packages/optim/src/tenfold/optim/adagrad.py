"""Adagrad, for dense and sparse gradients."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.optim.functional_form import FunctionalForm
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.options import given
from tenfold.optim.rule import RuleOptimizer, counter, decayed, root


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
        super().__init__(
            params, given(locals(), last="weight_decay initial_accumulator_value foreach maximize differentiable fused")
        )
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
        return {"step": counter(), "sum": tenfold.full_like(param, fill)}

    @staticmethod
    def update(param: Tensor, grad: Tensor, state: State, group: Any) -> None:
        """Duchi et al. 2011, figure 1 with a diagonal matrix."""
        rate = group.lr / (1 + (float(state["step"]) - 1) * group.lr_decay)
        total = state["sum"]
        if grad.is_sparse:
            _sparse_update(param, grad, total, rate, group)
            return
        grad = decayed(param, grad, group)
        total.addcmul_(grad, grad, value=1)
        param.addcdiv_(grad, root(total, group.eps, group), value=-rate)


def _sparse_update(param: Tensor, grad: Any, total: Tensor, rate: float, group: Any) -> None:
    """The same rule where a sparse gradient has values; everything else stays as it is."""
    if group.weight_decay:
        raise RuntimeError("Adagrad: weight_decay option is not compatible with sparse gradients; pass weight_decay=0")
    grad = grad.coalesce()
    at, values = tuple(grad.indices()), grad.values()
    sums = total[at] + values * values
    total[at] = sums
    param[at] -= rate * values / (sums.sqrt() + group.eps)


adagrad = FunctionalForm(
    Adagrad,
    "params grads state_sums state_steps",
    "fused grad_scale found_inf has_sparse_grad foreach differentiable has_complex",
    "lr weight_decay lr_decay eps maximize",
)

__all__ = ["Adagrad", "adagrad"]
