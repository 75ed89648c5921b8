"""Sliding blocks as columns and back: `im2col` and its transpose `col2im`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.ops import fold as ops
from tenfold.nn.window import Sizes, overlaps, window_over

Array = np.ndarray[Any, Any]


@kernel(ops.im2col, device="cpu")
@array_kernel()
def im2col(input: Array, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Array:
    """Each window's elements as a column; (N, C, *S) or (C, *S) -> (N, C K, L) or (C K, L)."""
    ndim = len(kernel_size)
    lead = input.shape[: input.ndim - ndim]
    window = window_over(input.shape[len(lead) :], kernel_size, stride, padding, dilation)
    columns = (np.zeros if any(padding) else np.empty)((*lead, window.taps, *window.outputs), input.dtype)
    for tap, outputs, inputs in overlaps(window):
        columns[(..., tap, *outputs)] = input[(..., *inputs)]
    return columns.reshape(*lead[:-1], lead[-1] * window.taps, window.positions)


@kernel(ops.col2im, device="cpu")
@array_kernel()
def col2im(input: Array, output_size: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Array:
    """Add columns back to where `im2col` took them; (N, C K, L) or (C K, L) -> (N, C, *S) or (C, *S)."""
    window = window_over(tuple(output_size), kernel_size, stride, padding, dilation)
    lead = (*input.shape[:-2], input.shape[-2] // window.taps)
    columns = input.reshape(*lead, window.taps, *window.outputs)
    out = np.zeros((*lead, *output_size), input.dtype)
    for tap, outputs, inputs in overlaps(window):
        out[(..., *inputs)] += columns[(..., tap, *outputs)]
    return out
