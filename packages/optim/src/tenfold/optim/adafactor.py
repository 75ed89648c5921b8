"""Adafactor, which keeps the second moments of a matrix as one row and one column."""

from __future__ import annotations

from math import sqrt

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.rule import RuleOptimizer, plain_number


def second_moment(grad: Tensor, state: State, weight: float, eps1: float) -> Tensor:
    """The estimate of E[g^2] after this step: Shazeer and Stern 2018, algorithm 4 for matrices, 5 for vectors."""
    if grad.dim() < 2:
        variance: Tensor = state["variance"]
        return variance.lerp_(grad.mul(grad), weight).clone()
    squares = grad.mul(grad)
    row: Tensor = state["row_var"].lerp_(squares.mean(-1, keepdim=True), weight)  # (..., M, 1)
    col = state["col_var"].lerp_(squares.mean(-2, keepdim=True), weight)  # (..., 1, N)
    return row.mul(col).div(row.mean(-2, keepdim=True).clamp(min=eps1))


def update(
    param: Tensor,
    grad: Tensor,
    state: State,
    lr: float,
    beta2_decay: float,
    eps1: float,
    eps2: float,
    d: float,
    weight_decay: float,
) -> None:
    """Move `param` once: Shazeer and Stern 2018, algorithms 4 and 5, with the step size of section 8 limited by `lr`."""
    step = state["step"]
    size = max(eps2, _rms(param)) * min(lr, 1 / sqrt(step))
    if weight_decay:
        param.mul_(1 - lr * weight_decay)
    variance = second_moment(grad, state, step**beta2_decay, eps1)
    change = variance.clamp_(min=eps1 * eps1).rsqrt().mul_(grad)
    param.add_(change, alpha=-size / max(1.0, _rms(change) / d))


def _rms(tensor: Tensor) -> float:
    return float(tensor.norm().item()) / sqrt(tensor.numel())


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
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def init_state(self, param: Tensor, group: Group) -> State:
        if param.dtype.is_complex:
            raise RuntimeError("Adafactor does not support complex parameters")
        if param.dim() < 2:
            return {"step": 0, "variance": tenfold.zeros_like(param)}
        rows, cols = param.select(-1, 0).unsqueeze(-1), param.select(-2, 0).unsqueeze(-2)
        return {"step": 0, "row_var": tenfold.zeros_like(rows), "col_var": tenfold.zeros_like(cols)}

    def update_group(self, group: Group) -> None:
        lr, beta2_decay, d, weight_decay = (
            plain_number(group["lr"]),
            group["beta2_decay"],
            group["d"],
            group["weight_decay"],
        )
        eps1, eps2 = group["eps"]
        for param, grad, state in self.ready(group):
            smallest = tenfold.finfo(param.dtype).eps if eps1 is None else eps1
            update(param, grad, state, lr, beta2_decay, smallest, eps2, d, weight_decay)
