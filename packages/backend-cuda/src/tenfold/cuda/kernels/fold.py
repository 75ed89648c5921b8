"""Sliding blocks as columns and back: one launch each."""

from __future__ import annotations

from math import prod
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.handwritten import F64, FLOATS, Handwritten, near, start
from tenfold.cuda.kernels.planes import planes, window_constants
from tenfold.cuda.kernels.pool import output_length
from tenfold.cuda.kernels.resize import BLOCK, OF_BYTES, three
from tenfold.dispatch.operators import op


def _outputs(sizes: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> list[int]:
    each = zip(sizes, kernel_size, stride, padding, dilation)
    return [output_length(i, k, s, p, d, False) for i, k, s, p, d in each]


@kernel(op.im2col, device="cuda", plays=True)
def im2col(input: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    n, taps = len(kernel_size), prod(kernel_size)
    outputs = _outputs(input.shape[input.ndim - n :], kernel_size, dilation, padding, stride)
    count = prod(input.shape[: input.ndim - n]) * taps * prod(outputs)
    if input.dtype.itemsize not in OF_BYTES or input.ndim != n + 2 or n > 3 or min(outputs) < 1 or not 0 < count < 2**31:
        return NotImplemented
    x = near(input).view(OF_BYTES[input.dtype.itemsize])
    index = runtime.current().index_of(x)
    out = runtime.current().empty((x.shape[0], x.shape[1] * taps, prod(outputs)), x.dtype, index)
    window = window_constants(kernel_size, stride, padding, dilation)
    numbers = (count, x.shape[1], *planes(x).sizes[2:], *three(outputs, 1), *planes(x).strides)
    program = Handwritten("columns_of_blocks", (*window, ("BLOCK", BLOCK)), 4, by_address=True)
    start(program, (-(-count // BLOCK),), (out, x, *numbers), index)
    return out.view(input.dtype)


@kernel(op.col2im, device="cuda", plays=True)
def col2im(input: Any, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    n, taps = len(kernel_size), prod(kernel_size)
    if input.dtype not in FLOATS or input.ndim != 3 or n > 3 or not 0 < input.size < 2**31:
        return NotImplemented
    outputs = _outputs(output_size, kernel_size, dilation, padding, stride)
    shape = (input.shape[0], input.shape[1] // taps, *output_size)
    if not 0 < prod(shape) < 2**31 or min(outputs) < 1:
        return NotImplemented
    x = near(input)
    index = runtime.current().index_of(x)
    out = runtime.current().empty(shape, x.dtype, index)
    window = window_constants(kernel_size, stride, padding, dilation)
    steps = (s // x.dtype.itemsize for s in x.strides)
    numbers = (prod(shape), shape[1], *three(outputs, 1), *three(tuple(output_size), 1), *steps)
    program = Handwritten("blocks_of_columns", (("DOUBLE", int(x.dtype == F64)), *window, ("BLOCK", BLOCK)), 4, by_address=True)
    start(program, (-(-out.size // BLOCK),), (out, x, *numbers), index)
    return out
