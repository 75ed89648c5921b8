"""Batch norm and its gradient, two launches each: the operators of tenfold-nn."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, contiguous, near, start, statistics_dtype
from tenfold.cuda.kernels.planes import allocated, power
from tenfold.cuda.kernels.together import dtype_or, register
from tenfold.dispatch.operators import op

PROGRAMS = 512  # that a pass is shared out to, so that all of a GPU takes part
MOST_SHARES = 64
MOST = 2**31 - 2**17  # elements; the last share's positions may end behind the others


class Tiles(NamedTuple):
    """How positions (rows) and channels (columns) are dealt to programs."""

    rows: int
    columns: int
    share: int  # positions of a program
    shares: int


def _flat(x: Any) -> tuple[int, int, int] | None:
    """Strides in elements of samples, channels and places; None where places are not at equal distances."""
    own = [s // x.dtype.itemsize for s in x.strides]
    spatial = [(n, s) for n, s in zip(x.shape[2:], own[2:]) if n > 1]
    for (_, outer), (n, inner) in pairwise(spatial):
        if outer != n * inner:
            return None
    return own[0], own[1], spatial[-1][1] if spatial else 0


def _tiles(x: Any) -> Tiles:
    channels, count = x.shape[1], x.size // x.shape[1]
    last = x.strides[1] == x.dtype.itemsize and channels > 1
    columns = power(channels, 1, 32) if last else 1
    rows = power(count, 1, 1024 // columns)
    shares = max(1, min(MOST_SHARES, PROGRAMS // -(-channels // columns), count // (2 * rows)))
    share = -(-count // (shares * rows)) * rows
    return Tiles(rows, columns, share, -(-count // share))


def _served(x: Any, *vectors: Any) -> bool:
    if x.dtype not in FLOATS or not 0 < x.size <= MOST or x.ndim < 2:
        return False
    return all(v is None or v.dtype in FLOATS for v in vectors)


def arranged(x: Any) -> tuple[Any, tuple[int, int, int]]:
    x = near(x)
    found = _flat(x)
    if found is None:
        x = contiguous(x)
        found = _flat(x)
        assert found is not None
    return x, found


def _unit(channels: int, length: int, *steps: tuple[int, int, int]) -> int:
    """Which dimension lies in a row in all arrays, the others at multiples of 16: 1: channels, 2: places; 0: there is none."""
    for unit, (kept, rest) in enumerate((((1,), (0, 2)), ((2,), (0, 1))), 1):
        if all(s[k] == 1 for s in steps for k in kept) and not any(s[k] % 16 for s in steps for k in rest):
            return 0 if (length if unit == 2 else channels) % 16 else unit
    return 0


def _constants(tiles: Tiles, dtype: Any, unit: int, **more: int) -> tuple[tuple[str, int], ...]:
    return (*more.items(), ("UNIT", unit), ("DOUBLE", int(dtype == F64)), ("ROWS", tiles.rows), ("COLUMNS", tiles.columns))


@kernel(op.fused_batch_norm, device="cuda", plays=True, recycles=True)
def fused_batch_norm(input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float) -> Any:
    if not _served(input, weight, bias, running_mean, running_var):
        return NotImplemented
    now = runtime.current()
    index = now.index_of(input)
    x, steps = arranged(input)
    tiles, channels, count = _tiles(x), x.shape[1], x.size // x.shape[1]
    kind = statistics_dtype(x.dtype)
    given = not training and running_mean is not None and running_var is not None
    grid = (-(-channels // tiles.columns), tiles.shares)
    length = prod(x.shape[2:])
    if given:
        means, squares = contiguous(running_mean), contiguous(running_var)
    else:
        means, squares = (now.empty((tiles.shares, channels), kind, index) for _ in range(2))
        unit = _unit(channels, length, steps)
        program = Handwritten("channel_moments", _constants(tiles, x.dtype, unit), 8, by_address=True)
        start(program, grid, (means, squares, x, count, tiles.share, channels, length, *steps), index)
    out = allocated(x.shape, x, index)
    mean, var, rstd = (now.empty((channels,), kind, index) for _ in range(3))
    flags = {
        "WEIGHT": int(weight is not None),
        "BIAS": int(bias is not None),
        "GIVEN": int(given),
        "SHARES": power(tiles.shares, 1, 64),
    }
    unit = _unit(channels, length, steps, arranged(out)[1])
    program = Handwritten("channel_norm", _constants(tiles, x.dtype, unit, **flags), 8, by_address=True)
    vectors = (x if v is None else contiguous(v) for v in (weight, bias))
    numbers = (count, tiles.share, tiles.shares, tiles.share, channels, length, *steps, *arranged(out)[1], float(eps))
    start(program, grid, (out, mean, var, rstd, x, *vectors, means, squares, *numbers), index)
    return out, mean, var, rstd


@kernel(op.fused_batch_norm_grad, device="cuda", plays=True)
def fused_batch_norm_grad(grad: Any, input: Any, weight: Any, mean: Any, rstd: Any, training: bool, eps: float) -> Any:
    return _gradients(grad, input, weight, mean, rstd, training, None, None)


def _gradients(
    grad: Any, input: Any, weight: Any, mean: Any, rstd: Any, training: bool, of_weight: Any, of_bias: Any
) -> Any:  # fmt: skip
    """The gradients of the input and of the parameters, these in the given dtypes; None: that of the statistics."""
    if not _served(input, weight, mean, rstd) or grad.dtype != input.dtype:
        return NotImplemented
    now = runtime.current()
    index = now.index_of(input)
    (x, steps), (g, g_steps) = arranged(input), arranged(grad)
    tiles, channels, count = _tiles(x), x.shape[1], x.size // x.shape[1]
    kind, length = statistics_dtype(x.dtype), prod(x.shape[2:])
    grid = (-(-channels // tiles.columns), tiles.shares)
    sums, dots = (now.empty((tiles.shares, channels), kind, index) for _ in range(2))
    unit = _unit(channels, length, g_steps, steps)
    program = Handwritten("channel_slopes", _constants(tiles, x.dtype, unit), 8, by_address=True)
    mean, rstd = contiguous(mean), contiguous(rstd)
    start(program, grid, (sums, dots, g, x, mean, rstd, count, tiles.share, channels, length, *g_steps, *steps), index)
    out = allocated(x.shape, x, index)
    g_weight, g_bias = (now.empty((channels,), dtype_or(dtype, kind), index) for dtype in (of_weight, of_bias))
    flags = {"WEIGHT": int(weight is not None), "TRAINING": int(training), "SHARES": power(tiles.shares, 1, 64)}
    unit = _unit(channels, length, g_steps, steps, arranged(out)[1])
    program = Handwritten("channel_norm_gradient", _constants(tiles, x.dtype, unit, **flags), 8, by_address=True)
    w = x if weight is None else contiguous(weight)
    numbers = (count, tiles.shares, tiles.share, channels, length, *g_steps, *steps, *arranged(out)[1])
    start(program, grid, (out, g_weight, g_bias, g, x, mean, rstd, w, sums, dots, *numbers), index)
    return out, g_weight, g_bias


register("fused_batch_norm", _gradients)
