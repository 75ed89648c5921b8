"""Losses of pairs of elements: the loss with its reduction one launch, the gradient another (loss_formulas.py)."""

from __future__ import annotations

from typing import Any

from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.summing import total
from tenfold.dispatch.operators import op


def _formula(kind: str, third: Any) -> str:
    return f"{'positive_' * (kind == 'logits' and third is not None)}{kind}_loss"


def _operands(input: Any, target: Any, weight: Any, third: Any) -> tuple[Any, ...]:
    return input, target, 1.0 if weight is None else weight, 1.0 if third is None else third


@kernel(op.fused_pointwise_loss, device="cuda", plays=True, recycles=True)
def fused_pointwise_loss(input: Any, target: Any, weight: Any, third: Any, kind: str, a: float, b: float, divisor: int) -> Any:
    operands = (*_operands(input, target, weight, third), float(a), float(b))
    if not divisor:
        return run(_formula(kind, third), *operands)
    return total(_formula(kind, third), float(divisor), *operands)


@kernel(op.fused_pointwise_loss_grad, device="cuda", plays=True)
def fused_pointwise_loss_grad(
    grad: Any, input: Any, target: Any, weight: Any, third: Any, kind: str, a: float, b: float, divisor: int
) -> Any:
    scale = 1.0 / divisor if divisor else 1.0
    return run(f"{_formula(kind, third)}_slope", *_operands(input, target, weight, third), grad, scale, float(a), float(b))
