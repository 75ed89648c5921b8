"""Distances of all pairs of rows, one launch, and the gradient of either side, another: an operator of tenfold-nn.

Those of many long rows come from a product, as PyTorch's: the squares of both, the product, and what puts them together.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf, prod
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.handwritten import F32, F64, FLOATS, Handwritten, contiguous, start
from tenfold.cuda.kernels.matmul import product as multiplied
from tenfold.cuda.kernels.planes import power
from tenfold.cuda.kernels.sums import zeros
from tenfold.cuda.precision import switches
from tenfold.dispatch.operators import op

TILE = 16  # rows of a tile of pairs
FEATURES = 16  # taken at a time
BLOCK = 1024
MOST = 2**31 - 2**16
NORMS = {0.0: 0, 1.0: 1, 2.0: 2, inf: 3}


def program(name: str, rows: int, columns: int, width: int, p: float, own: bool, double: bool) -> Handwritten:
    """The kernel for tiles of pairs of rows."""
    down, across = (power(n, 1, TILE // 2 if double else TILE) for n in (rows, columns))
    fixed = ("NORM", NORMS.get(p, 4)), ("OWN", int(own)), ("DOUBLE", int(double))
    features = FEATURES if p in NORMS or name == "distances" else FEATURES // 2  # powers take many registers
    return Handwritten(name, (*fixed, ("ROWS", down), ("COLUMNS", across), ("BLOCK", power(width, 1, features))))


def _sizes(x1: Any, x2: Any) -> tuple[int, int, int, int] | None:
    """(batches, rows of each, rows that each meets, features); None for what the kernels do not serve."""
    if x1.dtype not in FLOATS or x1.ndim < 2 or not x1.size or (x2 is None and (x1.ndim != 2 or len(x1) < 2)):
        return None
    other = x1 if x2 is None else x2
    if other.dtype != x1.dtype or other.ndim != x1.ndim or not other.size or other.shape[:-2] != x1.shape[:-2]:
        return None
    batches, P, R, M = prod(x1.shape[:-2]), x1.shape[-2], other.shape[-2], x1.shape[-1]
    if other.shape[-1] != M or batches * P * R > MOST * TILE or max(batches * P, batches * R, M) > MOST:
        return None
    return batches, P, R, M


@kernel(op.fused_distances, device="cuda", plays=switches, recycles=True)
def fused_distances(x1: Any, x2: Any, p: float, product: bool) -> Any:
    sizes = _sizes(x1, x2)
    if sizes is None:
        return NotImplemented
    if product:
        return NotImplemented if x2 is None or x1.dtype.itemsize < 4 else _of_products(contiguous(x1), contiguous(x2))
    return _lengths(x1, x2, p, sizes, x1.dtype)


def _lengths(x1: Any, x2: Any, p: float, sizes: tuple[int, int, int, int], dtype: Any) -> Any:
    (batches, P, R, M), now, own = sizes, runtime.current(), x2 is None
    index = now.index_of(x1)
    out = now.empty((P * (P - 1) // 2,) if own else (*x1.shape[:-2], P, R), dtype, index)
    found = program("distances", P, R, M, p, own, x1.dtype == F64)
    constants = dict(found.fixed)
    down, across = -(-P // constants["ROWS"]), -(-R // constants["COLUMNS"])
    a = contiguous(x1)
    numbers = (P, R, M, down, across, _exponent(p))
    start(found, (batches * down * across,), (out, a, a if own else contiguous(x2), *numbers), index)
    return out


def _exponent(p: float) -> float:
    return 1.0 if p in NORMS else float(p)


def _of_products(x1: Any, x2: Any) -> Any:
    now = runtime.current()
    index, double = now.index_of(x1), int(x1.dtype == F64)
    squares = [_squares(x, index) for x in (x1, x2)]
    products = multiplied(x1, x2.swapaxes(-1, -2))
    out = now.empty(products.shape, x1.dtype, index)
    found = Handwritten("distances_of_products", (("DOUBLE", double), ("BLOCK", BLOCK)))
    start(found, (-(-out.size // BLOCK),), (out, contiguous(products), *squares, out.size, *out.shape[-2:]), index)
    return out


def _squares(x: Any, index: int) -> Any:
    out, width = runtime.current().empty(x.shape[:-1], x.dtype, index), x.shape[-1]
    block = power(width, 1, BLOCK)
    each = max(1, min(BLOCK // block, power(out.size, 1, BLOCK)))
    found = Handwritten("squares_of_rows", (("DOUBLE", int(x.dtype == F64)), ("ROWS", each), ("BLOCK", block)))
    start(found, (-(-out.size // each),), (out, x, out.size, width), index)
    return out


@kernel(op.fused_distances_grad, device="cuda", plays=switches)
def fused_distances_grad(grad: Any, x1: Any, x2: Any, result: Any, p: float, product: bool) -> Any:
    sizes = _sizes(x1, x2)
    if sizes is None or grad.dtype not in FLOATS or grad.shape != result.shape:
        return NotImplemented
    (batches, P, R, M), now, own = sizes, runtime.current(), x2 is None
    index = now.index_of(x1)
    if p == 0:
        return zeros(x1.shape, x1.dtype, index)
    if p == inf and x1.dtype.itemsize == 2:  # whose rounded distances are no difference's magnitude
        result = _lengths(x1, x2, p, sizes, F32)
    g, r = (_batched(x, own) for x in (grad, result))
    if product and x1.dtype.itemsize > 2 and batches < 2**16:
        return _gradient_of_products(g, contiguous(x1), contiguous(x2), r, sizes, index)
    to = now.empty(x1.shape, x1.dtype, index)
    found = program("distances_gradient", P, R, M, p, own, x1.dtype == F64)
    constants = dict(found.fixed)
    down = -(-P // constants["ROWS"])
    a = contiguous(x1)
    steps = (*_steps(g, own), *_steps(r, own))
    given = (to, g, a, a if own else contiguous(x2), r, P, R, M, down, *steps, _exponent(p))
    start(found, (batches * down * -(-M // constants["BLOCK"]),), given, index)
    return to


def _batched(x: Any, own: bool) -> Any:
    """The array, copied if its batches do not lie evenly."""
    lead = [(n, s) for n, s in zip(x.shape[:-2], x.strides[:-2]) if n > 1]
    even = own or all(s == n * inner for (_, s), (n, inner) in pairwise(lead))
    return x if even else contiguous(x)


def _steps(x: Any, own: bool) -> tuple[int, int, int]:
    """How far apart batches, rows and columns lie, in elements."""
    size = x.dtype.itemsize
    if own:
        return 0, 0, x.strides[-1] // size
    lead = [s for n, s in zip(x.shape[:-2], x.strides[:-2]) if n > 1]
    return (lead[-1] // size if lead else 0), x.strides[-2] // size, x.strides[-1] // size


def _gradient_of_products(g: Any, x1: Any, x2: Any, r: Any, sizes: tuple[int, int, int, int], index: int) -> Any:
    """x1 times the sums of g / distance, less the product of that with x2."""
    (batches, P, R, _), now, double = sizes, runtime.current(), int(x1.dtype == F64)
    shares, totals = now.empty((*x1.shape[:-2], P, R), x1.dtype, index), now.empty((*x1.shape[:-1], 1), x1.dtype, index)
    block = power(R, 1, BLOCK)
    each = max(1, min(BLOCK // block, power(P, 1, BLOCK)))
    found = Handwritten("shares_of_distances", (("DOUBLE", double), ("ROWS", each), ("BLOCK", block)))
    steps = (*_steps(g, False), *_steps(r, False))
    start(found, (-(-P // each), batches), (shares, totals, g, r, P, R, *steps), index)
    return run("addcmul", multiplied(shares, x2), x1, totals, 1.0)
