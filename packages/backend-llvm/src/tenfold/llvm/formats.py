"""The order of dimensions in memory: arrays in one piece for kernels that want channels first, results as PyTorch lays them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm.kernels.copies import clone
from tenfold.types.memory_format import contiguous_format, suggested_format

Array = np.ndarray[Any, Any]
Order = tuple[int, ...]
SMALL = 1 << 11  # elements that NumPy has copied before it is known how they lie


def order_of(*arrays: Array) -> Order | None:
    """The order of a result's dimensions, from the outermost on: channels last where an array suggests it; None: as usual."""
    for x in arrays:
        if x.ndim > 3 and x.strides[1] <= x.strides[-1]:  # channels first is told soonest
            order = suggested_format(x).order
            if order:
                return order
    return None


def in_one_piece(x: Array) -> Array:
    """The array, or a copy, row by row."""
    if x.flags.carray:
        return x
    if x.size < SMALL:
        return x.copy()
    found = clone(x, contiguous_format)
    made: Array = np.ascontiguousarray(x) if found is NotImplemented else found
    return made


def ordered(x: Array, order: Order | None) -> Array:
    """The array, or a copy, with its dimensions in this order in memory; those of size 1 have strides of this order, too."""
    if order is None:
        return x
    turned = x.transpose(order)
    found = clone(turned, contiguous_format)
    return (turned.copy() if found is NotImplemented else found).transpose(np.argsort(order))


def last(x: Array) -> Array | None:
    """The array as rows of channels, where it lies so."""
    turned = np.moveaxis(x, 1, -1)
    return turned.reshape(-1, x.shape[1]) if turned.flags.carray else None


LAST, FIRST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}, {4: (0, 3, 1, 2), 5: (0, 4, 1, 2, 3)}


def channels_last(x: Array) -> Array | None:
    """The images or volumes with the channels as last dimension, where they lie so in one piece and suggest it."""
    if x.ndim not in LAST or x.strides[1] > x.strides[-1]:  # channels first is told soonest
        return None
    moved = x.transpose(LAST[x.ndim])
    sure = min(x.shape) > 1  # else strides that mean nothing may suggest either
    return moved if moved.flags.carray and (sure or order_of(x)) else None


def channels_first(x: Array) -> Array:
    """What `channels_last` made of images or volumes, undone."""
    return x.transpose(FIRST[x.ndim])
