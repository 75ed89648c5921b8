"""Maximum pooling over windows at random places: of all windows one tap after the other."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.blocks import row_blocks
from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.cpu.pool.windows import PLANE_BYTES, as_planes
from tenfold.nn.ops.pool import fractional as ops
from tenfold.nn.window import Sizes

Array = np.ndarray[Any, Any]


def _starts(samples: Array, size: int, out: int, kernel_size: int) -> Array:
    """The first element of each window along a dimension, (P, out); the last window ends at the border."""
    last = size - kernel_size
    if out <= 1:
        return np.full((len(samples), out), last, np.int64)
    alpha, u = last / (out - 1), samples.astype(np.float64)[:, None]
    starts = np.floor((np.arange(out) + u) * alpha) - np.floor(u * alpha)
    starts[:, -1] = last
    return starts.astype(np.int64)


def _firsts(samples: Array, sizes: Sizes, kernel_size: Sizes, output_size: Sizes) -> Array:
    """Where each plane's windows begin in it, (P, windows)."""
    n, P = len(sizes), len(samples)
    found = np.zeros((P, 1), np.int64)
    for axis, steps in enumerate(zip(sizes, output_size, kernel_size, strict=True)):
        # Of two dimensions the last one has the first random number, of three the first one has it.
        starts = _starts(samples[:, 1 - axis if n == 2 else axis], *steps)
        found = (found[:, :, None] * steps[0] + starts[:, None]).reshape(P, found.shape[1] * starts.shape[1])
    return found


@array_kernel()
def fused_fractional_max_pool(input: Array, samples: Array, kernel_size: Sizes, output_size: Sizes) -> tuple[Array, Array]:
    """The largest element of each window and its index in the flattened plane (int64), the first of equals; NaN wins."""
    n = len(kernel_size)
    lead, sizes = input.shape[: input.ndim - n], input.shape[input.ndim - n :]
    planes = as_planes(input, n).reshape(prod(lead), prod(sizes))
    firsts = _firsts(samples[: prod(lead[:-1])].reshape(len(planes), n), sizes, kernel_size, output_size)
    steps = [prod(sizes[axis + 1 :]) for axis in range(n)]
    taps = [sum(t * s for t, s in zip(tap, steps, strict=True)) for tap in product(*map(range, kernel_size))]
    values, indices = np.empty(firsts.shape, input.dtype), firsts.copy()
    for part in row_blocks(len(planes), (planes.shape[1] + 4 * firsts.shape[1]) * input.itemsize, PLANE_BYTES):
        _largest(planes[part], firsts[part], taps, values[part], indices[part])
    return values.reshape(*lead, *output_size), indices.reshape(*lead, *output_size)


def _largest(planes: Array, firsts: Array, taps: list[int], values: Array, indices: Array) -> None:
    flat = planes.reshape(-1)
    places = firsts + np.arange(0, flat.size, planes.shape[1])[:, None]
    values[...] = flat.take(places + taps[0])
    for tap in taps[1:]:
        found = flat.take(places + tap)
        better = ~(found <= values) & (values == values)
        np.copyto(values, found, where=better)
        np.copyto(indices, firsts + tap, where=better)


kernel(ops.fused_fractional_max_pool, device="cpu")(fused_fractional_max_pool)
