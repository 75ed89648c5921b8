"""Convolutions of images that lie channels last, and their gradients, by products of gathered numbers: nothing is turned.

A window's elements lie in short runs there. Tables say where each pixel's window begins and how far its elements are from
that, so that the elements are read where they are, and results come in the order that they are to have.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tenfold.llvm import winograd_calls
from tenfold.llvm.direct import BY_PLACE, NARROW, TRANSPOSITION, WORK
from tenfold.llvm.planes import Reading, Window, backward, forward
from tenfold.llvm.products import GROUP, Run, Tile, panel_tile
from tenfold.llvm.programs import empty
from tenfold.llvm.storage import BY_DTYPE, FLOAT32, Stored
from tenfold.llvm.weight_gradients import turned

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]

BLOCK_BYTES = 1 << 20  # of images and results that are worked on together
MANY = 1 << 26  # multiplications from which convolutions of 3x3 by minimal filtering take less time, even with images turned
RUNS = (8, 7, 6, 5, 4, 3, 2)  # lengths of runs that programs are made for


def serves(inner: int, outer: int, images: int, window: Window, stored: Stored) -> bool:
    """Whether a convolution from `inner` to `outer` channels takes less time so than with its images turned before and after."""
    if outer < NARROW:
        return False
    small = images * prod(window.outputs) * prod(window.kernel) * inner * outer < MANY
    filtered = winograd_calls.get_tile() > 0 and stored is FLOAT32 and min(inner, outer) >= winograd_calls.LEAST_CHANNELS
    return small or not filtered or (window.kernel, window.stride, window.dilation) != ((3, 3), (1, 1), (1, 1))


_read = lru_cache(maxsize=512)(forward)
_phase = lru_cache(maxsize=512)(backward)


class Places(NamedTuple):
    """Where numbers lie in images (N, *lengths, C) with zeros around, in bytes."""

    inside: tuple[slice, ...]  # where the images themselves lie
    image: int
    pixels: Array  # of one image
    taps: Array
    run: Run


@lru_cache(maxsize=512)
def _places(reading: Reading, channels: int, size: int, channel_first: bool) -> Places:
    """`channel_first`: taps come in the order channel, then place in the window, as the gradient of images needs them."""
    inside = tuple(slice(b, b + n) for b, n in zip(reading.before, reading.inputs, strict=True))
    apart = [channels * prod(reading.lengths[d + 1 :]) for d in range(len(reading.lengths))]
    pixels = _sums(np.arange(n) * (s * a) for n, s, a in zip(reading.outputs, reading.stride, apart, strict=True))
    taps = _sums(np.array(o) * a for o, a in zip(reading.offsets, apart, strict=True))
    every = np.arange(channels)[:, None] + taps if channel_first else taps[:, None] + np.arange(channels)
    run = Run()
    if not channel_first:
        last = reading.offsets[-1]
        beside = channels * len(last) if all(b - a == 1 for a, b in pairwise(last)) else channels
        count = next((n for n in RUNS if beside % n == 0), 1)
        run = Run(count, 1) if count > 1 else run
    return Places(inside, channels * prod(reading.lengths) * size, pixels * size, every.reshape(-1) * size, run)


def _sums(distances: Any) -> Array:
    found = np.zeros(1, np.int64)
    for along in distances:
        found = np.add.outer(found, along).reshape(-1)
    return found


@lru_cache(maxsize=512)
def _of_images(reading: Reading, channels: int, size: int, channel_first: bool, images: int) -> Array:
    """Where the windows of several images begin, filled up to whole groups."""
    places = _places(reading, channels, size, channel_first)
    found = (np.arange(images)[:, None] * places.image + places.pixels).reshape(-1)
    return np.concatenate([found, np.repeat(found[-1:], -len(found) % GROUP)])


@lru_cache(maxsize=512)
def _filled(reading: Reading, channels: int, size: int) -> Array:
    """Where a window's elements lie, filled up to whole groups."""
    taps = _places(reading, channels, size, False).taps
    return np.concatenate([taps, np.repeat(taps[-1:], -len(taps) % GROUP)])


def _padded(x: Array, reading: Reading, places: Places) -> Array:
    """The images with zeros around."""
    if reading.lengths == x.shape[1:-1]:
        return x
    made = empty((len(x), *reading.lengths, x.shape[-1]), BY_DTYPE[x.dtype])
    made.fill(0)
    made[(slice(None), *places.inside)] = x
    return made


