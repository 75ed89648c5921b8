"""Direct convolutions of images of known sizes: which product serves them, and all that a call needs besides its numbers.

What follows from sizes alone (tables, tiles, the words of each loop) is worked out once in a plan: for one small image that takes
several times as long as the convolution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm import depthwise, products
from tenfold.llvm.planes import Plane, Reading, Sizes, plane_of
from tenfold.llvm.products import GROUP, Tile
from tenfold.llvm.programs import Compiled, allocator
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import registers

Array = np.ndarray[Any, Any]
Prepared = tuple[Array, Array | None] | None  # weights and first sums as a product reads them; None: no code
Convolution = Callable[[Array, Array, "Array | None"], "Array | None"]

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
TRANSPOSITION = Compiled("panels of weights", products.transposition, vectors=True)
PADDING = Compiled("padded planes", products.padding, vectors=True)


@dataclass(frozen=True)
class Form:
    """How weights (O, C / groups, taps) are taken: `inner` channels of a group on the side that is read, `outer` on the other.

    `backward`: as the input gradient takes them, from O to C; `first` and `count`: its part of the taps, of all that there are.
    """

    outer: int
    inner: int
    taps: int
    groups: int
    backward: bool = False
    first: int = 0
    count: int = 0

    @property
    def alone(self) -> bool:
        """Whether every channel is worked on by itself."""
        return self.inner == 1 and self.outer <= MULTIPLES

    def plain(self, array: Array) -> Array:
        """(groups * outer, inner, taps) in one piece."""
        if not self.backward:
            return array
        turned = array.reshape(self.groups, self.inner, self.outer, self.taps).swapaxes(1, 2)
        return np.ascontiguousarray(turned[..., self.first : self.first + self.count])

    def panels(self, tile: Tile) -> Callable[[Array], Array | None]:
        """What lays weights in one piece out as (groups, panels, inner * taps, columns of a tile)."""
        every, wide, dtype = self.taps, tile.width, tile.stored.dtype
        inner, outer, taps = self.inner, self.outer, self.count if self.backward else self.taps
        count = -(-outer // wide)
        shape, size, group = (self.groups, count, inner * taps, wide), inner * taps * wide, outer * inner * every
        sizes: Sizes = (outer, inner * taps, inner * taps, wide, count, 1, group, wide * inner * taps, 0, size * count, size, 0)
        if self.backward:
            sizes = (outer, taps, every, wide, count, inner, group, wide * every, outer * every, size * count, size, taps * wide)
        items = self.groups * count * sizes[5]
        grain = max(1, WORK * items // prod(shape))
        run, new, first = TRANSPOSITION.bound(tile), unfilled(outer, wide), self.first

        def laid(array: Array) -> Array | None:
            made: Array = new(shape, dtype)
            return made if run(items, grain, array.reshape(-1)[first:] if first else array, made, *sizes) else None

        return laid


def unfilled(outer: int, wide: int) -> Callable[..., Array]:
    """What makes panels; columns behind the last channel are 0: subnormal numbers there would take some processors long."""
    return np.zeros if outer % wide else np.empty


class Room:
    """Memory for blocks of padded images; `beyond` the last row, which is read in whole vectors.

    None is needed where they lie as they should, and where channels are worked on `alone` and the stack takes a plane.
    """

    def __init__(self, plane: Plane, N: int, C: int, stored: Stored, threads: int, alone: bool = False) -> None:
        size = stored.size
        image = C * plane.size
        in_order = plane.stride[-1] > 1 or prod(plane.stride) == 1  # rows come one below the other
        self.local = alone and in_order and (plane.size + plane.beyond) * size <= depthwise.LOCAL_BYTES
        self.whole = plane.as_it_is or self.local
        self.images = N if self.whole else max(1, min(N, max(threads, BLOCK_BYTES * threads // (image * size))))
        self.shape, self.dtype, self.channels = self.images * image + plane.beyond, stored.dtype, C
        self.grain = max(1, WORK // plane.size)
        if not self.whole:
            self.run = PADDING.bound(Tile(stored, 1, 1), plane.stride[-1])
            self.sizes = (plane.sources, plane.phases, len(plane.sources), plane.reading.inputs[-1], plane.size)

    def memory(self) -> Array | None:
        """Zeros for a block, if it takes any."""
        return None if self.whole else np.zeros(self.shape, self.dtype)

    def filled(self, x: Array, flat: Array | None) -> Array | None:
        """Images as the plane wants them, in what `memory` gave; they themselves where nothing is padded."""
        if flat is None:
            return x
        return flat if self.run(len(x) * self.channels, self.grain, x, flat, *self.sizes) else None


class Direct:
    """A convolution of N images without minimal filtering: what is infinite or no number stays within its windows."""

    def __init__(self, reading: Reading, N: int, form: Form, stored: Stored, threads: int) -> None:
        self.N, self.shape, self.dtype = N, (N, form.groups * form.outer, *reading.outputs), stored.dtype
        narrow = form.alone or form.outer < NARROW or _shallow(reading, form, stored)
        plane = plane_of(reading, form.inner, stored.size, narrow)
        self.room = Room(plane, N, form.groups * form.inner, stored, threads, form.alone)
        self.new = allocator(prod(self.shape) * stored.size)
        if form.alone:
            self.prepare, self.run = _depthwise(plane, form, stored, self.room)
        elif narrow:
            self.prepare, self.run = _by_row(plane, form, stored)
        else:
            self.prepare, self.run = (_by_pixel if plane.positions >= FEW else _by_place)(plane, form, stored)

    def __call__(self, x: Array, weight: Array, bias: Array | None) -> Array | None:
        """The convolution of arrays that lie in one piece; None where there is no code for it."""
        prepared, room = self.prepare(weight, bias), self.room
        if prepared is None:
            return None
        flat, out = room.memory(), self.new(self.shape, self.dtype)
        if room.images >= self.N:
            filled = room.filled(x, flat)
            return out if filled is not None and self.run(self.N, filled, out, *prepared) else None
        for first in range(0, self.N, room.images):
            part = x[first : first + room.images]
            filled = room.filled(part, flat)
            if filled is None or not self.run(len(part), filled, out[first : first + room.images], *prepared):
                return None
        return out


Parts = tuple[Callable[[Array, "Array | None"], Prepared], Callable[..., bool]]


def _shallow(reading: Reading, form: Form, stored: Stored) -> bool:
    """Whether lanes for pixels take less time than lanes for channels, though there are channels enough."""
    taps, pixels = form.inner * prod(map(len, reading.offsets)), prod(reading.outputs)
    return taps <= SHALLOW and products.by_rows(stored, taps, pixels, reading.outputs[-1], form.outer)


def _by_pixel(plane: Plane, form: Form, stored: Stored) -> Parts:
    outer, groups = form.outer, form.groups
    tile = products.panel_tile(stored, outer)
    panels, count = form.panels(tile), -(-outer // tile.width)
    taps, parts = len(plane.taps), -(-plane.positions // GROUP)
    apart = form.inner * plane.size * stored.size
    numbers = (plane.pixels, plane.taps, plane.positions, taps, parts, count, groups, outer, groups * apart, apart)
    grain, each = max(1, WORK // (GROUP * taps * tile.width)), groups * count * parts
    bound = BY_PIXEL.bound(tile, plane.run)

    def prepare(weight: Array, bias: Array | None) -> Prepared:
        start = np.zeros((groups, count * tile.width), stored.dtype)
        if bias is not None:
            start[:, :outer] = bias.reshape(groups, outer)
        laid = panels(weight)
        return None if laid is None else (laid, start)

    def run(n: int, x: Array, out: Array, laid: Array, start: Array) -> bool:
        return bound(n * each, grain, x, laid, start, out, *numbers)

    return prepare, run


def _by_place(plane: Plane, form: Form, stored: Stored) -> Parts:
    """Planes of few pixels: those of all images in one table, and results that are put in order afterwards."""
    outer, groups, P, taps = form.outer, form.groups, plane.positions, len(plane.taps)
    tile = products.panel_tile(stored, outer)
    panels, count = form.panels(tile), -(-outer // tile.width)
    apart = form.inner * plane.size * stored.size
    grain, bound = max(1, WORK // (GROUP * taps * tile.width)), BY_PLACE.bound(tile)
    tables: dict[int, Array] = {}  # of the numbers of images in a block, at most two

    def prepare(weight: Array, bias: Array | None) -> Prepared:
        laid = panels(weight)
        return None if laid is None else (laid, bias)

    def places_of(n: int) -> Array:
        where = (np.arange(n, dtype=np.int64)[:, None] * (groups * apart) + plane.pixels[:P]).reshape(-1)
        tables[n] = np.concatenate([where, np.repeat(where[-1:], -(n * P) % GROUP)])
        return tables[n]

    def run(n: int, x: Array, out: Array, laid: Array, bias: Array | None) -> bool:
        places, filled = n * P, -(-n * P // GROUP) * GROUP
        where = tables[n] if n in tables else places_of(n)
        found = np.zeros((groups, count, filled, tile.width), stored.dtype)
        numbers = (places, taps, filled // GROUP, count, apart)
        if not bound(groups * count * (filled // GROUP), grain, x, laid, found, where, plane.taps, *numbers):
            return False
        result = found[:, :, :places].reshape(groups, count, n, P, tile.width).transpose(2, 0, 1, 4, 3)
        result = result.reshape(n, groups, count * tile.width, P)[:, :, :outer]
        np.copyto(out.reshape(n, groups, outer, P), result)
        if bias is not None:
            out += bias.reshape(-1, *[1] * (out.ndim - 2))
        return True

    return prepare, run


def _started(form: Form, stored: Stored) -> Callable[[Array, Array | None], Prepared]:
    """What gives plain weights, and a number for each output channel that its sums begin with."""
    nothing = np.zeros(form.groups * form.outer, stored.dtype)
    return lambda weight, bias: (form.plain(weight), nothing if bias is None else bias)


def _by_row(plane: Plane, form: Form, stored: Stored) -> Parts:
    outer, groups = form.outer, form.groups
    length, rows, taps = plane.length, len(plane.rows), len(plane.taps)
    apart = form.inner * plane.size * stored.size
    tile = products.row_tile(stored, length, outer)
    block = max(1, min(rows, ROWS_BYTES // (form.inner * prod(plane.stride) * plane.line)))
    blocks = -(-rows // block)
    numbers = (plane.rows, plane.taps, length, rows, taps, groups, outer, groups * apart, apart, block, blocks)
    grain, each = max(1, WORK // (block * length * taps * outer)), groups * blocks
    bound = BY_ROW.bound(tile)

    def run(n: int, x: Array, out: Array, kernels: Array, start: Array) -> bool:
        return bound(n * each, grain, x, kernels, start, out, *numbers)

    return _started(form, stored), run


def planes(plane: Plane, stored: Stored, groups: int, local: bool) -> tuple[Any, ...]:
    """The words that say where the planes of channels are, as depthwise.py reads them."""
    apart = plane.size * stored.size
    inputs, length = len(plane.sources), plane.reading.inputs[-1]
    filled = (plane.size + plane.beyond) * stored.size if local else 0
    return plane.sources, plane.phases, inputs, length, filled, groups, groups * apart, apart


def _depthwise(plane: Plane, form: Form, stored: Stored, room: Room) -> Parts:
    outer, groups = form.outer, form.groups
    length, rows, taps = plane.length, len(plane.rows), len(plane.taps)
    vectors = 1 if length <= registers().lanes(stored) else 2
    high = plane.height in depthwise.HEIGHTS
    close = depthwise.Taps(plane.height, plane.falling) if high else depthwise.Taps()
    tile = Tile(stored, depthwise.tile_rows(vectors, rows, close), vectors)
    parts = -(-rows // tile.rows)
    each = groups * (1 if room.local else parts)
    grain = max(1, WORK * each // (groups * rows * length * taps * outer))
    where = planes(plane, stored, groups, room.local)
    numbers = (plane.rows, plane.taps, length, rows, taps, outer, parts, plane.line)
    bound = DEPTHWISE.bound(tile, plane.stride[-1] if room.local else 0, close)

    def run(n: int, x: Array, out: Array, kernels: Array, start: Array) -> bool:
        return bound(n * each, grain, *where, x, kernels, start, out, *numbers)

    return _started(form, stored), run
