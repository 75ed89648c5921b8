"""Layers' units and their gradients."""

from __future__ import annotations

from tenfold.llvm import maths
from tenfold.llvm.expressions import Expr
from tenfold.llvm.kernels.attaching import elementwise


def silu(x: Expr) -> Expr:
    return x * maths.sigmoid(x)


def silu_gradient(g: Expr, x: Expr) -> Expr:
    """With s = sigmoid(x): g s (1 + x (1 - s)); 1 - s is sigmoid(-x)."""
    return g * maths.sigmoid(x) * (x * maths.sigmoid(-x) + 1.0)


def hardswish(x: Expr) -> Expr:
    return x * maths.at_most(maths.at_least(x + 3.0, 0.0), 6.0) / 6.0


def logsigmoid(x: Expr) -> Expr:
    return maths.at_most(x, 0.0) - maths.log1p_in_type(maths.exp(-abs(x)))


elementwise("silu", silu)
elementwise("silu_backward", silu_gradient, "xx")
elementwise("hardswish", hardswish)
elementwise("logsigmoid", logsigmoid)
# One operator with two formulas: a gate around a gate.
for _form, _formula, _gradient in (
    ("tanh", maths.gelu_tanh, maths.gelu_tanh_gradient),
    ("none", maths.gelu, maths.gelu_gradient),
):
    elementwise("gelu", _formula, "xo", only=(_form,), into=False)
    elementwise("gelu_backward", _gradient, "xxo", only=(_form,), into=False)
