"""Constant borders: one fill, one copy."""

from __future__ import annotations

from math import copysign
from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.ops import padding as ops
from tenfold.nn.ops.padding import padded_shape, pair_of

Array = np.ndarray[Any, Any]


@kernel(ops.constant_pad, device="cpu")
@array_kernel(laid_out=1)
def constant_pad(input: Array, pad: tuple[int, ...], value: Any) -> Array:
    """A border of `value`; negative widths crop."""
    shape = padded_shape(input.shape, pad)
    out = np.zeros(shape, input.dtype) if value == 0 and copysign(1, value) > 0 else np.full(shape, value, input.dtype)
    source: list[Any] = []
    target: list[Any] = []
    for i in range(len(pad) // 2 - 1, -1, -1):
        before, after = pair_of(pad, i)
        n = input.shape[-1 - i]
        source.append(slice(max(0, -before), max(0, n - max(0, -after))))
        target.append(slice(max(0, before), max(0, n + before - max(0, -after))))
    if out.size and input.size:
        out[(..., *target)] = input[(..., *source)]
    return out
