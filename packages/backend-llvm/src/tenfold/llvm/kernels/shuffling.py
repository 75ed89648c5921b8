"""Channels to space and back, in one copy: composites of tenfold-nn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.llvm.formats import Order, in_one_piece, order_of, ordered
from tenfold.llvm.kernels.attaching import chosen, quickly
from tenfold.llvm.quick_views import free
from tenfold.tensor.tensor import wrap

Array = np.ndarray[Any, Any]


def _served(input: Any, r: Any) -> bool:
    return type(r) is int and r > 0 and type(input) is np.ndarray and input.ndim > 2 and input.size > 0


def _moved(taken: Array, shape: tuple[int, ...], order: Order | None) -> Array:
    """The elements in this order in memory of their own, as an array of this shape that lies as the input does."""
    made = taken.copy() if taken.flags.carray else in_one_piece(taken)
    return ordered(made.reshape(shape), order)


def pixel_shuffle(input: Array, upscale_factor: Any) -> Any:
    """(*, C r^2, H, W) as (*, C, H r, W r); NotImplemented for the body."""
    r = upscale_factor
    if not _served(input, r) or input.shape[-3] % (r * r):
        return NotImplemented
    *lead, channels, high, wide = input.shape
    taken = input.reshape(-1, r, r, high, wide).transpose(0, 3, 1, 4, 2)
    return _moved(taken, (*lead, channels // (r * r), high * r, wide * r), order_of(input))


def pixel_unshuffle(input: Array, downscale_factor: Any) -> Any:
    """(*, C, H r, W r) as (*, C r^2, H, W); NotImplemented for the body."""
    r = downscale_factor
    if not _served(input, r) or input.shape[-1] % r or input.shape[-2] % r:
        return NotImplemented
    *lead, channels, high, wide = input.shape
    taken = input.reshape(-1, high // r, r, wide // r, r).transpose(0, 2, 4, 1, 3)
    return _moved(taken, (*lead, channels * r * r, high // r, wide // r), order_of(input))


def channel_shuffle(input: Any, groups: Any) -> Any:
    """Channels dealt out from groups in turn, where that moves some and images lie row by row."""
    array = input._array
    if not free(input) or type(groups) is not int or not array.flags.c_contiguous or array.ndim < 3 or min(array.shape[1:]) < 2:
        return NotImplemented
    N, C, *S = array.shape
    if not N or not 1 < groups < C or C % groups:
        return NotImplemented
    made = np.empty((N, C // groups, groups, *S), array.dtype)
    made[...] = array.reshape(N, groups, C // groups, *S).swapaxes(1, 2)
    return wrap(made.reshape(array.shape), CPU)


quickly(channel_shuffle)
chosen("pixel_shuffle", pixel_shuffle, 2, "floats")
chosen("pixel_unshuffle", pixel_unshuffle, 2, "floats")
