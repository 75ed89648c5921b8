"""Binary cross entropies of probabilities and of logits, and their gradients, each in one pass: operators of tenfold-nn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm import maths
from tenfold.llvm.elementwise import Operator, not_served
from tenfold.llvm.expressions import Expr
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.kernels.units import logsigmoid

Array = np.ndarray[Any, Any]

LEAST_VARIANCE = 1e-12  # as in tenfold-nn


def _binary(x: Expr, t: Expr) -> Expr:
    """Logarithms cut at -100; what is no number stays none."""
    return (t - 1.0) * maths.at_least(maths.log1p(-x), -100.0) - t * maths.at_least(maths.log(x), -100.0)


def _binary_slope(g: Expr, x: Expr, t: Expr) -> Expr:
    return g * (x - t) / maths.at_least((1.0 - x) * x, LEAST_VARIANCE)


def _logits(x: Expr, t: Expr) -> Expr:
    return (1.0 - t) * x - logsigmoid(x)


def _weighted_logits(x: Expr, t: Expr, positive: Expr) -> Expr:
    return (1.0 - t) * x - logsigmoid(x) * ((positive - 1.0) * t + 1.0)


def _logits_slope(g: Expr, x: Expr, t: Expr) -> Expr:
    return (maths.sigmoid(x) - t) * g


BINARY = Operator("binary_entropies", _binary, "xx").wrap(not_served)
BINARY_SLOPE = Operator("binary_entropies_grad", _binary_slope, "xxx").wrap(not_served)
LOGITS = Operator("logit_entropies", _logits, "xx").wrap(not_served)
WEIGHTED_LOGITS = Operator("logit_entropies", _weighted_logits, "xxx").wrap(not_served)
LOGITS_SLOPE = Operator("logit_entropies_grad", _logits_slope, "xxx").wrap(not_served)


def _agree(*arrays: Any) -> bool:
    """Whether there is one shape, as losses have it; a weight may be broadcast, and is for the formula to see."""
    return all(type(a) is np.ndarray and a.shape == arrays[0].shape for a in arrays)


def binary_entropies(input: Array, target: Array) -> Any:
    return BINARY(input, target) if _agree(input, target) else NotImplemented


def binary_entropies_grad(grad: Array, input: Array, target: Array) -> Any:
    return BINARY_SLOPE(grad, input, target) if _agree(input, grad, target) else NotImplemented


def logit_entropies(input: Array, target: Array, pos_weight: Array | None) -> Any:
    if not _agree(input, target):
        return NotImplemented
    return LOGITS(input, target) if pos_weight is None else WEIGHTED_LOGITS(input, target, pos_weight)


def logit_entropies_grad(grad: Array, input: Array, target: Array, pos_weight: Array | None) -> Any:
    if pos_weight is not None or not _agree(input, grad, target):
        return NotImplemented
    return LOGITS_SLOPE(grad, input, target)


for _serve, _arguments in ((binary_entropies, 2), (binary_entropies_grad, 3), (logit_entropies, 3), (logit_entropies_grad, 4)):
    chosen(_serve.__name__, _serve, _arguments, "floats of one shape")
