"""Convolutions whose windows have one tap, as products of matrices: out[n] = w @ x[n], all images in one go.

The weights' gradient is the sum over n of grad[n] @ x[n] turned. Few channels are left to convolution.py.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm import large_calls
from tenfold.llvm.large_calls import Many, Plan, plan_of, run
from tenfold.llvm.large_products import tile_of
from tenfold.llvm.planes import Reading
from tenfold.llvm.storage import BY_DTYPE, Stored
from tenfold.settings.threads import on_change

Array = np.ndarray[Any, Any]

FEWEST, FEWEST_OUTPUTS = 16, 32  # columns and steps; rows: fewer are not worth the panels that are laid out for them
SHARED = 8  # items of a weight's gradient at the least, for which images are parted


def serves(inner: int, outer: int, pixels: int) -> bool:
    """Whether these are channels and pixels enough."""
    return min(inner, pixels) >= FEWEST and outer >= FEWEST_OUTPUTS


def _read(x: Array, reading: Reading) -> Array | None:
    """The pixels that are read, as (N, C, pixels); None where a window has more taps, or zeros around."""
    places = _places(reading)
    if places:
        x = np.ascontiguousarray(x[places])
    return None if places is None else x.reshape(*x.shape[:2], -1)


@lru_cache(maxsize=256)
def _places(reading: Reading) -> tuple[Any, ...] | None:
    """Where these pixels are; (): all of them are read."""
    if any(len(o) > 1 for o in reading.offsets) or reading.inputs != reading.lengths:
        return None
    firsts = [o[0] for o in reading.offsets]
    if not any(firsts) and reading.outputs == reading.inputs:
        return ()
    steps = zip(firsts, reading.outputs, reading.stride, strict=True)
    return (..., *[slice(f, f + (n - 1) * s + 1, s) for f, n, s in steps])


def correlate(x: Array, weight: Array, bias: Array | None, backward: bool, reading: Reading) -> Array | None:
    """The convolution of images (N, C, *inputs) with weights (O, C), or, `backward`, from O to C channels; None: not served."""
    (O, C), P = weight.shape, prod(reading.outputs)
    inner, outer = (O, C) if backward else (C, O)
    plan = _mixing(BY_DTYPE[x.dtype], len(x), inner, outer, P, backward, bias is not None)
    columns = None if plan is None else _read(x, reading)
    if plan is None or columns is None:
        return None
    start = None if bias is None else np.repeat(bias[:, None], tile_of(BY_DTYPE[x.dtype]).width, 1)
    return run(plan, weight, columns, start).reshape(len(x), outer, *reading.outputs)


@lru_cache(maxsize=256)
def _mixing(stored: Stored, N: int, inner: int, outer: int, P: int, backward: bool, biased: bool) -> Plan | None:
    if not serves(inner, outer, P):
        return None
    size = stored.size
    strides = (size, outer * size) if backward else (inner * size, size)
    start = (tile_of(stored).width * size, 0) if biased else (0, 1)
    many = Many(N, 0, inner * P * size, outer * P * size, 1, N)
    return plan_of(stored, (outer, P, inner), strides, (P * size, size), start, (N, outer, P), many)


def weight_gradient(x: Array, grad: Array, reading: Reading) -> Array | None:
    """The gradient (O, C) of the weights, from images (N, C, *inputs) and the gradient (N, O, *outputs) of the result."""
    plan = _summing(BY_DTYPE[x.dtype], len(x), x.shape[1], grad.shape[1], prod(reading.outputs))
    columns = None if plan is None else _read(x, reading)
    if plan is None or columns is None:
        return None
    out = run(plan, grad, columns)
    made: Array = out[0] if len(out) == 1 else np.add.reduce(out, 0)
    return made


@lru_cache(maxsize=256)
def _summing(stored: Stored, N: int, C: int, O: int, P: int) -> Plan | None:
    """Images are parted where the weights alone are too few for several threads, whose number must not change the sums."""
    if not serves(C, O, P):
        return None
    size, wide = stored.size, tile_of(stored).width
    parts = min(N, -(-SHARED // (max(1, O // large_calls.FEWEST_ROWS) * max(1, C // (large_calls.FEWEST_PANELS * wide)))))
    terms = -(-N // parts)
    images = -(-N // terms)
    grad, data = O * P * size, C * P * size
    many = Many(images, terms * grad, terms * data, O * C * size, terms, N, grad, data)
    return plan_of(stored, (O, C, P), (P * size, size), (size, P * size), (0, 1), (images, O, C), many)


def _forget(_: int = 0) -> None:
    """Plan anew: for another number of threads."""
    _mixing.cache_clear()
    _summing.cache_clear()


on_change(_forget)
