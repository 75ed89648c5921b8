"""The gradient of a convolution's weights, from images and the gradient of the result: plans for known sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm import channels, depthwise, products
from tenfold.llvm.direct import BLOCK_BYTES, BY_PLACE, MULTIPLES, TRANSPOSITION, WORK, Room, planes, unfilled
from tenfold.llvm.planes import LARGE, Kept, Plane, Window, forward, plane_of
from tenfold.llvm.products import GROUP, Tile
from tenfold.llvm.programs import Compiled
from tenfold.llvm.storage import BY_DTYPE, Stored

Array = np.ndarray[Any, Any]
Gradient = Callable[[Array, Array], "Array | None"]  # of images and the gradient of the result

DEPTHWISE_GRADIENT = Compiled("the weight gradient of depthwise convolution", depthwise.gradient)


@Kept
def weight_gradient(window: Window, N: int, C: int, O: int, groups: int, stored: Stored, threads: int) -> Gradient:
    """The plan of the gradient of weights (O, C / groups, *K), which gives None where there is no code."""
    shape = (O, C // groups, *window.kernel)
    reading = forward(window)
    alone = groups == C and O // groups <= MULTIPLES
    plane = plane_of(reading, C // groups, stored.size, alone)
    room = Room(plane, N, C, stored, threads, alone)
    sizes = (N, C, O, groups)
    made = _by_channel(plane, room, *sizes, stored) if alone else _full(plane, room, *sizes, stored, threads)

    def shaped(x: Array, grad: Array) -> Array | None:
        found = made(x, grad)
        return None if found is None else found.reshape(shape)

    def mixed(x: Array, grad: Array) -> Array | None:
        found = channels.weight_gradient(x, grad, reading)
        return shaped(x, grad) if found is None else found.reshape(shape)

    return mixed if groups == 1 and prod(window.kernel) == 1 else shaped


def _full(plane: Plane, room: Room, N: int, C: int, O: int, groups: int, stored: Stored, threads: int) -> Gradient:
    """Places are taps, steps pixels, of a block of images after the other; the result's gradient stands in panels."""
    outer, P, taps, dtype = O // groups, plane.positions, len(plane.taps), stored.dtype
    tile = products.panel_tile(stored, outer)
    count, parts = -(-outer // tile.width), -(-taps // GROUP)
    block_bytes = BLOCK_BYTES * threads
    images = max(1, min(room.images, LARGE // P, block_bytes // (max(O * P, C * prod(plane.reading.inputs)) * stored.size)))
    shape, panels = (groups, count, parts * GROUP, tile.width), (groups, count, images * P, tile.width)
    apart = C // groups * plane.size * stored.size
    steps = (np.arange(images, dtype=np.int64)[:, None] * (groups * apart) + plane.pixels[:P]).reshape(-1)
    turn, multiply, new = TRANSPOSITION.bound(tile), BY_PLACE.bound(tile), unfilled(outer, tile.width)
    grain, turned = max(1, WORK // (P * tile.width)), turning(stored, groups, count, parts * GROUP, tile.width, outer, taps)

    def block(n: int, grad: Array, filled: Array, laid: Array, out: Array) -> bool:
        size = n * P * tile.width
        sizes = (outer, P, P, tile.width, count, groups, O * P, tile.width * P, outer * P, P * tile.width, size, size * count)
        tables = (plane.filled_taps, steps, taps, n * P, parts, count, apart)
        share = max(1, WORK // (GROUP * size))
        return turn(n * count * groups, grain, grad, laid, *sizes) and multiply(
            groups * count * parts, share, filled, laid, out, *tables
        )

    def found(x: Array, grad: Array) -> Array | None:
        out, laid, flat = np.zeros(shape, dtype), new(panels, dtype), room.memory()
        for first in range(0, N, images):
            whole = images >= N
            filled = room.filled(x if whole else x[first : first + images], flat)
            given = grad if whole else grad[first : first + images]
            if filled is None or not block(len(given), given, filled, laid, out):
                return None
        return turned(out)

    return found


@lru_cache(maxsize=256)
def turning(
    stored: Stored, groups: int, count: int, filled: int, wide: int, outer: int, taps: int
) -> Callable[[Array], Array | None]:
    """What makes (groups * outer, taps) of (groups, panels, taps and more, columns)."""
    tile = Tile(stored, 1, 1)
    run, lanes, shape, dtype = TRANSPOSITION.bound(tile), tile.width, (groups * outer, taps), stored.dtype
    parts = -(-taps // lanes)
    grain = max(1, WORK // (lanes * wide))
    each = []
    for panel in range(count):
        columns = min(wide, outer - panel * wide)
        sizes = (taps, columns, wide, taps, parts, 1, count * filled * wide, lanes * wide, 0, outer * taps, lanes, 0)
        each.append((panel * filled * wide, panel * wide * taps, sizes))

    def turned(panels: Array) -> Array | None:
        made = np.empty(shape, dtype)
        flat, goal = panels.reshape(-1), made.reshape(-1)
        done = all(run(groups * parts, grain, flat[start:], goal[to:], *sizes) for start, to, sizes in each)
        return made if done else None

    return turned


def turned(panels: Array, outer: int, taps: int) -> Array | None:
    """(groups, panels, taps and more, columns) as (groups * outer, taps)."""
    return turning(BY_DTYPE[panels.dtype], *panels.shape, outer, taps)(panels)


def _by_channel(plane: Plane, room: Room, N: int, C: int, O: int, groups: int, stored: Stored) -> Gradient:
    taps, dtype = len(plane.taps), stored.dtype
    tile = Tile(stored, min(taps, 9), 1)
    steps = np.concatenate([plane.taps, np.repeat(plane.taps[-1:], -taps % tile.rows)])
    run = DEPTHWISE_GRADIENT.bound(tile, plane.stride[-1] if room.local else 0)
    where = planes(plane, stored, groups, room.local)

    def found(x: Array, grad: Array) -> Array | None:
        out, flat = None, room.memory()
        for first in range(0, N, room.images):
            given = grad[first : first + room.images]
            filled = room.filled(x[first : first + room.images], flat)
            if filled is None:
                return None
            part = np.empty((O, taps), dtype)
            numbers = (plane.rows, steps, plane.length, len(plane.rows), taps, len(given), O, O // groups)
            if not run(O, max(1, WORK // (len(given) * plane.positions * taps)), *where, filled, given, part, *numbers):
                return None
            out = part if out is None else out + part
        return out

    return found
