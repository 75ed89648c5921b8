"""Units of two arrays, prelu and glu, and their gradients: the operators of tenfold-nn."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.llvm import maths
from tenfold.llvm.elementwise import GRAIN_ELEMENTS, Operator, not_served
from tenfold.llvm.expressions import Expr, select
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.programs import empty
from tenfold.llvm.session import session
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, FLOAT64

Array = np.ndarray[Any, Any]

WHOLE = (FLOAT32, FLOAT64)


def _prelu(x: Expr, weight: Expr) -> Expr:
    return select(x > 0.0, x, weight * x)


def _prelu_slope(g: Expr, x: Expr, weight: Expr) -> Expr:
    return select(x > 0.0, g, g * weight)


def _prelu_weight_slope(g: Expr, x: Expr) -> Expr:
    """The weight's; g meets no infinite x that the weight does not touch."""
    return select(x > 0.0, 0.0, g * select(x > 0.0, 0.0, x))


PRELU, PRELU_OF_ONE = Operator("prelu", _prelu, "xx"), Operator("prelu", _prelu, "xn")
SLOPE, SLOPE_OF_ONE = (Operator("prelu's slope", _prelu_slope, roles, dtypes=WHOLE) for roles in ("xxx", "xxn"))
WEIGHT_SLOPE = Operator("prelu's slope for its weight", _prelu_weight_slope, "xx", dtypes=WHOLE)
_prelu_each, _prelu_one = PRELU.wrap(not_served), PRELU_OF_ONE.wrap(not_served)
_slope_each, _slope_one, _weight_slope = (o.wrap(not_served) for o in (SLOPE, SLOPE_OF_ONE, WEIGHT_SLOPE))


@lru_cache(maxsize=64)
def _back(order: tuple[int, ...]) -> tuple[int, ...]:
    """The order that undoes another."""
    return tuple(order.index(d) for d in range(len(order)))


def _order(x: Array) -> tuple[int, ...] | None:
    """The order of dimensions in which an array lies in one piece: rows or channels last; None for any other."""
    rows = tuple(range(x.ndim))
    if x.flags.c_contiguous:
        return rows
    last = (0, *rows[2:], 1)
    return last if x.ndim > 2 and x.transpose(last).flags.c_contiguous else None


def _along(weight: Array, order: tuple[int, ...]) -> Array:
    """A weight for each channel as it is broadcast to an array with its dimensions in this order."""
    return weight.reshape(-1, *[1] * (len(order) - 1 - order.index(1)))


def _fits(input: Array, weight: Array) -> bool:
    if type(weight) is not np.ndarray or weight.dtype != input.dtype or weight.ndim > 1:
        return False
    return weight.size == 1 or (input.ndim > 1 and weight.size == input.shape[1])


def prelu(input: Array, weight: Array) -> Any:
    order = _order(input)
    if order is None or not _fits(input, weight):
        return NotImplemented
    plain = input.flags.c_contiguous
    x = input if plain else input.transpose(order)
    if weight.size == 1:
        made = _prelu_one(x, float(weight.reshape(())))
    else:
        made = _prelu_each(x, np.ascontiguousarray(_along(weight, order)))
    return made if plain or made is NotImplemented else made.transpose(_back(order))


@quiet
def fused_prelu_grad(grad: Array, input: Array, weight: Array) -> Any:
    order = _order(input)
    if order is None or not _fits(input, weight) or grad.shape != input.shape or grad.dtype != input.dtype:
        return NotImplemented
    if not input.ndim or not input.size:
        return NotImplemented
    x, g = input.transpose(order), np.ascontiguousarray(grad.transpose(order))
    if weight.size == 1:
        made = _slope_one(g, x, float(weight.reshape(())))
    else:
        made = _slope_each(g, x, np.ascontiguousarray(_along(weight, order)))
    shares = _weight_slope(g, x)
    if made is NotImplemented or shares is NotImplemented:
        return NotImplemented
    if weight.size == 1:
        total = np.add.reduce(shares.reshape(-1))
    elif order[-1] == 1:  # rows of channels: BLAS adds them in blocks
        rows = shares.reshape(-1, weight.size)
        total = np.ones(len(rows), rows.dtype) @ rows
    else:
        total = np.add.reduce(shares.reshape(*x.shape[:2], -1), axis=(0, 2))
    return made.transpose(_back(order)), np.asarray(total, input.dtype).reshape(weight.shape)


def _glu(a: Expr, b: Expr) -> Expr:
    return a * maths.sigmoid(b)


def _glu_slope(g: Expr, a: Expr, b: Expr) -> Expr:
    """Of the second half: g a s (1 - s), with 1 - s = sigmoid(-b)."""
    return g * maths.sigmoid(b) * (a * maths.sigmoid(-b))


GLU = Operator("glu", _glu, "xx")
GLU_SLOPE = Operator("glu's slope for its second half", _glu_slope, "xxx")
NEXT = "next"


def _halves(x: Array, dim: int) -> tuple[int, int] | None:
    """How many rows of two halves an array in one piece has, and how many elements are in a half; None where there are none."""
    if not x.ndim or not x.flags.carray or not -x.ndim <= dim < x.ndim or x.shape[dim] % 2 or not x.size:
        return None
    dim %= x.ndim
    return prod(x.shape[:dim]), prod(x.shape[dim:]) // 2


def _run(operator: Operator, rows: int, width: int, out: Array, *arrays: Array) -> bool:
    """A formula of rows of this width, whose arrays are flat: of `rows` such rows one after the other, or of twice as many."""
    stored = BY_DTYPE[out.dtype]
    address = operator.loop(stored, (), (NEXT,) * (1 + len(arrays)))
    here, size = session(), out.itemsize
    if not address or here is None:
        return False
    given = [(out, *arrays)[k].size > rows * width for k in range(1 + len(arrays))]
    steps = [size * width * (2 if twice else 1) for twice in given]
    here.launch(address, rows * width, GRAIN_ELEMENTS, out, *arrays, width, *[size] * len(steps), 1, rows, *steps)
    return True


def glu(input: Array, dim: int) -> Any:
    found = _halves(input, dim)
    if found is None:
        return NotImplemented
    rows, width = found
    shape = list(input.shape)
    shape[dim] //= 2
    made, flat = empty(tuple(shape), BY_DTYPE[input.dtype]), input.reshape(-1)
    return made if _run(GLU, rows, width, made, flat, flat[width:]) else NotImplemented


def fused_glu_grad(grad: Array, input: Array, dim: int) -> Any:
    found = _halves(input, dim)
    if found is None or grad.dtype != input.dtype or 2 * grad.size != input.size:
        return NotImplemented
    rows, width = found
    made = empty(input.shape, BY_DTYPE[input.dtype])
    out, x, g = made.reshape(-1), input.reshape(-1), np.ascontiguousarray(grad).reshape(-1)
    done = _run(GLU, rows, width, out, g, x[width:]) and _run(GLU_SLOPE, rows, width, out[width:], g, x, x[width:])
    return made if done else NotImplemented


chosen("prelu", prelu, 2, "arrays in one piece, channels last too")
chosen("fused_prelu_grad", fused_prelu_grad, 3, "float32 and float64", halves=2)
chosen("glu", glu, 2, "arrays in one piece")
chosen("fused_glu_grad", fused_glu_grad, 3, "arrays in one piece")
