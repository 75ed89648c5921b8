"""Convolutions of bfloat16 by the processor's unit for it: products of windows, gathered from padded images, channels last.

A window's row of taps is one piece there, of all channels. The gradient of the images is the convolution of the result's
gradient, its pixels `stride` apart among zeros, with the weights turned round; that of the weights a product over all pixels.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm import matrix_calls, session as sessions
from tenfold.llvm.formats import in_one_piece
from tenfold.llvm.matrix_products import DEPTH, A, B
from tenfold.llvm.matrix_tiles import SIDE
from tenfold.llvm.matrix_unit import usable
from tenfold.llvm.planes import Sizes, Window
from tenfold.llvm.storage import BFLOAT16

Array = np.ndarray[Any, Any]

WORK = 1 << 18  # multiplications from which the unit takes less time than conversions and float32
LEAST_FILLED = 1 / 8  # of the tiles, below which too much is multiplied by zeros
MOST_STRIDE = 4  # pixels for one that is not zero, up to which the images' gradient is made so
MOST_KEPT = 1 << 16  # windows, whose places are kept for the next call
SIZE = BFLOAT16.size


class Windows:
    """Windows over images (N, C, *inputs) that are padded; `wide`, the size of the padded images, may be more than is read."""

    def __init__(self, window: Window, wide: Sizes, channels: int) -> None:
        kernel, dilation = window.kernel, window.dilation
        whole = dilation[-1] == 1 and kernel[-1] * channels <= DEPTH
        self.window, self.wide, self.channels = window, wide, channels
        self.pieces = kernel[:-1] if whole else kernel  # each of which is in one place
        self.real = channels * (kernel[-1] if whole else 1)
        self.padded = -(-self.real // SIDE) * SIDE
        self.depth = prod(self.pieces) * self.padded

    def served(self, outer: int, pixels: int) -> bool:
        """Whether there is enough to multiply, little of it zeros."""
        work = self.depth * outer * pixels
        filled = self.real / self.padded * outer / (-(-outer // SIDE) * SIDE)
        return self.padded <= DEPTH and work >= WORK and filled >= LEAST_FILLED and usable() is not None

    def tables(self, count: int) -> tuple[Array, Array]:
        """The bytes to the first pixel of each window of so many images, and to each piece of a window."""
        window = self.window
        make = _tables if count * prod(window.outputs) <= MOST_KEPT else _tables.__wrapped__
        return make(count, window.outputs, window.stride, self.pieces, window.dilation, self.wide, self.channels)

    def weights(self, weight: Array) -> Array:
        """Weights (O, C, *kernel) as (O, depth)."""
        laid = in_one_piece(np.moveaxis(weight, 1, -1)).reshape(len(weight), -1, self.real)
        if self.real < self.padded:
            filled = np.zeros((*laid.shape[:2], self.padded), weight.dtype)
            filled[..., : self.real] = laid
            laid = filled
        return laid.reshape(len(weight), -1)

    def step(self) -> int:
        """The depth of a step of sums: whole pieces, as many as there is room for."""
        pieces, most = prod(self.pieces), DEPTH // self.padded
        return -(-pieces // -(-pieces // most)) * self.padded


@lru_cache(maxsize=64)
def _tables(
    count: int, outputs: Sizes, stride: Sizes, pieces: Sizes, dilation: Sizes, wide: Sizes, channels: int
) -> tuple[Array, Array]:
    steps = [prod(wide[d + 1 :]) * channels * SIZE for d in range(len(wide))]
    images = np.arange(count, dtype=np.int64) * (steps[0] * wide[0])
    return _spread([images, *(np.arange(n) * s * step for n, s, step in zip(outputs, stride, steps, strict=True))]), _spread(
        [np.arange(n) * d * step for n, d, step in zip(pieces, dilation, steps, strict=False)]  # the last may be in one piece
    )


def _spread(places: list[Array]) -> Array:
    """All sums of one number of each list, the last fastest."""
    total = np.zeros(1, np.int64)
    for more in places:
        total = (total[:, None] + more).reshape(-1)
    return total


def _laid(x: Array, before: Sizes, wide: Sizes, stride: Sizes) -> Array:
    """Images (N, C, *sizes) with the channels last, `stride` apart among zeros."""
    moved = in_one_piece(np.moveaxis(x, 1, -1))
    if moved.shape[1:-1] == wide:
        return moved
    filled = np.zeros((len(x), *wide, x.shape[1]), x.dtype)
    places = [slice(b, b + (n - 1) * s + 1, s) for b, n, s in zip(before, x.shape[2:], stride, strict=True)]
    filled[(slice(None), *places)] = moved
    return filled


def _alone(x: Array, window: Window) -> bool:
    """Whether every pixel of images that lie channels first is a window of its own, as it is, and there are enough of them."""
    whole = x.flags.c_contiguous and prod(window.inputs) >= SIDE
    return whole and prod(window.kernel) == prod(window.stride) == 1 and not any(window.padding)


def _of_pixels(weight: Array, x: Array) -> Any:
    """The product of weights (O, C) and each image (C, pixels)."""
    count, channels, *sizes = x.shape
    pixels = x.reshape(count, channels, -1)
    out = matrix_calls.product(np.broadcast_to(weight, (count, *weight.shape)), pixels)
    return out if out is NotImplemented else out.reshape(count, len(weight), *sizes)


def correlate(x: Array, weight: Array, bias: Array | None, window: Window) -> Any:
    """The convolution of images (N, C, *inputs) with weights (O, C, *kernel), its channels last in memory."""
    wide = tuple(i + 2 * p for i, p in zip(window.inputs, window.padding, strict=True))
    windows = Windows(window, wide, x.shape[1])
    if not windows.served(len(weight), len(x) * prod(window.outputs)):
        return NotImplemented
    if bias is None and _alone(x, window):
        return _of_pixels(weight.reshape(weight.shape[:2]), x)
    ones = (1,) * len(wide)
    return _correlated(_laid(x, window.padding, wide, ones), windows.weights(weight), bias, windows)


def input_gradient(grad: Array, weight: Array, window: Window, bias: Array | None = None) -> Any:
    """The gradient (N, C, *inputs) of the images from that of the result, plus a bias for transposed convolutions."""
    reach = tuple(d * (k - 1) for d, k in zip(window.dilation, window.kernel, strict=True))
    before = tuple(r - p for r, p in zip(reach, window.padding, strict=True))
    wide = tuple(i + r for i, r in zip(window.inputs, reach, strict=True))
    if min(before) < 0 or prod(window.stride) > MOST_STRIDE:
        return NotImplemented
    ones, zeros = (1,) * len(wide), (0,) * len(wide)
    windows = Windows(Window(window.kernel, ones, zeros, window.dilation, wide, window.inputs), wide, grad.shape[1])
    if not windows.served(weight.shape[1], len(grad) * prod(window.inputs)):
        return NotImplemented
    if bias is None and _alone(grad, window):
        return _of_pixels(weight.reshape(weight.shape[:2]).T, grad)
    laid = in_one_piece(np.moveaxis(weight, 0, -1)).reshape(weight.shape[1], -1, len(weight))
    turned = np.moveaxis(laid[:, ::-1].reshape(weight.shape[1], *window.kernel, len(weight)), -1, 1)
    return _correlated(_laid(grad, before, wide, window.stride), windows.weights(turned), bias, windows)


def _correlated(images: Array, weights: Array, bias: Array | None, windows: Windows) -> Any:
    outer, depth = weights.shape
    sizes = len(images) * prod(windows.window.outputs), outer, depth
    out = _run(A, windows, len(images), images, weights, bias, (0, 1, 0, depth * SIZE), sizes, windows.step())
    return out if out is NotImplemented else np.moveaxis(out.reshape(len(images), *windows.window.outputs, outer), -1, 1)


def weight_gradient(x: Array, grad: Array, window: Window) -> Any:
    """The gradient (O, C, *kernel) of the weights from images (N, C, *inputs) and the gradient (N, O, *outputs) of the result."""
    wide = tuple(i + 2 * p for i, p in zip(window.inputs, window.padding, strict=True))
    windows, outer, pixels = Windows(window, wide, x.shape[1]), grad.shape[1], len(x) * prod(window.outputs)
    if not windows.served(outer, pixels):
        return NotImplemented
    images, rows = _laid(x, window.padding, wide, (1,) * len(wide)), in_one_piece(np.moveaxis(grad, 1, -1))
    out = _run(B, windows, len(x), rows, images, None, (1, 0, outer * SIZE, 0), (outer, windows.depth, pixels), DEPTH)
    if out is NotImplemented:
        return out
    found = out.reshape(outer, -1, windows.padded)[..., : windows.real]
    return np.moveaxis(found.reshape(outer, *window.kernel, x.shape[1]), -1, 1)


def _run(
    key: str, windows: Windows, count: int, a: Array, b: Array, start: Array | None, layout: Sizes, sizes: Sizes, step: int
) -> Any:
    """A product of the unit in which the windows of so many images are gathered."""
    m, n, k = sizes
    address = matrix_calls.UNIT.address(usable(), key)
    session = sessions.session()
    if session is None or not address:
        return NotImplemented
    parts = matrix_calls.divided(m, n, 1, m * n * k, k <= step)
    out: Array = session.memory.empty((m, n), BFLOAT16.dtype)
    numbers = *layout, 0, m, n, k, step, *parts, 0, 0, 0
    tables = *windows.tables(count), windows.real, windows.padded
    session.launch(address, parts[1] * parts[3], 1, a, b, 0 if start is None else start, out, *numbers, *tables)
    return out
