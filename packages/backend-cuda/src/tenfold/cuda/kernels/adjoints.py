"""Gradients in one launch (programs/adjoints.py) that rules make in many, or wait for: of masks, complex sizes and products.

Those of elements at places are a fill and a launch, which are played at once.
"""

from __future__ import annotations

from math import prod
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.kernels import folds, places as at, sums
from tenfold.cuda.kernels.array_kernels import cast
from tenfold.cuda.kernels.handwritten import F64, FLOATS, TILE, Handwritten, contiguous, start
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.kernels.places import WORDS
from tenfold.cuda.kernels.planes import power
from tenfold.cuda.kernels.scanning import Scan, reversing, scanning
from tenfold.cuda.kernels.slopes import _gradients as of_formulas
from tenfold.cuda.kernels.together import offer, register, unseen
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.settings.determinism import are_deterministic_algorithms_enabled

BLOCK = 512
_counts = scanning(Scan("sum"), through_host("cumsum"))


def _of_mask(grad: Any, mask: Any, shape: tuple[int, ...]) -> Any:
    """Of the elements, or rows, that a mask chose: how many those are the gradient says."""
    item, now = grad.dtype.itemsize, runtime.current()
    if item not in WORDS or mask.dtype.kind != "b" or not mask.size or mask.shape != shape[: mask.ndim]:
        return NotImplemented
    if not grad.size:
        return (sums.zeros(shape, grad.dtype, now.index_of(grad)),)
    g, flags = contiguous(grad), contiguous(mask).reshape(-1)
    out = now.empty(shape, g.dtype, now.index_of(g))
    ends, inner, word = _counts(flags, 0), prod(shape[mask.ndim :]), WORDS[item]
    program = Handwritten("elements_of_mask", (("BLOCK", BLOCK),), by_address=True)
    numbers = (out.size, inner)
    kinds = (word, word, "*i8", "*i64", *["i64" if n >= 2**31 else "i32" for n in numbers])
    now.launch_grid(program, kinds, (out, g, flags, ends, *numbers), (-(-out.size // BLOCK),), now.index_of(g))
    return (out,)


def signs(input: Any, grad: Any = None) -> Any:
    """Complex numbers of absolute value 1, or 0; times a gradient of absolute values, if one is given."""
    now, x = runtime.current(), contiguous(input)
    index = now.index_of(x)
    numbers = sums.pairs(x, x.shape, x.strides)
    out = now.empty((*x.shape, 2), numbers.dtype, index)
    if x.size:
        program = Handwritten("signs_of_pairs", (("GRAD", int(grad is not None)), ("BLOCK", BLOCK)), by_address=True)
        given = numbers if grad is None else contiguous(grad)
        start(program, (-(-x.size // BLOCK),), (out, numbers, given, x.size), index)
    return folds.of_pairs(out, x.dtype)


def _of_sizes(grad: Any, input: Any) -> Any:
    return (signs(input, grad),) if input.dtype.kind == "c" and grad.dtype == input.real.dtype else NotImplemented


_of_reals, _of_pairs = of_formulas("abs"), unseen(_of_sizes)


def _of_absolutes(g: Any, parameters: Any, wanted: Any, input: Any) -> Any:
    return _of_pairs(g, input) if input.is_complex() else _of_reals(g, parameters, wanted, input=input)


def _of_products(grad: Any, input: Any, dim: int) -> Any:
    """Of a cumulative product along lines that a program holds, with no look at whether there are zeros."""
    length = input.shape[dim]
    if input.dtype not in FLOATS or grad.dtype != input.dtype or not 0 < input.size < 2**31 - TILE or length > TILE:
        return NotImplemented
    g, x, now = contiguous(grad), contiguous(input), runtime.current()
    out = now.empty(x.shape, x.dtype, now.index_of(x))
    rows, block = x.size // length, power(length, 1, TILE)
    each = min(max(1, 2048 // block), power(rows, 1, 2048))
    fixed = (("DOUBLE", int(x.dtype == F64)), ("ROWS", each), ("BLOCK", block))
    arguments = (out, g, x, rows, length, prod(x.shape[dim + 1 :]))
    start(Handwritten("slopes_of_products", fixed, by_address=True), (-(-rows // each),), arguments, now.index_of(x))
    return (out,)


_run_of_products = unseen(_of_products)


def _of_cumulated(g: Any, parameters: Any, wanted: Any, input: Any, out: Any, dim: int) -> Any:
    return _run_of_products(g, input, wrap_dim(dim, input.dim())) if input.dim() else None


def _sent(name: str, grad: Any, shape: tuple[int, ...], places: at.Places | None) -> Any:
    """Zeros of a shape with a gradient added at places."""
    if places is None or grad.shape != places.shape or not grad.size or not shape:
        return NotImplemented
    table = sums.zeros(shape, sums.accumulator(grad.dtype), runtime.current().index_of(grad))
    return (cast(table, grad.dtype),) if sums.add_to(name, table, places, grad, grad.strides) else NotImplemented


def _of_places(grad: Any, shape: tuple[int, ...], *indices: Any) -> Any:
    """Of an index without masks."""
    return _sent("index_put", grad, shape, at.selected(shape, indices))


def _of_gathered(grad: Any, shape: tuple[int, ...], dim: int, index: Any) -> Any:
    fits = index.dtype == sums.I64 and index.ndim == len(shape) > 0
    return _sent("scatter", grad, shape, at.along(index, dim, shape)) if fits else NotImplemented


register("reversed cumsum", reversing(Scan("sum")))
register("reversed logcumsumexp", reversing(Scan("powers")))
register("index by a mask", _of_mask)
register("index", _of_places, are_deterministic_algorithms_enabled)
register("gather", _of_gathered, are_deterministic_algorithms_enabled)
offer("abs", _of_absolutes)
offer("cumprod", _of_cumulated)
