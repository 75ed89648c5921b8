"""Variance and standard deviation over a row of elements."""

from __future__ import annotations

from math import isfinite, prod
from typing import Any

import numpy as np

from tenfold.llvm import maths
from tenfold.llvm.expressions import convert, load, parameter, sqrt
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.kernels.reduction import LEAST, LONG, dimensions
from tenfold.llvm.programs import Program, empty, suitable
from tenfold.llvm.rows import Array as Argument, Rows, length, total
from tenfold.llvm.storage import FLOAT64, Stored
from tenfold.ops.reduction.statistics import spread_arguments

Array = np.ndarray[Any, Any]


def _program(stored: Stored, kind: str) -> Rows:
    """(sum d^2 - |sum d|^2 / n) / (n - c), for deviations d from the average; in float64, which no square of a float32 leaves."""
    x, n = convert(load(0, stored.computed), "double"), length("double")
    d = x - total(x) / n
    rest = total(d)
    variance = maths.at_least((total(d * d) - rest * rest / n) / (n - parameter(0, "double")), 0.0)
    result = convert(sqrt(variance) if kind == "std" else variance, stored.computed)
    return Rows(((result, Argument(stored, "scalar")),), (Argument(stored, "row"),), 1)


PROGRAM = Program("variance", _program)


def _in_rows(x: Array, dims: list[int]) -> Array | None:
    """The array with the dimensions at the end, copied if it is small."""
    if dims[0] == x.ndim - len(dims):
        return x
    if x.size > LEAST:
        return None
    others = [d for d in range(x.ndim) if d not in dims]
    return np.ascontiguousarray(x.transpose(others + dims))


def spread(kind: str, x: Array, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
    """The variance or its root, or NotImplemented."""
    dim, correction = spread_arguments(dim, unbiased, correction)
    dims = dimensions(x, dim) if x.ndim and x.size else None
    if dims is None:
        return NotImplemented
    count, rows = prod(x.shape[d] for d in dims), _in_rows(x, dims)
    stored = suitable(x) if rows is x else suitable(x, rows)
    if rows is None or stored is None or count <= correction or count >= LONG:
        return NotImplemented
    shape = tuple(1 if d in dims else n for d, n in enumerate(x.shape) if keepdim or d not in dims)
    out = empty(shape, stored)
    if not PROGRAM.rows((stored, kind), x.size // count, count, out, rows, float(correction)):
        return NotImplemented
    # Squares of float64 leave its range, and the kernel beneath scales them.
    return out if stored is not FLOAT64 or isfinite(np.add.reduce(out, None)) else NotImplemented


for _name in ("std", "var"):
    chosen(
        _name,
        lambda input, dim, unbiased, keepdim, correction, kind=_name: spread(kind, input, dim, unbiased, keepdim, correction),
        5,
        "floats in one piece",
    )
