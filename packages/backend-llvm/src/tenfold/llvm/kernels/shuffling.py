"""Channels to space and back, in one copy: composites of tenfold-nn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.llvm.formats import in_one_piece, order_of
from tenfold.llvm.kernels.attaching import chosen

Array = np.ndarray[Any, Any]


def _served(input: Any, r: Any) -> bool:
    if type(r) is not int or r <= 0 or type(input) is not np.ndarray or input.ndim < 3 or not input.size:
        return False
    return input.flags.c_contiguous and order_of(input) is None


def pixel_shuffle(input: Array, upscale_factor: Any) -> Any:
    """(*, C r^2, H, W) as (*, C, H r, W r); NotImplemented for the body."""
    r = upscale_factor
    if not _served(input, r) or input.shape[-3] % (r * r):
        return NotImplemented
    *lead, channels, high, wide = input.shape
    taken = input.reshape(-1, r, r, high, wide).transpose(0, 3, 1, 4, 2)
    return in_one_piece(taken).reshape(*lead, channels // (r * r), high * r, wide * r)


def pixel_unshuffle(input: Array, downscale_factor: Any) -> Any:
    """(*, C, H r, W r) as (*, C r^2, H, W); NotImplemented for the body."""
    r = downscale_factor
    if not _served(input, r) or input.shape[-1] % r or input.shape[-2] % r:
        return NotImplemented
    *lead, channels, high, wide = input.shape
    taken = input.reshape(-1, high // r, r, wide // r, r).transpose(0, 2, 4, 1, 3)
    return in_one_piece(taken).reshape(*lead, channels * r * r, high // r, wide // r)


chosen("pixel_shuffle", pixel_shuffle, 2, "floats in one piece, where no gradient is recorded")
chosen("pixel_unshuffle", pixel_unshuffle, 2, "floats in one piece, where no gradient is recorded")
