"""Muon, which makes the momentum of a weight matrix orthogonal."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.options import Check, accept, given
from tenfold.optim.rule import RuleOptimizer, averages


def orthogonalized(matrix: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """The nearest semi-orthogonal matrix, roughly and in bfloat16, by `steps` of Newton-Schulz; Jordan et al. 2024."""
    a, b, c = coefficients
    x = matrix.bfloat16()
    tall = x.size(0) > x.size(1)
    if tall:
        x = x.T
    x = x / x.norm().clamp(min=eps)  # every singular value at most 1, else the polynomial diverges
    for _ in range(steps):
        gram = x @ x.T
        x = tenfold.addmm(x, tenfold.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


def shape_factor(param: Tensor, adjust: str | None) -> float:
    """What lr is multiplied by, so that one lr serves matrices of every shape."""
    rows, cols = param.size()
    if adjust == "match_rms_adamw":
        return 0.2 * sqrt(max(rows, cols))
    return sqrt(max(1, rows / cols))


class Muon(RuleOptimizer):
    """Momentum whose singular values are all set to about 1 before the step; for the matrices of hidden layers.

    Args:
        ns_coefficients, ns_steps: the polynomial of the Newton-Schulz iteration, and how often it is applied.
        adjust_lr_fn: "original" (also None) scales lr by `sqrt(max(1, rows / cols))`, "match_rms_adamw" by
            `0.2 sqrt(max(rows, cols))`.

    Raises:
        ValueError: a parameter that is not a matrix; an option out of range.
        RuntimeError: a sparse gradient in `step`.

    Source: Jordan et al.: Muon, 2024 (kellerjordan.github.io/posts/muon); Liu et al.: Muon is scalable for LLM training,
    arXiv 2502.16982.
    """

    rule = "muon"
    checks: ClassVar[Mapping[str, Check]] = {
        "lr": accept(lambda lr: lr >= 0.0, "Learning rate should be >= 0 but is: {}"),
        "momentum": accept(lambda momentum: momentum >= 0.0, "momentum should be >= 0 but is: {}"),
        "weight_decay": accept(lambda decay: decay >= 0.0, "weight decay should be >= 0 but is: {}"),
        "adjust_lr_fn": accept(
            lambda name: name in (None, "original", "match_rms_adamw"), "Adjust learning rate function {} is not supported"
        ),
    }
    scalars = ()

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        super().__init__(params, given(locals()))
        for group in self.param_groups:
            for param in group["params"]:
                if param.dim() != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {param.size()}")

    def init_state(self, param: Tensor, group: Group) -> State:
        if param.dtype.is_complex:
            raise RuntimeError("Muon does not support complex parameters")
        return averages(param, "momentum_buffer")

    @staticmethod
    def update(param: Tensor, grad: Tensor, state: State, group: Any) -> None:
        """Decay by lr, then move along the orthogonalized momentum by the lr that fits the shape; Jordan et al. 2024."""
        buf = state["momentum_buffer"].lerp_(grad, 1 - group.momentum)
        ahead = grad.lerp(buf, group.momentum) if group.nesterov else buf
        direction = orthogonalized(ahead, group.ns_coefficients, group.ns_steps, group.eps)
        param.mul_(1 - group.lr * group.weight_decay)
        param.add_(direction, alpha=-group.lr * shape_factor(param, group.adjust_lr_fn))


__all__ = ["Muon"]
