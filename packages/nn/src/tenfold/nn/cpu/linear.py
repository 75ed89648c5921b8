"""The affine map as one matrix product."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu import blas
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.nn.cpu.array_kernel import is_half
from tenfold.nn.ops import linear as ops

Array = np.ndarray[Any, Any]
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


@kernel(ops.linear, device="cpu", over=(op.mm, op.bmm, op.matmul))
def linear(input: Array, weight: Array, bias: Array | None) -> Array:
    """input @ weight.T + bias, the bias added in place."""
    if input.ndim == 2 and weight.ndim == 2 and (input.dtype is F32 or input.dtype is F64):
        out = blas.dot(input, weight.T)
        if bias is not None:
            out += bias
        return out
    if input.itemsize == 2 and is_half(input):
        wide = [None if a is None else a.astype(np.float32) for a in (input, weight, bias)]
        return linear(*wide).astype(input.dtype)
    if input.ndim > 2 and weight.ndim == 2:  # one product instead of one for each leading index
        flat = blas.matmul(input.reshape(-1, input.shape[-1]) if input.size else input, weight.T)
        out = flat.reshape(*input.shape[:-1], len(weight))
    else:
        out = blas.matmul(input, weight.T)
    if bias is None:
        return out
    if bias.dtype != out.dtype or not out.ndim:
        return np.asarray(out + bias)
    out += bias
    return out
