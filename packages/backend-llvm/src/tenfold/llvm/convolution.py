"""Convolutions by gathered products: which product serves which sizes, over blocks of padded images that stay in the cache."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm import products
from tenfold.llvm.planes import Plane, Reading, Window, backward, forward, plane_of
from tenfold.llvm.products import GROUP, Tile
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import BY_DTYPE, Stored
from tenfold.llvm.writer import registers

Array = np.ndarray[Any, Any]

BLOCK_BYTES = 1 << 20  # of padded images that are worked on together, for each thread
NARROW = 12  # output channels below which lanes for channels stand empty, so that pixels fill them
MULTIPLES = 2  # output channels of one input channel up to which every channel is worked on by itself
WORK = 1 << 16  # multiplications for which a second thread is woken

BY_PIXEL = Compiled("convolution by pixels", products.by_pixel)
BY_ROW = Compiled("convolution by rows", products.by_row)
DEPTHWISE = Compiled("depthwise convolution", products.depthwise)
WEIGHT_GRADIENT = Compiled("the weight gradient of convolution", products.weight_gradient)
DEPTHWISE_GRADIENT = Compiled("the weight gradient of depthwise convolution", products.depthwise_gradient)
TRANSPOSITION = Compiled("panels of weights", products.transposition)
PADDING = Compiled("padded planes", products.padding)


@dataclass(frozen=True)
class Weights:
    """Weights (O, C / groups, taps) as a convolution takes them; `backward`, as its input gradient does, from O to C."""

    array: Array
    groups: int
    backward: bool = False

    @property
    def inner(self) -> int:
        """Channels of a group on the side that is read."""
        return int(self.array.shape[0]) // self.groups if self.backward else int(self.array.shape[1])

    @property
    def outer(self) -> int:
        """Channels of a group on the side that is written."""
        return int(self.array.shape[1]) if self.backward else int(self.array.shape[0]) // self.groups

    @property
    def alone(self) -> bool:
        """Whether every channel is worked on by itself."""
        return self.inner == 1 and self.outer <= MULTIPLES

    def plain(self) -> Array:
        """(groups * outer, inner, taps) in one piece."""
        if not self.backward:
            return self.array
        O, C, taps = self.array.shape
        turned = self.array.reshape(self.groups, O // self.groups, C, taps).swapaxes(1, 2)
        return np.ascontiguousarray(turned).reshape(self.groups * C, O // self.groups, taps)

    def panels(self, tile: Tile) -> Array | None:
        """(groups, panels, inner * taps, columns of a tile)."""
        outer, inner, taps, wide = self.outer, self.inner, self.array.shape[2], tile.width
        count = -(-outer // wide)
        made = np.empty((self.groups, count, inner * taps, wide), self.array.dtype)
        size, group = inner * taps * wide, outer * inner * taps
        sizes: tuple[int, ...]
        if self.backward:
            sizes = (outer, taps, taps, count, inner, group, wide * taps, outer * taps, size * count, size, taps * wide)
        else:
            sizes = (outer, inner * taps, inner * taps, count, 1, group, wide * inner * taps, 0, size * count, size, 0)
        items = self.groups * count * sizes[4]
        done = TRANSPOSITION.run((tile,), items, max(1, WORK * items // made.size), self.array, made, *sizes)
        return made if done else None


class _Room:
    """Memory for blocks of padded images; `beyond` the last row, which is read in whole vectors."""

    def __init__(self, plane: Plane, x: Array, threads: int) -> None:
        N, C = x.shape[:2]
        self.plane, self.channels = plane, C
        self.whole = plane.as_it_is
        image = C * plane.size
        self.images = N if self.whole else max(1, min(N, max(threads, BLOCK_BYTES * threads // (image * x.itemsize))))
        self.flat = np.zeros(0 if self.whole else self.images * image + plane.beyond, x.dtype)

    def filled(self, x: Array) -> Array | None:
        """Images as the plane wants them; they themselves where nothing is padded."""
        plane = self.plane
        if self.whole:
            return x
        stride = plane.stride[-1]
        rows = len(plane.sources)
        arguments = (x, self.flat, plane.sources, plane.phases, rows, x.shape[-1], plane.size)
        key = (Tile(BY_DTYPE[x.dtype], 1, 1), stride)
        done = PADDING.run(key, len(x) * self.channels, max(1, WORK // plane.size), *arguments)
        return self.flat if done else None


def correlate(x: Array, weights: Weights, bias: Array | None, reading: Reading, threads: int) -> Array | None:
    """The convolution of images (N, C, *inputs) that lie in one piece; None where there is no code for it."""
    stored = BY_DTYPE[x.dtype]
    out: Array = empty((len(x), weights.groups * weights.outer, *reading.outputs), stored)
    narrow = weights.alone or weights.outer < NARROW
    plane = plane_of(reading, weights.inner, x.itemsize, narrow)
    room = _Room(plane, x, threads)
    run = (_by_row if narrow else _by_pixel)(plane, weights, bias, stored)
    for first in range(0, len(x), room.images):
        part = x[first : first + room.images]
        filled = room.filled(part)
        if filled is None or not run(len(part), filled, out[first : first + room.images]):
            return None
    return out


def _by_pixel(plane: Plane, weights: Weights, bias: Array | None, stored: Stored) -> Any:
    outer, groups = weights.outer, weights.groups
    tile = products.panel_tile(stored, outer)
    panels = weights.panels(tile)
    count = -(-outer // tile.width)
    start = np.zeros((groups, count * tile.width), stored.dtype)
    if bias is not None:
        start[:, :outer] = bias.reshape(groups, outer)
    taps, parts = len(plane.taps), -(-plane.positions // GROUP)
    apart = weights.inner * plane.size * stored.size
    numbers = (plane.positions, taps, parts, count, groups, outer, groups * apart, apart)
    grain = max(1, WORK // (GROUP * taps * tile.width))

    def run(n: int, x: Array, out: Array) -> bool:
        if panels is None:
            return False
        return BY_PIXEL.run((tile,), n * groups * count * parts, grain, x, panels, start, out, plane.pixels, plane.taps, *numbers)

    return run


def _by_row(plane: Plane, weights: Weights, bias: Array | None, stored: Stored) -> Any:
    outer, groups = weights.outer, weights.groups
    length, rows, taps = plane.length, len(plane.rows), len(plane.taps)
    kernels = weights.plain()
    start = np.zeros(groups * outer, stored.dtype) if bias is None else bias
    apart = weights.inner * plane.size * stored.size
    numbers: tuple[int, ...] = (length, rows, taps, groups, outer, groups * apart, apart)
    vectors = 1 if length <= registers().lanes(stored) else 2
    program, lines = BY_ROW, rows
    if weights.alone:
        tile = Tile(stored, min(rows, 4), vectors)
        program, lines = DEPTHWISE, -(-rows // tile.rows)
        numbers = (*numbers, lines)
    else:
        most = 8 if registers().count == 32 else 6
        tile = Tile(stored, -(-outer // -(-outer // most)), vectors)
    grain = max(1, WORK * lines // (rows * length * taps * outer))

    def run(n: int, x: Array, out: Array) -> bool:
        return program.run((tile,), n * groups * lines, grain, x, kernels, start, out, plane.rows, plane.taps, *numbers)

    return run


def input_gradient(grad: Array, weight: Array, window: Window, groups: int, threads: int) -> Array | None:
    """The gradient of images (N, C, *inputs): for each phase of the stride, a convolution with the taps that meet it."""
    O, C = weight.shape[:2]
    stored = BY_DTYPE[grad.dtype]
    out: Array = empty((len(grad), groups * C, *window.inputs), stored)
    for phase in product(*[range(min(s, i)) for s, i in zip(window.stride, window.inputs, strict=True)]):
        taps, reading = backward(window, phase)
        target: tuple[Any, ...] = (..., *[slice(p, None, s) for p, s in zip(phase, window.stride, strict=True)])
        if reading is None:
            out[target] = 0
            continue
        met: tuple[Any, ...] = (..., *taps)
        chosen = np.ascontiguousarray(weight[met]).reshape(O, C, -1)
        part = correlate(grad, Weights(chosen, groups, backward=True), None, reading, threads)
        if part is None or prod(window.stride) == 1:
            return part
        out[target] = part
    return out


def weight_gradient(x: Array, grad: Array, window: Window, groups: int, threads: int) -> Array | None:
    """The gradient of the weights (O, C / groups, *K), from images and the gradient of the result; None: no code."""
    inner, outer = x.shape[1] // groups, grad.shape[1] // groups
    alone = inner == 1 and outer <= MULTIPLES
    plane = plane_of(forward(window), inner, x.itemsize, alone)
    found = _depthwise_gradient(x, grad, plane, groups, threads) if alone else _full_gradient(x, grad, plane, groups, threads)
    return None if found is None else found.reshape(grad.shape[1], inner, *window.kernel)


def _full_gradient(x: Array, grad: Array, plane: Plane, groups: int, threads: int) -> Array | None:
    N, O, stored, P, taps = len(x), grad.shape[1], BY_DTYPE[x.dtype], plane.positions, len(plane.taps)
    outer = O // groups
    tile = products.panel_tile(stored, outer)
    count, parts = -(-outer // tile.width), -(-taps // GROUP)
    out = np.zeros((groups, count, parts * GROUP, tile.width), stored.dtype)
    room = _Room(plane, x, threads)
    image_bytes = max(O * P, x[0].size) * x.itemsize
    images = max(1, min(room.images, BLOCK_BYTES * threads // image_bytes))
    panels = np.empty((groups, count, images * P * tile.width), stored.dtype)
    apart = x.shape[1] // groups * plane.size * x.itemsize
    steps = (np.arange(images, dtype=np.int64)[:, None] * (groups * apart) + plane.pixels[:P]).reshape(-1)
    for first in range(0, N, images):
        given = grad[first : first + images]
        filled = room.filled(x[first : first + images])
        n = len(given)
        size = n * P * tile.width
        sizes = (outer, P, P, count, groups, O * P, tile.width * P, outer * P, P * tile.width, size, size * count)
        numbers = (taps, n * P, parts, count, apart)
        if (
            filled is None
            or not TRANSPOSITION.run((tile,), n * count * groups, max(1, WORK // (P * tile.width)), given, panels, *sizes)
            or not WEIGHT_GRADIENT.run(
                (tile,),
                groups * count * parts,
                max(1, WORK // (GROUP * size)),
                filled,
                panels,
                out,
                plane.filled_taps,
                steps,
                *numbers,
            )
        ):
            return None
    return out[:, :, :taps].transpose(0, 1, 3, 2).reshape(groups, count * tile.width, taps)[:, :outer].reshape(O, taps)


def _depthwise_gradient(x: Array, grad: Array, plane: Plane, groups: int, threads: int) -> Array | None:
    O, taps = grad.shape[1], len(plane.taps)
    tile = Tile(BY_DTYPE[x.dtype], min(taps, 9), 1)
    steps = np.concatenate([plane.taps, np.repeat(plane.taps[-1:], -taps % tile.rows)])
    apart = plane.size * x.itemsize
    room = _Room(plane, x, threads)
    out = None
    for first in range(0, len(x), room.images):
        given = grad[first : first + room.images]
        filled = room.filled(x[first : first + room.images])
        part = np.empty((O, taps), x.dtype)
        numbers = (plane.length, len(plane.rows), taps, len(given), O, O // groups, groups * apart, apart)
        grain = max(1, WORK // (given[:, 0].size * taps))
        if filled is None or not DEPTHWISE_GRADIENT.run((tile,), O, grain, filled, given, part, plane.rows, steps, *numbers):
            return None
        out = part if out is None else out + part
    return out
