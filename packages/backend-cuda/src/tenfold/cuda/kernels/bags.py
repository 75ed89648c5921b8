"""Bags of a table's rows, one launch that reads the offsets by itself, and their gradients: operators of tenfold-nn."""

from __future__ import annotations

from typing import Any

from tenfold.cuda import reports, runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import places as at, sums
from tenfold.cuda.kernels.array_kernels import cast
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, contiguous, start
from tenfold.cuda.kernels.planes import power
from tenfold.dispatch.operators import op
from tenfold.settings.determinism import are_deterministic_algorithms_enabled

MODES = {"sum": 0, "mean": 1, "max": 2}
TILE, WIDEST = 2048, 256  # elements of a program at a time; columns of one
MAXIMA = 1024  # elements where each has the place that it comes from, too
CODES = tuple(reports.WORDS.index(name) for name in ("embedding_bag", "offsets"))
MOST = 2**31 - 2**16


def tile(count: int, length: int, width: int, size: int = TILE) -> tuple[tuple[str, int], ...]:
    """Bags, indices and columns that a program has at a time."""
    block = power(width, 1, WIDEST)
    rows = power(length // max(count, 1), 1, size // block)
    return ("BAGS", max(1, min(size // (block * rows), power(count, 1, size)))), ("ROWS", rows), ("BLOCK", block)


def _served(count: int, width: int, input: Any, offsets: Any, *floats: Any) -> bool:
    if not width or not 0 < input.size <= MOST or width > 65535 * WIDEST or count > MOST:
        return False
    return all(x is None or x.dtype in at.INTEGERS for x in (input, offsets)) and all(
        x is None or x.dtype in FLOATS for x in floats
    )


def _flags(offsets: Any, ends: bool, double: bool) -> tuple[tuple[str, int], ...]:
    return ("OFFSETS", int(offsets is not None)), ("ENDS", int(ends)), ("DOUBLE", int(double))


def _grid(tiles: tuple[tuple[str, int], ...], count: int, width: int) -> tuple[int, int]:
    sizes = dict(tiles)
    return -(-count // sizes["BAGS"]), -(-width // sizes["BLOCK"])


def _or(x: Any, other: Any) -> Any:
    return other if x is None else contiguous(x)


def _each(input: Any, offsets: Any) -> int:
    return int(input.shape[1]) if offsets is None else 0


def _skipped(padding_idx: int) -> int:
    """The index that does not count; without one what no index is, negative ones being reported."""
    return int(padding_idx) if padding_idx >= 0 else -(2**31)


@kernel(op.fused_bags, device="cuda")
def fused_bags(
    weight: Any, input: Any, offsets: Any, factors: Any, mode: str, count: int, padding_idx: int, ends: bool, scale_by_freq: bool,
    sparse: bool,
) -> Any:  # fmt: skip
    if not weight.size or count < 1 or not _served(count, weight.shape[1], input, offsets, weight, factors):
        return NotImplemented
    now, (table, width) = runtime.current(), weight.shape
    index = now.index_of(weight)
    out, sizes = now.empty((count, width), weight.dtype, index), now.empty((count,), sums.I64, index)
    places = now.empty((count, width) if mode == "max" else (0,), sums.I64, index)
    tiles = tile(count, input.size, width, MAXIMA if mode == "max" else TILE)
    fixed = ("MODE", MODES[mode]), *_flags(offsets, ends, weight.dtype == F64), ("FACTORS", int(factors is not None)), *tiles
    x, i = contiguous(weight), contiguous(input)
    given = (reports.words(now), x, i, _or(offsets, i), _or(factors, x), *CODES)
    numbers = (count, input.size, _each(input, offsets), table, width, _skipped(padding_idx))
    arrays = (out, sizes, places if mode == "max" else sizes)
    start(Handwritten("bags", fixed), _grid(tiles, count, width), (*arrays, *given, *numbers), index)
    if runtime.is_replaced():
        reports.check()
    return out, sizes, places


@kernel(op.fused_bags_grad, device="cuda")
def fused_bags_grad(
    grad: Any, weight_rows: int, input: Any, offsets: Any, factors: Any, sizes: Any, places: Any, mode: str, count: int,
    padding_idx: int, ends: bool, scale_by_freq: bool,
) -> Any:  # fmt: skip
    if are_deterministic_algorithms_enabled() or not _served(count, grad.shape[1], input, offsets, grad, factors):
        return NotImplemented
    if scale_by_freq and ends:  # indices behind the last bag do not count
        return NotImplemented
    width, double = grad.shape[1], grad.dtype == F64
    index, g = runtime.current().index_of(grad), contiguous(grad)
    table = sums.zeros((weight_rows, width), sums.accumulator(grad.dtype), index)
    if mode == "max":
        found = Handwritten("bag_maxima_gradient", (("DOUBLE", int(double)), ("BLOCK", TILE // 2)))
        start(found, (-(-g.size // (TILE // 2)),), (table, g, contiguous(places), g.size, width), index)
        return cast(table, grad.dtype)
    i, tiles = contiguous(input), tile(count, input.size, width)
    often = _frequencies(i, weight_rows, index) if scale_by_freq else sizes
    flags = ("FACTORS", int(factors is not None)), ("OFTEN", int(scale_by_freq))
    fixed = ("MODE", MODES[mode]), *_flags(offsets, ends, double), *flags, *tiles
    given = (table, g, contiguous(sizes), often, i, _or(offsets, i), _or(factors, g))
    numbers = (count, input.size, _each(input, offsets), weight_rows, width, _skipped(padding_idx))
    start(Handwritten("bags_gradient", fixed), _grid(tiles, count, width), (*given, *numbers), index)
    return cast(table, grad.dtype)


def _frequencies(i: Any, rows: int, index: int) -> Any:
    """How often each row of the table is looked up."""
    counts = sums.zeros((rows,), sums.I32, index)
    one = runtime.current().from_host(sums.ONE, index)
    flat = at.Places(i.shape, (None,) * i.ndim, (at.Index(0, i, i.strides),), False)
    at.run("add", "embedding", one, (0,) * i.ndim, counts, flat)
    return counts


@kernel(op.fused_bags_factors_grad, device="cuda")
def fused_bags_factors_grad(grad: Any, weight: Any, input: Any, offsets: Any, count: int, padding_idx: int, ends: bool) -> Any:
    if not _served(count, weight.shape[1], input, offsets, grad, weight):
        return NotImplemented
    now, (table, width) = runtime.current(), weight.shape
    index = now.index_of(weight)
    out = sums.zeros(input.shape, grad.dtype, index)
    i, tiles = contiguous(input), tile(count, input.size, width)
    given = (out, contiguous(grad), contiguous(weight), i, _or(offsets, i))
    numbers = (count, input.size, _each(input, offsets), table, width, _skipped(padding_idx))
    found = Handwritten("bag_factors_gradient", (*_flags(offsets, ends, weight.dtype == F64), *tiles))
    start(found, _grid(tiles, count, width)[:1], (*given, *numbers), index)
    return out
