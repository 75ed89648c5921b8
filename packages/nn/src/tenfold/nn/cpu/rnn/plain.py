"""The plain recurrent layer, step after step in place."""

from __future__ import annotations

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.cpu.rnn.steps import Array, conjugated, input_sums, products_of_steps
from tenfold.nn.ops.rnn import plain as ops
from tenfold.nn.ops.rnn.steps import walk


@kernel(ops.fused_rnn, device="cpu")
@array_kernel(rounded=2)
def fused_rnn(
    input: Array,
    hx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    batch_sizes: list[int],
    reverse: bool,
    relu: bool,
) -> tuple[Array, Array]:
    """All outputs and the last state; the array of what the inputs add becomes that of the outputs."""
    out = input_sums(input, w_ih, b_ih, b_hh)
    last, from_state = np.array(hx, order="C"), np.empty(hx.shape, out.dtype)
    with products_of_steps(len(hx), w_hh) as product:
        for rows, n in walk(batch_sizes, reverse):
            y = out[rows]
            y += product(last[:n], w_hh.T, from_state[:n])
            if relu:
                np.maximum(y, 0, out=y)
            else:
                np.tanh(y, out=y)
            last[:n] = y
    return out, last


@kernel(ops.fused_rnn_grad, device="cpu")
@array_kernel(rounded=2)
@conjugated(2, results=(0, 1))
def fused_rnn_grad(
    grad: Array, grad_h: Array, w_hh: Array, output: Array, batch_sizes: list[int], reverse: bool, relu: bool
) -> tuple[Array, Array]:
    """The gradients for what goes into the activation and for the first state."""
    open_ = ~(output <= 0)
    inner = np.zeros_like(output) if relu else 1 - output * output
    flow = np.array(grad_h, order="C")
    with products_of_steps(len(flow), w_hh) as product:
        for rows, n in reversed(walk(batch_sizes, reverse)):
            d, x = flow[:n], inner[rows]
            d += grad[rows]
            if relu:  # a gradient of infinity or NaN stops at a closed unit
                np.copyto(x, d, where=open_[rows])
            else:
                x *= d
            product(x, w_hh, d)
    return inner, flow
