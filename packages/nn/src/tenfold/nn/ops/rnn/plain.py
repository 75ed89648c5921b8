"""The plain recurrent layer, h' = tanh(W x + W' h), or relu."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import widened
from tenfold.nn.ops.linear import linear
from tenfold.nn.ops.rnn.steps import unroll, unroll_back, walk
from tenfold.tensor.tensor import Tensor


@composite("rnn", method=None, promote="same", accepts={"input": "floating complex"})
def fused_rnn(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    batch_sizes: list[int],
    reverse: bool,
    relu: bool,
) -> tuple[Tensor, Tensor]:
    """One direction of one layer, h' = tanh(w_ih x + b_ih + w_hh h + b_hh), or relu: all outputs and the last state.

    Shape: (sum of batch_sizes, I), (B, H), (H, I), (H, H), (H), (H) -> (sum of batch_sizes, H), (B, H).

    >>> import tenfold
    >>> one = tenfold.ones(1, 1)
    >>> tenfold.op.fused_rnn(tenfold.ones(2, 1), one, one, one, None, None, [1, 1], False, True)[0]
    tensor([[2.],
            [3.]])
    """
    given: list[Any] = [None if v is None else widened(v) for v in (input, hx, w_ih, w_hh, b_ih, b_hh)]
    x, h, w_ih, w_hh, b_ih, b_hh = given
    activation = tf.relu if relu else tf.tanh

    def step(from_input: Tensor, h: Tensor) -> Any:
        new = activation(from_input + linear(h, w_hh, b_hh))
        return (new,), (new,)

    (output,), (last,) = unroll(step, linear(x, w_ih, b_ih), (h,), walk(batch_sizes, reverse))
    return output.to(input.dtype), last.to(input.dtype)


@composite("rnn", method=None)
def fused_rnn_grad(
    grad: Tensor, grad_h: Tensor, w_hh: Tensor, output: Tensor, batch_sizes: list[int], reverse: bool, relu: bool
) -> tuple[Tensor, Tensor]:
    """The gradients of `fused_rnn` for what goes into the activation, all steps (sum of batch_sizes, H), and for hx.

    >>> import tenfold
    >>> one, out = tenfold.ones(1, 1), tenfold.tensor([[2.0], [3.0]])
    >>> tenfold.op.fused_rnn_grad(tenfold.ones(2, 1), one, one, out, [1, 1], False, True)[0]
    tensor([[3.],
            [2.]])
    """
    g, g_h, w_hh, out = (widened(v) for v in (grad, grad_h, w_hh.conj(), output.conj()))

    def step(flow: Any, out: Tensor) -> Any:
        inner = tf.where(out <= 0, 0.0, flow[0]) if relu else flow[0] * (1 - out * out)
        return (inner.matmul(w_hh),), (inner,)

    (inner,), (first,) = unroll_back(step, g, (out,), (g_h,), walk(batch_sizes, reverse))
    return inner.to(grad.dtype), first.to(grad.dtype)
