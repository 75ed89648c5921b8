"""Cosines and distances of pairs of rows, and their gradients, each in one pass: operators of tenfold-nn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm.expressions import Expr, convert, equal, load, parameter, select, sqrt
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.programs import Program, empty
from tenfold.llvm.rows import Array as Argument, Rows, total
from tenfold.llvm.storage import FLOAT32

Array = np.ndarray[Any, Any]
ROW, SCALAR = Argument(FLOAT32, "row"), Argument(FLOAT32, "scalar")


def _length(x: Expr) -> Expr:
    """Of a row, whose squares leave the range where PyTorch's do."""
    return sqrt(convert(total(x * x), "float"))


def _at_least(length: Expr) -> Expr:
    eps = parameter(0, "float")
    return select(length < eps, eps, length)


def _dot(a: Expr, b: Expr) -> Expr:
    return total(convert(a, "double") * convert(b, "double"))


def _forward(kind: str) -> Rows:
    """The result, and the lengths."""
    a, b = load(0, "float"), load(1, "float")
    if kind == "distance":
        length = _length(a - b + parameter(0, "float"))
        return Rows(((length, SCALAR), (length, SCALAR)), (ROW, ROW), 1)
    lengths = _length(a), _length(b)
    first, second = (convert(_at_least(x), "double") for x in lengths)
    cosine = convert(_dot(a, b) / (first * second), "float")
    return Rows(((cosine, SCALAR), *((x, SCALAR) for x in lengths)), (ROW, ROW), 1)


def _over(x: Expr, length: Expr) -> Expr:
    """x / length, 0 for a length of 0."""
    return select(equal(length, 0.0), 0.0, x / length)


def _backward(kind: str) -> Rows:
    """The gradients of both rows. Inputs: the gradient, the rows, their lengths or that of their difference."""
    g, a, b = (load(i, "float") for i in range(3))
    if kind == "distance":
        slope = _over(g, load(3, "float")) * (a - b + parameter(0, "float"))
        return Rows(((slope, ROW), (-slope, ROW)), (SCALAR, ROW, ROW, SCALAR), 1)
    lengths = [load(i, "float") for i in (3, 4)]
    (l1, l2), (d1, d2) = ([convert(x, "double") for x in found] for found in (lengths, [_at_least(x) for x in lengths]))
    share = convert(g, "double") / (d1 * d2)
    cosine = share * _dot(a, b)
    first, second, both = (convert(x, "float") for x in (_over(cosine, d1 * l1), _over(cosine, d2 * l2), share))
    return Rows(((both * b - first * a, ROW), (both * a - second * b, ROW)), (SCALAR, ROW, ROW, SCALAR, SCALAR), 1)


FORWARD, BACKWARD = Program("cosines and distances of rows", _forward), Program("gradients of cosines and distances", _backward)


def _rows(*arrays: Array) -> list[Array] | None:
    """Arrays of float32 and of one shape in one piece; None for others, and of rows of one, whose lengths no square may leave."""
    first = arrays[0]
    if not first.ndim or not first.size or first.shape[-1] == 1:
        return None
    if any(a.dtype != FLOAT32.dtype or a.shape != first.shape for a in arrays):
        return None
    return [np.ascontiguousarray(a) for a in arrays]


def _is_served(kind: str, p: float) -> bool:
    return kind == "cosine" or (kind == "distance" and p == 2)


def fused_row_pairs(x1: Array, x2: Array, kind: str, eps: float, p: float) -> Any:
    """The cosine or distance of each pair of rows, and the lengths."""
    rows = _rows(x1, x2) if _is_served(kind, p) else None
    if rows is None:
        return NotImplemented
    lead, width = x1.shape[:-1], x1.shape[-1]
    out, lengths = empty(lead, FLOAT32), empty((2 if kind == "cosine" else 1, *lead), FLOAT32)
    done = FORWARD.rows(
        (kind,), x1.size // width, width, out, *(lengths[i : i + 1] for i in range(len(lengths))), *rows, float(eps)
    )
    return (out, lengths) if done else NotImplemented


def fused_row_pairs_grad(
    grad: Array, x1: Array, x2: Array, result: Array, lengths: Array, kind: str, eps: float, p: float
) -> Any:
    """The gradients of both."""
    rows = _rows(x1, x2) if _is_served(kind, p) else None
    if rows is None or any(a.dtype != FLOAT32.dtype for a in (grad, lengths)):
        return NotImplemented
    width = x1.shape[-1]
    results, given = (empty(x1.shape, FLOAT32), empty(x1.shape, FLOAT32)), np.ascontiguousarray(lengths)
    inputs = (np.ascontiguousarray(grad), *rows, *(given[i : i + 1] for i in range(len(given))))
    done = BACKWARD.rows((kind,), x1.size // width, width, *results, *inputs, float(eps))
    return results if done else NotImplemented


def cosine_similarity(x1: Array, x2: Array, dim: int, eps: float) -> Any:
    """Cosines along the last dimension, where no gradient is asked for."""
    if dim not in (-1, x1.ndim - 1) or not eps >= 0:  # of which the kernel beneath says what is wrong
        return NotImplemented
    found = fused_row_pairs(x1, x2, "cosine", eps, 2.0)
    return found if found is NotImplemented else found[0]


chosen("cosine_similarity", cosine_similarity, 4, "float32, along the last dimension")
chosen("fused_row_pairs", fused_row_pairs, 5, "float32, cosines and distances of p = 2")
chosen("fused_row_pairs_grad", fused_row_pairs_grad, 8, "float32, cosines and distances of p = 2")
