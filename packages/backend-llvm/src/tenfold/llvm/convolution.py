"""Convolutions by gathered products: which product serves which sizes, over blocks of padded images that stay in the cache."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm import channels, depthwise, products, winograd_calls
from tenfold.llvm.planes import Plane, Reading, Sizes, Window, backward, forward, plane_of
from tenfold.llvm.products import GROUP, Tile
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import BY_DTYPE, Stored
from tenfold.llvm.writer import registers

Array = np.ndarray[Any, Any]

BLOCK_BYTES = 1 << 20  # of padded images that are worked on together, for each thread
FEW = 12  # pixels of an output plane, below which those of several images are worked on together
NARROW = 12  # output channels below which lanes for channels stand empty, so that pixels fill them
ROWS_BYTES = 1 << 13  # of the rows of all input channels that output rows are computed from together
SHALLOW = 200  # taps of all input channels up to which lanes may be pixels though there are channels enough
MULTIPLES = 2  # output channels of one input channel up to which every channel is worked on by itself
WORK = 1 << 16  # multiplications for which a second thread is woken

BY_PIXEL = Compiled("convolution by pixels", products.by_pixel, vectors=True)
BY_ROW = Compiled("convolution by rows", products.by_row)
DEPTHWISE = Compiled("depthwise convolution", depthwise.correlation)
BY_PLACE = Compiled("convolution by places", products.by_place, vectors=True)
DEPTHWISE_GRADIENT = Compiled("the weight gradient of depthwise convolution", depthwise.gradient)
TRANSPOSITION = Compiled("panels of weights", products.transposition, vectors=True)
PADDING = Compiled("padded planes", products.padding, vectors=True)


@dataclass(frozen=True)
class Weights:
    """Weights (O, C / groups, taps) as a convolution takes them; `backward`, as its input gradient does, from O to C.

    `part` of the taps, of all that lie in `array`.
    """

    array: Array
    groups: int
    backward: bool = False
    part: slice | None = None

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
        array = self.array[..., self.part or slice(None)]
        O, C, taps = array.shape
        turned = array.reshape(self.groups, O // self.groups, C, taps).swapaxes(1, 2)
        return np.ascontiguousarray(turned).reshape(self.groups * C, O // self.groups, taps)

    def panels(self, tile: Tile) -> Array | None:
        """(groups, panels, inner * taps, columns of a tile)."""
        every, wide = self.array.shape[2], tile.width
        outer, inner, part = self.outer, self.inner, self.part or slice(0, every)
        taps, count = part.stop - part.start, -(-outer // wide)
        made = _unfilled((self.groups, count, inner * taps, wide), outer, self.array.dtype)
        size, group = inner * taps * wide, outer * inner * every
        source = self.array.reshape(-1)[part.start :]
        sizes: tuple[int, ...]
        if self.backward:
            sizes = (outer, taps, every, wide, count, inner, group, wide * every, outer * every, size * count, size, taps * wide)
        else:
            sizes = (outer, inner * taps, inner * taps, wide, count, 1, group, wide * inner * taps, 0, size * count, size, 0)
        items = self.groups * count * sizes[5]
        done = TRANSPOSITION.run((tile,), items, max(1, WORK * items // made.size), source, made, *sizes)
        return made if done else None


def _unfilled(shape: Sizes, outer: int, dtype: np.dtype[Any]) -> Array:
    """Memory for panels; columns behind the last channel are 0: subnormal numbers there would take some processors long."""
    return (np.zeros if outer % shape[-1] else np.empty)(shape, dtype)


class _Room:
    """Memory for blocks of padded images; `beyond` the last row, which is read in whole vectors.

    None is needed where they lie as they should, and where channels are worked on `alone` and the stack takes a plane.
    """

    def __init__(self, plane: Plane, x: Array, threads: int, alone: bool = False) -> None:
        N, C = x.shape[:2]
        self.plane, self.channels = plane, C
        image = C * plane.size
        in_order = plane.stride[-1] > 1 or prod(plane.stride) == 1  # rows come one below the other
        self.local = alone and in_order and (plane.size + plane.beyond) * x.itemsize <= depthwise.LOCAL_BYTES
        self.whole = plane.as_it_is or self.local
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
    if weights.groups == 1 and weights.array.shape[2] == 1:
        mixed = channels.correlate(x, weights.array[..., 0], bias, weights.backward, reading)
        if mixed is not None:
            return mixed
    m = winograd_calls.tile_for(x, weights, reading)
    found = winograd_calls.correlate(x, weights, bias, reading, m, threads) if m else None
    if found is None:
        return direct(x, weights, bias, reading, threads)
    out, strange = found
    if strange.all():
        return direct(x, weights, bias, reading, threads)
    if strange.any():
        again = direct(np.ascontiguousarray(x[strange]), weights, bias, reading, threads)
        if again is None:
            return None
        out[strange] = again
    return out


def direct(x: Array, weights: Weights, bias: Array | None, reading: Reading, threads: int) -> Array | None:
    """The same without minimal filtering: what is infinite or no number stays within its windows."""
    stored = BY_DTYPE[x.dtype]
    out: Array = empty((len(x), weights.groups * weights.outer, *reading.outputs), stored)
    narrow = weights.alone or weights.outer < NARROW or _shallow(reading, weights, stored)
    plane = plane_of(reading, weights.inner, x.itemsize, narrow)
    room = _Room(plane, x, threads, alone=weights.alone)
    if weights.alone:
        run = _depthwise(plane, weights, bias, stored, room)
    elif narrow:
        run = _by_row(plane, weights, bias, stored)
    else:
        run = (_by_pixel if plane.positions >= FEW else _by_place)(plane, weights, bias, stored)
    for first in range(0, len(x), room.images):
        part = x[first : first + room.images]
        filled = room.filled(part)
        if filled is None or not run(len(part), filled, out[first : first + room.images]):
            return None
    return out


def _shallow(reading: Reading, weights: Weights, stored: Stored) -> bool:
    """Whether lanes for pixels take less time than lanes for channels, though there are channels enough."""
    taps, pixels = weights.inner * prod(map(len, reading.offsets)), prod(reading.outputs)
    return taps <= SHALLOW and products.by_rows(stored, taps, pixels, reading.outputs[-1], weights.outer)


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
        items, tables = n * groups * count * parts, (plane.pixels, plane.taps)
        return BY_PIXEL.run((tile, plane.run), items, grain, x, panels, start, out, *tables, *numbers)

    return run


def _by_place(plane: Plane, weights: Weights, bias: Array | None, stored: Stored) -> Any:
    """Planes of few pixels: those of all images in one table, and results that are put in order afterwards."""
    outer, groups, P, taps = weights.outer, weights.groups, plane.positions, len(plane.taps)
    tile = products.panel_tile(stored, outer)
    panels = weights.panels(tile)
    count = -(-outer // tile.width)
    apart = weights.inner * plane.size * stored.size
    grain = max(1, WORK // (GROUP * taps * tile.width))

    def run(n: int, x: Array, out: Array) -> bool:
        if panels is None:
            return False
        places, filled = n * P, -(-n * P // GROUP) * GROUP
        where = (np.arange(n, dtype=np.int64)[:, None] * (groups * apart) + plane.pixels[:P]).reshape(-1)
        where = np.concatenate([where, np.repeat(where[-1:], filled - places)])
        found = np.zeros((groups, count, filled, tile.width), stored.dtype)
        numbers = (places, taps, filled // GROUP, count, apart)
        if not BY_PLACE.run((tile,), groups * count * (filled // GROUP), grain, x, panels, found, where, plane.taps, *numbers):
            return False
        result = found[:, :, :places].reshape(groups, count, n, P, tile.width).transpose(2, 0, 1, 4, 3)
        result = result.reshape(n, groups, count * tile.width, P)[:, :, :outer]
        np.copyto(out.reshape(n, groups, outer, P), result)
        if bias is not None:
            out += bias.reshape(-1, *[1] * (out.ndim - 2))
        return True

    return run


def _by_row(plane: Plane, weights: Weights, bias: Array | None, stored: Stored) -> Any:
    outer, groups = weights.outer, weights.groups
    length, rows, taps = plane.length, len(plane.rows), len(plane.taps)
    kernels = weights.plain()
    start = np.zeros(groups * outer, stored.dtype) if bias is None else bias
    apart = weights.inner * plane.size * stored.size
    tile = products.row_tile(stored, length, outer)
    block = max(1, min(rows, ROWS_BYTES // (weights.inner * prod(plane.stride) * plane.line)))
    blocks = -(-rows // block)
    numbers = (length, rows, taps, groups, outer, groups * apart, apart, block, blocks)
    grain = max(1, WORK // (block * length * taps * outer))

    def run(n: int, x: Array, out: Array) -> bool:
        return BY_ROW.run((tile,), n * groups * blocks, grain, x, kernels, start, out, plane.rows, plane.taps, *numbers)

    return run


def _planes(plane: Plane, x: Array, groups: int, local: bool) -> tuple[Any, ...]:
    """The words that say where the planes of channels are, as depthwise.py reads them."""
    apart = plane.size * x.itemsize
    inputs, length = len(plane.sources), x.shape[-1]
    filled = (plane.size + plane.beyond) * x.itemsize if local else 0
    return plane.sources, plane.phases, inputs, length, filled, groups, groups * apart, apart


def _depthwise(plane: Plane, weights: Weights, bias: Array | None, stored: Stored, room: _Room) -> Any:
    outer, groups = weights.outer, weights.groups
    length, rows, taps = plane.length, len(plane.rows), len(plane.taps)
    kernels = weights.plain()
    start = np.zeros(groups * outer, stored.dtype) if bias is None else bias
    vectors = 1 if length <= registers().lanes(stored) else 2
    high = plane.height in depthwise.HEIGHTS
    close = depthwise.Taps(plane.height, plane.falling) if high else depthwise.Taps()
    tile = Tile(stored, depthwise.tile_rows(vectors, rows, close), vectors)
    parts = -(-rows // tile.rows)
    work, stride = rows * length * taps * outer, plane.stride[-1] if room.local else 0
    numbers = (length, rows, taps, outer, parts, plane.line)

    def run(n: int, x: Array, out: Array) -> bool:
        items = n * groups * (1 if room.local else parts)
        where = _planes(plane, x, groups, room.local)
        tables = (x, kernels, start, out, plane.rows, plane.taps)
        return DEPTHWISE.run((tile, stride, close), items, max(1, WORK * items // (n * groups * work)), *where, *tables, *numbers)

    return run


def input_gradient(grad: Array, weight: Array, window: Window, groups: int, threads: int) -> Array | None:
    """The gradient of images (N, C, *inputs): for each phase of the stride, a convolution with the taps that meet it."""
    O, C = weight.shape[:2]
    kernels = weight.reshape(O, C, -1)
    if prod(window.stride) == 1:
        _, reading = backward(window, (0,) * len(window.stride))
        assert reading is not None
        return correlate(grad, Weights(kernels, groups, backward=True), None, reading, threads)
    out: Array = empty((len(grad), groups * C, *window.inputs), BY_DTYPE[grad.dtype])
    order, parts = _by_phase(window)
    kernels = kernels.take(order, 2)
    for phase, part, reading in parts:
        target: tuple[Any, ...] = (..., *[slice(p, None, s) for p, s in zip(phase, window.stride, strict=True)])
        if reading is None:
            out[target] = 0
            continue
        found = correlate(grad, Weights(kernels, groups, backward=True, part=part), None, reading, threads)
        if found is None:
            return None
        out[target] = found
    return out


@lru_cache(maxsize=256)
def _by_phase(window: Window) -> tuple[Array, list[tuple[Sizes, slice, Reading | None]]]:
    """The taps in the order of the phases that they serve; of each phase its taps in that order, and what it reads."""
    taps = np.arange(prod(window.kernel)).reshape(window.kernel)
    order: list[int] = []
    parts = []
    for phase in product(*[range(min(s, i)) for s, i in zip(window.stride, window.inputs, strict=True)]):
        met, reading = backward(window, phase)
        first = len(order)
        if reading is not None:
            order += taps[met].reshape(-1).tolist()
        parts.append((phase, slice(first, len(order)), reading))
    return np.array(order, np.intp), parts


def weight_gradient(x: Array, grad: Array, window: Window, groups: int, threads: int) -> Array | None:
    """The gradient of the weights (O, C / groups, *K), from images and the gradient of the result; None: no code."""
    inner, outer = x.shape[1] // groups, grad.shape[1] // groups
    alone = inner == 1 and outer <= MULTIPLES
    mixed = channels.weight_gradient(x, grad, forward(window)) if groups == 1 and prod(window.kernel) == 1 else None
    if mixed is not None:
        return mixed.reshape(outer, inner, *window.kernel)
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
    panels = _unfilled((groups, count, images * P, tile.width), outer, stored.dtype)
    apart = x.shape[1] // groups * plane.size * x.itemsize
    steps = (np.arange(images, dtype=np.int64)[:, None] * (groups * apart) + plane.pixels[:P]).reshape(-1)
    for first in range(0, N, images):
        given = grad[first : first + images]
        filled = room.filled(x[first : first + images])
        n = len(given)
        size = n * P * tile.width
        sizes = (outer, P, P, tile.width, count, groups, O * P, tile.width * P, outer * P, P * tile.width, size, size * count)
        numbers = (taps, n * P, parts, count, apart)
        if (
            filled is None
            or not TRANSPOSITION.run((tile,), n * count * groups, max(1, WORK // (P * tile.width)), given, panels, *sizes)
            or not BY_PLACE.run(
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
    return turned(out, outer, taps)


def turned(panels: Array, outer: int, taps: int) -> Array | None:
    """(groups, panels, taps and more, columns) as (groups * outer, taps)."""
    groups, count, filled, wide = panels.shape
    made = np.empty((groups * outer, taps), panels.dtype)
    tile = Tile(BY_DTYPE[panels.dtype], 1, 1)
    parts = -(-taps // tile.width)
    for panel in range(count):
        columns = min(wide, outer - panel * wide)
        source, target = panels.reshape(-1)[panel * filled * wide :], made.reshape(-1)[panel * wide * taps :]
        sizes = (taps, columns, wide, taps, parts, 1, count * filled * wide, tile.width * wide, 0, outer * taps, tile.width, 0)
        if not TRANSPOSITION.run((tile,), groups * parts, max(1, WORK // (tile.width * wide)), source, target, *sizes):
            return None
    return made


def _depthwise_gradient(x: Array, grad: Array, plane: Plane, groups: int, threads: int) -> Array | None:
    O, taps = grad.shape[1], len(plane.taps)
    tile = Tile(BY_DTYPE[x.dtype], min(taps, 9), 1)
    steps = np.concatenate([plane.taps, np.repeat(plane.taps[-1:], -taps % tile.rows)])
    room = _Room(plane, x, threads, alone=True)
    key = (tile, plane.stride[-1] if room.local else 0)
    out = None
    for first in range(0, len(x), room.images):
        given = grad[first : first + room.images]
        filled = room.filled(x[first : first + room.images])
        if filled is None:
            return None
        part = np.empty((O, taps), x.dtype)
        tables = (filled, given, part, plane.rows, steps)
        numbers = (plane.length, len(plane.rows), taps, len(given), O, O // groups)
        grain = max(1, WORK // (given[:, 0].size * taps))
        if not DEPTHWISE_GRADIENT.run(key, O, grain, *_planes(plane, filled, groups, room.local), *tables, *numbers):
            return None
        out = part if out is None else out + part
    return out
