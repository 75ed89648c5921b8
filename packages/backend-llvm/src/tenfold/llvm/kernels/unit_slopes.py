"""The gradients of layers' units for their inputs, each in one pass: `fused_unit_grad` of tenfold-nn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.llvm import maths
from tenfold.llvm.elementwise import Operator, not_served
from tenfold.llvm.expressions import Expr, is_nan, select
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.storage import FLOAT32, FLOAT64, FLOATING

Array = np.ndarray[Any, Any]
Slope = Callable[[Expr, Expr, Expr, Expr], Expr]

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _hardswish(g: Expr, x: Expr, a: Expr, b: Expr) -> Expr:
    return select(x <= -3.0, 0.0, select(x < 3.0, g * (x / 3.0 + 0.5), g))


def _mish(g: Expr, x: Expr, a: Expr, b: Expr) -> Expr:
    """With t = tanh(softplus(x)): g (t + x sigmoid(x) (1 - t^2))."""
    t = maths.tanh(maths.log1p_in_type(maths.exp(-abs(x))) + select((x > 0.0) | is_nan(x), x, 0.0))
    return g * (t + x * maths.sigmoid(x) * (1.0 - t * t))


def _elu(g: Expr, x: Expr, factor: Expr, steepness: Expr) -> Expr:
    return select(x <= 0.0, g * (maths.exp(select(x < 0.0, x * steepness, 0.0)) * factor), g)


def _selu(g: Expr, x: Expr, a: Expr, b: Expr) -> Expr:
    g = g * SELU_SCALE
    return select(x <= 0.0, g * (maths.exp(select(x < 0.0, x, 0.0)) * SELU_ALPHA), g)


def _softplus(g: Expr, x: Expr, beta: Expr, threshold: Expr) -> Expr:
    return select(x * beta > threshold, g, g * maths.sigmoid(x * beta))


def _softsign(g: Expr, x: Expr, a: Expr, b: Expr) -> Expr:
    whole = abs(x) + 1.0
    return g / whole - g * (x / whole / whole) * maths.sign(x)


# As the formulas of tenfold-nn, by their names; comparisons with nan are false, which decides what nan gives.
SLOPES: dict[str, Slope] = {
    "threshold": lambda g, x, a, b: select(x <= a, 0.0, g),
    "hardtanh": lambda g, x, a, b: select((x <= a) | (x >= b), 0.0, g),
    "leaky_relu": lambda g, x, a, b: select(x > 0.0, g, g * a),
    "shrink": lambda g, x, a, b: select((x >= -a) & (x <= a), 0.0, g),
    "hardsigmoid": lambda g, x, a, b: select((x > -3.0) & (x < 3.0), g / 6.0, 0.0),
    "hardswish": _hardswish,
    "logsigmoid": lambda g, x, a, b: g * maths.sigmoid(-x),
    "mish": _mish,
    "elu": _elu,
    "selu": _selu,
    "softplus": _softplus,
    "softsign": _softsign,
}
WHOLE = ("shrink",)  # whose limit is rounded to half precision first


def _made(kind: str, slope: Slope) -> Any:
    dtypes = (FLOAT32, FLOAT64) if kind in WHOLE else FLOATING
    return Operator(f"slope of {kind}", slope, "xxnn", dtypes=dtypes).wrap(not_served)


EACH = {kind: _made(kind, slope) for kind, slope in SLOPES.items()}


def fused_unit_grad(grad: Array, input: Array, kind: str, a: float, b: float) -> Any:
    if grad.shape != input.shape or kind not in EACH:
        return NotImplemented
    return EACH[kind](grad, input, a * b if kind == "elu" else a, b)


chosen("fused_unit_grad", fused_unit_grad, 5, "floats of one dtype")
