"""Losses of pairs of elements: the loss with its reduction one launch, the gradient another (loss_formulas.py)."""

from __future__ import annotations

from typing import Any

from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.handwritten import FLOATS
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


# Of targets that want a gradient, too: one factor, finite where a logarithm is not, and times what may be infinite.
def _of_one_dtype(*operands: Any) -> bool:
    return operands[0].dtype in FLOATS and all(x is None or x.dtype == operands[0].dtype for x in operands)


@kernel(op.binary_entropies, device="cuda", plays=True)
def binary_entropies(input: Any, target: Any) -> Any:
    return _losses("binary", input, target, None)


@kernel(op.logit_entropies, device="cuda", plays=True)
def logit_entropies(input: Any, target: Any, pos_weight: Any) -> Any:
    return _losses("logits", input, target, pos_weight)


@kernel(op.binary_entropies_grad, device="cuda", plays=True)
def binary_entropies_grad(grad: Any, input: Any, target: Any) -> Any:
    return _slopes("binary", grad, input, target, None)


@kernel(op.logit_entropies_grad, device="cuda", plays=True)
def logit_entropies_grad(grad: Any, input: Any, target: Any, pos_weight: Any) -> Any:
    return _slopes("logits", grad, input, target, pos_weight)


def _losses(kind: str, input: Any, target: Any, third: Any) -> Any:
    if not _of_one_dtype(input, target, third):
        return NotImplemented
    return run(_formula(kind, third), *_operands(input, target, None, third), 0.0, 0.0)


def _slopes(kind: str, grad: Any, input: Any, target: Any, third: Any) -> Any:
    if not _of_one_dtype(input, target, third, grad):
        return NotImplemented
    return run(f"{_formula(kind, third)}_slope", *_operands(input, target, None, third), grad, 1.0, 0.0, 0.0)
