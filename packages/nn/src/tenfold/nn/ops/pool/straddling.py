"""Maximum pooling by dilated windows that straddle a short input and contain none of it."""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import Any

import numpy as np

import tenfold as tf
from tenfold.nn.window import Sizes, Window, window_over
from tenfold.tensor.tensor import Tensor


@lru_cache(maxsize=64)
def _straddling(window: Window) -> Any:
    """Which windows hold nothing, and where their first tap behind the padding stands; None if all hold something."""
    some, first = np.ones((), np.bool_), np.zeros((), np.int64)
    for k, step, pad, gap, size, count in zip(*(getattr(window, name) for name in Window.__slots__), strict=True):
        taps = np.arange(k) * gap + np.arange(count)[:, None] * step - pad
        some = some[..., None] & ((taps >= 0) & (taps < size)).any(1)
        start = taps[:, 0]
        first = first[..., None] * size + np.where(start < 0, start % gap, start)
    return None if some.all() else (~some, first)


def marked(result: tuple[Tensor, Tensor], inputs: Sizes, *sizes: Any) -> tuple[Tensor, Tensor]:
    """The least number, without a gradient, for windows that hold nothing, and PyTorch's index, which may lie outside the plane.

    Differs from PyTorch: the gradient, which PyTorch writes at that index without asking where it lies.
    """
    found = _straddling(window_over(inputs, *sizes))
    if found is None:
        return result
    values, indices = result
    missed, first = (tf.tensor(a.tolist(), device=values.device) for a in found)
    least = -inf if values.is_floating_point() else tf.iinfo(values.dtype).min
    return values.masked_fill(missed, least), tf.where(missed, first, indices)