def _strips(matrix: Array, tile: Tile) -> Array:
    """A matrix (steps, columns) in strips of a tile's columns (strips, steps, columns of a tile)."""
    steps, columns = matrix.shape
    count = -(-columns // tile.width)
    if columns == tile.width:
        return matrix[None]
    made = empty((count, steps, tile.width), tile.stored)
    for k in range(count):
        some = matrix[:, k * tile.width : (k + 1) * tile.width]
        made[k, :, : some.shape[1]] = some
        made[k, :, some.shape[1] :] = 0
    return made


def _turned_strips(matrix: Array, tile: Tile) -> Array | None:
    """The same of a matrix (columns, steps)."""
    columns, steps = matrix.shape
    count = -(-columns // tile.width)
    made = empty((count, steps, tile.width), tile.stored)
    if columns % tile.width:
        made[-1] = 0
    size = steps * tile.width
    sizes = (columns, steps, steps, tile.width, count, 1, 0, tile.width * steps, 0, 0, size, 0)
    return made if TRANSPOSITION.run((tile,), count, max(1, WORK // size), matrix, made, *sizes) else None


def _gathered(
    x: Array, strips: Array | None, bias: Array | None, reading: Reading, tile: Tile, outer: int, first: bool
) -> Array | None:
    """(N, *outputs, outer): of every pixel the products of its window's elements with the strips, and the bias."""
    N, channels, stored = len(x), x.shape[-1], tile.stored
    if strips is None:
        return None
    places = _places(reading, channels, stored.size, first)
    pixels, taps, count = len(places.pixels), len(places.taps), len(strips)
    out: Array = empty((N, *reading.outputs, outer), stored)
    flat = out.reshape(-1, outer)
    images = max(1, BLOCK_BYTES // (places.image + pixels * outer * stored.size))
    for n in range(0, N, images):
        part = _padded(x[n : n + images], reading, places)
        where = _of_images(reading, channels, stored.size, first, len(part))
        many, groups = len(part) * pixels, len(where) // GROUP
        found = empty((count, len(where), tile.width), stored)
        found.fill(0)
        if bias is not None:
            for k in range(count):
                some = bias[k * tile.width : (k + 1) * tile.width]
                found[k, :, : len(some)] = some
        grain = max(1, WORK // (GROUP * taps * tile.width))
        key = (tile, places.run) if places.run.count > 1 else (tile,)
        if not BY_PLACE.run(key, count * groups, grain, part, strips, found, where, places.taps, many, taps, groups, count, 0):
            return None
        target = flat[n * pixels : n * pixels + many]
        for k in range(count):
            some = target[:, k * tile.width : (k + 1) * tile.width]
            np.copyto(some, found[k, :many, : some.shape[1]])
    return out


def correlate(x: Array, weight: Array, bias: Array | None, window: Window) -> Array | None:
    """The convolution (N, *outputs, O) of images (N, *inputs, C) with weights (O, *kernel, C), all in one piece."""
    outer = len(weight)
    tile = panel_tile(BY_DTYPE[x.dtype], outer)
    return _gathered(x, _turned_strips(weight.reshape(outer, -1), tile), bias, _read(window), tile, outer, False)


def input_gradient(grad: Array, weight: Array, window: Window) -> Array | None:
    """The gradient (N, *inputs, C) of the images: for each phase of the stride a convolution with the taps that meet it."""
    channels = weight.shape[-1]
    tile = panel_tile(BY_DTYPE[grad.dtype], channels)
    single = prod(window.stride) == 1
    out = None if single else empty((len(grad), *window.inputs, channels), tile.stored)
    for phase in np.ndindex(*[min(s, i) for s, i in zip(window.stride, window.inputs, strict=True)]):
        met, reading = _phase(window, phase)
        target = (slice(None), *[slice(p, None, s) for p, s in zip(phase, window.stride, strict=True)])
        if reading is None:
            assert out is not None
            out[target] = 0
            continue
        matrix = np.ascontiguousarray(weight[(slice(None), *met)]).reshape(-1, channels)
        found = _gathered(grad, _strips(matrix, tile), None, reading, tile, channels, True)
        if found is None or out is None:
            return found
        out[target] = found
    return out


def weight_gradient(x: Array, grad: Array, window: Window) -> Array | None:
    """The gradient (O, *kernel, C) of the weights, from images and the gradient (N, *outputs, O) of the result."""
    outer, channels, stored = grad.shape[-1], x.shape[-1], BY_DTYPE[x.dtype]
    reading = _read(window)
    tile = panel_tile(stored, outer)
    places, taps = _places(reading, channels, stored.size, False), _filled(reading, channels, stored.size)
    count, groups, pixels, many = -(-outer // tile.width), len(taps) // GROUP, len(places.pixels), len(places.taps)
    out = empty((count, len(taps), tile.width), stored)
    out.fill(0)
    images = max(1, BLOCK_BYTES // (places.image + pixels * outer * stored.size))
    for n in range(0, len(x), images):
        part = _padded(x[n : n + images], reading, places)
        strips = _strips(grad[n : n + images].reshape(-1, outer), tile)
        steps = _of_images(reading, channels, stored.size, False, len(part))
        grain = max(1, WORK // (GROUP * len(part) * pixels * tile.width))
        if not BY_PLACE.run(
            (tile,), count * groups, grain, part, strips, out, taps, steps, many, len(part) * pixels, groups, count, 0
        ):
            return None
    made = turned(out[None], outer, many)
    return None if made is None else made.reshape(outer, *window.kernel, channels)
