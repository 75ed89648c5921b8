"""Adafactor, which keeps the second moments of a matrix as one row and one column."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.options import Check, accept, given
from tenfold.optim.rule import RuleOptimizer, averages, counter


def second_moment(grad: Tensor, state: State, weight: float, eps1: float) -> Tensor:
    """The estimate of E[g^2] after this step: Shazeer and Stern 2018, algorithm 4 for matrices, 5 for vectors."""
    if grad.dim() < 2:
        variance: Tensor = state["variance"]
        return variance.lerp_(grad.mul(grad), weight).clone()
    squares = grad.mul(grad)
    row: Tensor = state["row_var"].lerp_(squares.mean(-1, keepdim=True), weight)  # (..., M, 1)
    col = state["col_var"].lerp_(squares.mean(-2, keepdim=True), weight)  # (..., 1, N)
    return row.mul(col).div(row.mean(-2, keepdim=True).clamp(min=eps1))


def _rms(tensor: Tensor) -> float:
    return float(tensor.norm().item()) / sqrt(tensor.numel())


def _check_eps(eps: tuple[float | None, float]) -> None:
    for i, value in enumerate(eps):
        if value is not None and not value >= 0.0:
            raise ValueError(f"epsilon{i + 1} should be >= 0 but is: {value}")


class Adafactor(RuleOptimizer):
    """Adaptive steps relative to each tensor's own scale, with sublinear memory.

    Args:
        lr: the largest relative step; it falls as `1 / sqrt(t)`.
        beta2_decay: the weight of the newest square is `t^beta2_decay`.
        eps: below what squares count as zero (the dtype's eps where None), and the least scale of a tensor.
        d: the largest root mean square of an update before `lr`.

    Raises:
        ValueError: an option out of range.
        RuntimeError: a sparse gradient in `step`; a complex parameter.

    Source: Shazeer, Stern: Adafactor, ICML 2018 (arXiv 1804.04235).
    """

    rule = "adafactor"
    checks: ClassVar[Mapping[str, Check]] = {
        "lr": accept(lambda lr: lr >= 0.0, "Learning rate should be >= 0 but is: {}"),
        "beta2_decay": accept(lambda decay: decay <= 0, "beta2_decay should be <= 0 but is: {}"),
        "eps": _check_eps,
        "d": accept(lambda d: d >= 1.0, "Clipping threshold d should be >= 1 but is: {}"),
        "weight_decay": accept(lambda decay: decay >= 0.0, "weight_decay should be >= 0 but is: {}"),
    }

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, given(locals()))

    def init_state(self, param: Tensor, group: Group) -> State:
        if param.dtype.is_complex:
            raise RuntimeError("Adafactor does not support complex parameters")
        if param.dim() < 2:
            return {"step": counter(), **averages(param, "variance")}
        row, col = param.select(-1, 0).unsqueeze(-1), param.select(-2, 0).unsqueeze(-2)
        return {"step": counter(), **averages(row, "row_var"), **averages(col, "col_var")}

    @staticmethod
    def update(param: Tensor, grad: Tensor, state: State, group: Any) -> None:
        """Shazeer and Stern 2018, algorithms 4 and 5, with the step size of section 8 limited by `lr`."""
        t = float(state["step"])
        eps1, eps2 = group.eps
        if eps1 is None:
            eps1 = tenfold.finfo(param.dtype).eps
        size = max(eps2, _rms(param)) * min(group.lr, 1 / sqrt(t))
        if group.weight_decay:
            param.mul_(1 - group.lr * group.weight_decay)
        variance = second_moment(grad, state, t**group.beta2_decay, eps1)
        change = variance.clamp_(min=eps1 * eps1).rsqrt().mul_(grad)
        param.add_(change, alpha=-size / max(1.0, _rms(change) / group.d))


__all__ = ["Adafactor"]
