"""Losses of differences and their sums in one pass, and their gradient in one: `fused_pointwise_loss` of tenfold-nn.

Other kinds take as long in their own operators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.llvm.elementwise import Operator
from tenfold.llvm.expressions import Expr, load, parameter, select
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.programs import Program, suitable
from tenfold.llvm.rows import Array as Argument, Rows, total
from tenfold.llvm.storage import FLOAT32, FLOAT64, Stored

Array = np.ndarray[Any, Any]
Formula = Callable[[Expr, Expr, Expr], Expr]

PIECE = 1 << 14  # of a sum, whose pieces several threads add


def _bent(d: Expr, a: Expr, b: Expr) -> Expr:
    """b (|d| - a / 2) from a on, infinite differences too; b d^2 / (2 a) below, and where d is no number."""
    return select(abs(d) >= a, b * (abs(d) - 0.5 * a), b * 0.5 / a * d * d)


def _bent_slope(d: Expr, a: Expr, b: Expr) -> Expr:
    return select(abs(d) >= a, select(d > 0.0, b, -b), b / a * d)


LOSSES: dict[str, Formula] = {"square": lambda d, a, b: d * d, "bent": _bent}
SLOPES: dict[str, Formula] = {"square": lambda d, a, b: d * 2.0, "bent": _bent_slope}


def _sums(stored: Stored, kind: str) -> Rows:
    """The sum of each row's losses, in float64."""
    x, t, a, b = load(0, stored.computed), load(1, stored.computed), parameter(0, stored.computed), parameter(1, stored.computed)
    row = Argument(stored, "row")
    return Rows(((total(LOSSES[kind](x - t, a, b)), Argument(FLOAT64, "scalar")),), (row, row), 2)


def _elementwise(kind: str, slope: bool) -> Any:
    def each(x: Expr, t: Expr, a: Expr, b: Expr) -> Expr:
        return LOSSES[kind](x - t, a, b)

    def share(g: Expr, x: Expr, t: Expr, a: Expr, b: Expr) -> Expr:
        return SLOPES[kind](x - t, a, b) * g

    made = Operator(f"losses: {kind}", share if slope else each, "yxxnn" if slope else "xxnn", dtypes=(FLOAT32, FLOAT64))
    return made.wrap(lambda *arguments: NotImplemented)


SUMS = Program("sums of losses", _sums)
EACH = {kind: _elementwise(kind, False) for kind in LOSSES}
SHARES = {kind: _elementwise(kind, True) for kind in LOSSES}


def _sum(x: Array, t: Array, kind: str, a: float, b: float, stored: Stored) -> float | None:
    flat, other = x.reshape(-1), t.reshape(-1)
    whole = flat.size // PIECE
    parts = np.empty(whole + 1)
    parts[whole] = 0.0
    key = (stored, kind)
    if whole and not SUMS.rows(key, whole, PIECE, parts, flat, other, a, b):
        return None
    rest = flat.size - whole * PIECE
    if rest and not SUMS.rows(key, 1, rest, parts[whole:], flat[whole * PIECE :], other[whole * PIECE :], a, b):
        return None
    return float(np.add.reduce(parts))


def fused_pointwise_loss(
    input: Array, target: Array, weight: Any, third: Any, kind: str, a: float, b: float, divisor: int
) -> Any:
    """The losses, or their sum over a number."""
    if kind not in LOSSES or weight is not None or third is not None or input.dtype != target.dtype:
        return NotImplemented
    if not divisor:
        return EACH[kind](input, target, a, b)
    input, target = np.ascontiguousarray(input), np.ascontiguousarray(target)
    stored = suitable(input, target)
    if stored not in (FLOAT32, FLOAT64) or input.shape != target.shape or not input.size:
        return NotImplemented
    found = _sum(input, target, kind, a, b, stored)
    return NotImplemented if found is None else np.asarray(found / divisor, input.dtype)


def fused_pointwise_loss_grad(
    grad: Array, input: Array, target: Array, weight: Any, third: Any, kind: str, a: float, b: float, divisor: int
) -> Any:
    """The gradient for the input."""
    if kind not in SLOPES or weight is not None or third is not None or not grad.dtype == input.dtype == target.dtype:
        return NotImplemented
    if divisor and grad.ndim:
        return NotImplemented
    return SHARES[kind](grad.item() / divisor if divisor else grad, input, target, a, b)


NOTE = "float32 and float64, squares and what is straight beyond a bend"
chosen("fused_pointwise_loss", fused_pointwise_loss, 8, NOTE, halves=1)
chosen("fused_pointwise_loss_grad", fused_pointwise_loss_grad, 9, NOTE, halves=1)
