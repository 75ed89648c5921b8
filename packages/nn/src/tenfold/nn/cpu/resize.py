"""NumPy kernels of resampling: along one dimension after the other, a gather for each tap; bytes by products of matrices."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.cpu.resize_bytes import resample_bytes
from tenfold.nn.ops.resize import grid, interpolate as ops, tables
from tenfold.types.memory_format import suggested_format

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]
Scales = tuple[float | None, ...]


def _as_it_lies(x: Array, ndim: int) -> tuple[Array, int, bool]:
    """The array with its channels last where they are so in memory; the first of the `ndim` spatial axes; whether they are."""
    if suggested_format(x).order:
        return np.moveaxis(x, 1, -1), 1, True
    return x, x.ndim - ndim, False


@kernel(ops.resample, device="cpu")
@array_kernel()
def resample(input: Array, output_size: Sizes, scales: Scales, mode: str, align_corners: bool, antialias: bool) -> Array:
    """Weighted sums of a few elements along each of the last dimensions; bytes as integers."""
    x, first, moved = _as_it_lies(input, len(output_size))
    nearest = mode.startswith("nearest")
    if x.dtype == np.uint8 and not nearest:
        steps_of = [(x.shape[first + i], out, scale) for i, (out, scale) in enumerate(zip(output_size, scales, strict=True))]
        return _laid_out(resample_bytes(x, first, steps_of, (align_corners, mode, antialias)), moved, input)
    shrinks = nearest and prod(output_size) < prod(x.shape[first : first + len(output_size)])
    for i in range(len(output_size)) if shrinks else reversed(range(len(output_size))):  # whole rows are dropped fastest
        axis, steps = first + i, (x.shape[first + i], output_size[i], scales[i])
        if tables.is_identity(*steps):
            continue
        if nearest:
            x = x.take(tables.nearest(*steps, mode == "nearest-exact"), axis)
        else:
            places, weights = tables.weighted(*steps, align_corners, mode, antialias)
            x = _weighted_sums(x, axis, places, weights.astype(x.dtype))
    return _laid_out(x, moved, input)


def _laid_out(x: Array, moved: bool, given: Array) -> Array:
    """The result with its channels where they belong, in memory of its own."""
    x = np.moveaxis(x, -1, 1) if moved else x
    return x.copy("K") if np.may_share_memory(x, given) else x


def _weighted_sums(x: Array, axis: int, places: Array, weights: Array) -> Array:
    factors = weights.reshape(*weights.shape, *[1] * (x.ndim - axis - 1))
    total = x.take(places[0], axis) * factors[0]
    for place, factor in zip(places[1:], factors[1:], strict=True):
        total += x.take(place, axis) * factor
    return np.asarray(total)


@kernel(ops.resample_grad, device="cpu")
@array_kernel()
def resample_grad(grad: Array, input_size: Sizes, scales: Scales, mode: str, align_corners: bool, antialias: bool) -> Array:
    """Every element of `grad` added to the places that its output was computed from."""
    x, first, moved = _as_it_lies(grad, len(input_size))
    for i, size in enumerate(input_size):
        axis = first + i
        steps = (size, x.shape[axis], scales[i])
        if tables.is_identity(*steps):
            continue
        if mode.startswith("nearest"):
            x = _added(x, axis, size, tables.nearest(*steps, mode == "nearest-exact")[None], None)
        else:
            places, weights = tables.weighted(*steps, align_corners, mode, antialias)
            x = _added(x, axis, size, places, weights.astype(x.dtype))
    return _laid_out(x, moved, grad)


def _added(x: Array, axis: int, size: int, places: Array, weights: Array | None) -> Array:
    """Sums of the elements that belong to each of `size` places; a tap's places never fall, so equal ones are neighbours."""
    out = np.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
    lead = (slice(None),) * axis
    for tap, at in enumerate(places):
        starts = np.flatnonzero(np.diff(at, prepend=-1))
        shares = x if weights is None else x * weights[tap].reshape(-1, *[1] * (x.ndim - axis - 1))
        out[(*lead, at[starts])] += np.add.reduceat(shares, starts, axis)
    return out


@kernel(grid.affine_grid_generator, device="cpu")
@array_kernel()
def affine_grid_generator(theta: Array, size: Sizes, align_corners: bool) -> Array:
    """The regular grid's places, (x, y, 1) or (x, y, z, 1), times every map."""
    n, spatial = len(size) - 2, tuple(size[2:])
    places = np.ones((*spatial, n + 1), theta.dtype)
    for axis, count in enumerate(spatial):
        steps = np.arange(count, dtype=theta.dtype) * theta.dtype.type(2 / max(1, count - 1)) - (count > 1)
        steps *= theta.dtype.type(1 if align_corners else (count - 1) / count)
        places[..., n - 1 - axis] = steps.reshape(*[-1 if i == axis else 1 for i in range(n)])
    return np.matmul(places.reshape(-1, n + 1), theta.swapaxes(1, 2)).reshape(len(theta), *spatial, n)
