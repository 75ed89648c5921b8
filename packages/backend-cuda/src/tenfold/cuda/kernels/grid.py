"""Sampling planes at given places (`grid_sample`), its two gradients, and the places of affine maps, one launch each."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import cast
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, contiguous, near, start, statistics_dtype
from tenfold.cuda.kernels.planes import planes
from tenfold.dispatch.operators import op
from tenfold.settings.determinism import are_deterministic_algorithms_enabled

BLOCK = 128
PROGRAMS = 2 * 132  # two for each multiprocessor of the largest GPUs
MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
VALUES, OF_PLANES, OF_PLACES = 0, 1, 2  # what the program computes


def _served(x: Any, grid: Any, *more: Any) -> bool:
    counts = (x.size, grid.size, x.shape[0] * x.shape[1] * prod(grid.shape[1:-1]))
    return x.dtype in FLOATS and all(a.dtype == x.dtype for a in (grid, *more)) and all(0 < n < 2**31 for n in counts)


def _run(what: int, result: Any, x: Any, grid: Any, grad: Any, options: tuple[str, str, bool]) -> None:
    """`result` is as what is computed; x are planes, of which the planes' gradient needs the strides alone."""
    mode, padding, align = options
    grid = contiguous(grid)
    index, (N, C), sizes = runtime.current().index_of(grid), x.shape[:2], planes(x)
    places = prod(grid.shape[1:-1])
    blocks = -(-N * places // BLOCK)
    shares = 1 if what == OF_PLACES else max(1, min(C, PROGRAMS // blocks))
    share = -(-C // shares)
    constants = (
        ("WHAT", what), ("DIMENSIONS", grid.shape[-1]), ("MODE", MODES.index(mode)), ("PADDING", PADDINGS.index(padding)),
        ("ALIGN", int(align)), ("DOUBLE", int(grid.dtype == F64)), ("BLOCK", BLOCK),
    )  # fmt: skip
    numbers = (N * places, places, C, share, *sizes.sizes[2:], *sizes.strides, C * places, places)
    start(
        Handwritten("sample_places", constants, 4, by_address=True), (blocks, -(-C // share)),
        (result, result, x, grid, grad, *numbers), index,
    )  # fmt: skip


@kernel(op.fused_grid_sample, device="cuda", plays=True)
def fused_grid_sample(input: Any, grid: Any, mode: str, padding_mode: str, align_corners: bool) -> Any:
    if not _served(input, grid):
        return NotImplemented
    x, now = near(input), runtime.current()
    out = now.empty((*x.shape[:2], *grid.shape[1:-1]), x.dtype, now.index_of(x))
    _run(VALUES, out, x, grid, x, (mode, padding_mode, align_corners))
    return out


@kernel(op.fused_grid_sample_input_grad, device="cuda", plays=are_deterministic_algorithms_enabled)
def fused_grid_sample_input_grad(
    grad: Any, grid: Any, input_shape: Any, mode: str, padding_mode: str, align_corners: bool
) -> Any:
    wide = statistics_dtype(grad.dtype)
    shape = tuple(input_shape)
    if not 0 < prod(shape) < 2**31 or are_deterministic_algorithms_enabled() or not _served(grad, grid):
        return NotImplemented
    now = runtime.current()
    out = now.from_host(np.broadcast_to(np.zeros((), wide), shape), now.index_of(grad))
    _run(OF_PLANES, out, out, grid, contiguous(grad), (mode, padding_mode, align_corners))
    return cast(out, grad.dtype)


@kernel(op.fused_grid_sample_grid_grad, device="cuda", plays=True)
def fused_grid_sample_grid_grad(grad: Any, input: Any, grid: Any, mode: str, padding_mode: str, align_corners: bool) -> Any:
    if not _served(input, grid, grad):
        return NotImplemented
    now = runtime.current()
    out = now.empty(grid.shape, grid.dtype, now.index_of(grid))
    _run(OF_PLACES, out, near(input), grid, contiguous(grad), (mode, padding_mode, align_corners))
    return out


@kernel(op.affine_grid_generator, device="cuda", plays=True)
def affine_grid_generator(theta: Any, size: Any, align_corners: bool) -> Any:
    if theta.dtype not in FLOATS:
        return NotImplemented
    spatial, now = tuple(size[2:]), runtime.current()
    n, places, index = len(spatial), prod(spatial), now.index_of(theta)
    count, out = size[0] * places, now.empty((size[0], *spatial, n), theta.dtype, index)
    flags = ("ALIGN", int(align_corners)), ("DOUBLE", int(theta.dtype == F64)), ("BLOCK", BLOCK)
    found = Handwritten("affine_places", (("DIMENSIONS", n), *flags), 4, by_address=True)
    numbers = (count, places, *spatial[-2:], spatial[0] if n == 3 else 1)
    start(found, (-(-count // BLOCK),), (out, contiguous(theta), *numbers), index)
    return out
