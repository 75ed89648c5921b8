"""Muon, which makes the momentum of a weight matrix orthogonal."""

from __future__ import annotations

from math import sqrt

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Group, Params, State
from tenfold.optim.rule import RuleOptimizer, plain_number


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


def update(
    param: Tensor,
    grad: Tensor,
    buf: Tensor,
    lr: float,
    weight_decay: float,
    momentum: float,
    nesterov: bool,
    coefficients: tuple[float, float, float],
    eps: float,
    steps: int,
    adjust: str | None,
) -> None:
    """Decay `param` by lr and move it along its orthogonalized momentum by the lr that fits its shape."""
    buf.lerp_(grad, 1 - momentum)
    direction = orthogonalized(grad.lerp(buf, momentum) if nesterov else buf, coefficients, steps, eps)
    param.mul_(1 - lr * weight_decay)
    param.add_(direction, alpha=-lr * shape_factor(param, adjust))


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
    _number_state = ()

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
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in {"Learning rate": lr, "momentum": momentum, "weight decay": weight_decay}.items():
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                if param.dim() != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {param.size()}")

    def init_state(self, param: Tensor, group: Group) -> State:
        return {"momentum_buffer": tenfold.zeros_like(param)}

    def update_group(self, group: Group) -> None:
        lr, weight_decay, momentum = plain_number(group["lr"]), group["weight_decay"], group["momentum"]
        nesterov, coefficients, eps = group["nesterov"], group["ns_coefficients"], group["eps"]
        steps, adjust = group["ns_steps"], group["adjust_lr_fn"]
        for param, grad, state in self.ready(group):
            buf = state["momentum_buffer"]
            update(param, grad, buf, lr, weight_decay, momentum, nesterov, coefficients, eps, steps, adjust)
