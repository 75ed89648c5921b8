"""Calls of convolutions by minimal filtering: which are served, in which blocks, and what of them has to be done otherwise."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tenfold.llvm import winograd
from tenfold.llvm.planes import Reading
from tenfold.llvm.products import Tile
from tenfold.llvm.programs import Compiled, empty
from tenfold.llvm.storage import FLOAT32, Stored
from tenfold.llvm.winograd_matrices import TAPS
from tenfold.llvm.writer import registers

if TYPE_CHECKING:
    from tenfold.llvm.direct import Form

Array = np.ndarray[Any, Any]

CONVOLUTION = Compiled("convolution by minimal filtering", winograd.convolution, vectors=True)
WEIGHTS = Compiled("weights for minimal filtering", winograd.weights, vectors=True)

MOST_TILES, FEW_TILES = 120, 48  # in a block
BLOCKS = 4  # of each thread, at least
LINE = 16  # numbers in a line of the cache
# What was measured to be faster than direct convolutions (Zen 3, AVX2).
WIDE = 32  # bytes of a register
LEAST_CHANNELS, LEAST_USED = 16, 0.6  # of a tile's results
LEAST_TILES = {2: 64, 4: 128}
WINDOWS = (((0, 1, 2),) * 2, ((2, 1, 0),) * 2)  # of 3x3, from the first tap to the last and back
SIZES = (4, 2, 0)
_tile = 2


def _odd_lines(count: int) -> int:
    """At least `count` numbers, in an odd number of the cache's lines: steps of so many meet all of its sets."""
    return (-(-count // LINE) | 1) * LINE


def set_tile(size: int) -> None:
    """See `tenfold.llvm.set_winograd_tile`."""
    global _tile
    if size not in SIZES:
        raise ValueError(f"set_winograd_tile: got {size!r}; the size of a tile is one of 0, 2, 4")
    _tile = size


def get_tile() -> int:
    """What was set."""
    return _tile


def tile_for(most: int, images: int, form: Form, reading: Reading, stored: Stored) -> int:
    """The side of a tile, `most` at most; 0 for convolutions that are none by minimal filtering, or are slower so."""
    if stored is not FLOAT32 or form.groups > 1 or reading.stride != (1, 1) or registers().bytes < WIDE:
        return 0
    if reading.offsets not in WINDOWS or min(form.inner, form.outer) < LEAST_CHANNELS:
        return 0
    return next((m for m in SIZES if 0 < m <= most and _fills(m, images, reading.outputs)), 0)


def _fills(m: int, images: int, outputs: tuple[int, ...]) -> bool:
    """Whether there are enough tiles of this size for what the weights' transformation costs, and enough results in them."""
    tiles = images * prod(-(-size // m) for size in outputs)
    return tiles >= LEAST_TILES[m] and images * prod(outputs) >= LEAST_USED * tiles * m * m


@lru_cache(maxsize=64)
def _inside(left: int, width: int, beyond: int) -> tuple[Array, Array]:
    """Which numbers of a padded row are none of the padding, and a row of padding."""
    found = np.zeros(left + width + beyond, np.int32)
    found[left : left + width] = -1
    return found, np.zeros(len(found), np.float32)


def _rows(across: int, vectors: int, total: int, threads: int) -> int:
    """Rows of tiles in a block: few lanes stand empty, and all threads have work."""
    shared = max(-(-total // (BLOCKS * threads)), FEW_TILES // across)
    most = max(1, min(MOST_TILES // across, shared))
    return max(range(-(-most // 2), most + 1), key=lambda r: (r * across / (-(-r * across // vectors) * vectors), r))


def correlate(
    x: Array, weight: Array, form: Form, bias: Array | None, reading: Reading, m: int, threads: int
) -> tuple[Array, Array] | None:
    """Results, and which images hold some that are no finite numbers; None where there is no code."""
    stored, lanes, tile = FLOAT32, registers().lanes(FLOAT32), winograd.tile_of(FLOAT32)
    (N, C, H, W), O, (high, wide) = x.shape, form.outer, reading.outputs
    panels = form.panels(Tile(stored, 1, 1))(weight)
    if panels is None:
        return None
    count, positions = -(-O // lanes), (m + TAPS - 1) ** 2
    turned = np.empty((positions, count, C, lanes), stored.dtype)
    if not WEIGHTS.run((stored, m, reading.offsets[0][0] > 0), count * C, 1 << 8, panels, turned, count * C):
        return None
    down, across = -(-high // m), -(-wide // m)
    rows = N * down
    most = _rows(across, tile.width, rows, threads)
    line = _odd_lines(-(-most * across // tile.width) * tile.width + lanes)
    in_step, out_step = ((n * line // LINE | 1) * LINE for n in (C, count * lanes))
    slot = positions * (in_step + out_step) + LINE
    items, slots = -(-rows // most), threads + 2
    top, left = reading.before
    inside, nothing = _inside(left, W, m * (across + 2 * lanes) + 64)
    scratch = empty((slots * slot,), stored)
    flags, used = np.empty(items, np.int64), np.zeros(slots * winograd.SLOT_WORDS, np.int64)
    start = np.zeros(O, stored.dtype) if bias is None else bias
    out: Array = empty((N, O, high, wide), stored)
    done = CONVOLUTION.run(
        (stored, m), items, 1, x, turned, start, out, inside, nothing, used, scratch, flags, C, O, count, H, W, high, wide, top,
        left, down, across, rows, most, line, in_step, out_step, slot,
    )  # fmt: skip
    if not done:
        return None
    odd = np.zeros(N, bool)
    for item in np.flatnonzero(flags):
        odd[item * most // down : -(-min(rows, (item + 1) * most) // down)] = True
    return out, odd
