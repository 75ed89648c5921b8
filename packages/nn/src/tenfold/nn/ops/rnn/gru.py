"""The gated recurrent unit."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import widened
from tenfold.nn.ops.linear import linear
from tenfold.nn.ops.rnn.steps import Walk, unroll, unroll_back, walk
from tenfold.tensor.tensor import Tensor


@composite("rnn", method=None, promote="same", accepts={"input": "floating complex"})
def fused_gru(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    batch_sizes: list[int],
    reverse: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """One direction of one GRU layer: all outputs and the last state; and, for the gradient, n, r, z and v of all steps.

    r, z = sigmoid of their parts of w_ih x + b_ih + w_hh h + b_hh; n = tanh(x_n + r v), where x_n and v are the third parts
    of the two sums; h' = (1 - z) n + z h. Shape: (sum of batch_sizes, I), (B, H), (3H, I), (3H, H), (3H), (3H).
    Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014.

    >>> import tenfold
    >>> w = tenfold.zeros(3, 1)
    >>> tenfold.op.fused_gru(tenfold.ones(2, 1), tenfold.ones(1, 1), w, w, None, None, [1, 1], False)[0]
    tensor([[0.5000],
            [0.2500]])
    """
    given: list[Any] = [None if v is None else widened(v) for v in (input, hx, w_ih, w_hh, b_ih, b_hh)]
    (output, gates, _), (last,) = _steps(walk(batch_sizes, reverse), *given)
    return output.to(input.dtype), last.to(input.dtype), gates


def _steps(steps: Walk, x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> tuple[list[Tensor], tuple[Tensor, ...]]:
    """The outputs and gates of all steps, and the state that each started from; and the last state."""

    def step(from_input: Tensor, h: Tensor) -> Any:
        x_r, x_z, x_n = from_input.chunk(3, 1)
        h_r, h_z, v = linear(h, w_hh, b_hh).chunk(3, 1)
        r, z = tf.sigmoid(x_r + h_r), tf.sigmoid(x_z + h_z)
        n = tf.tanh(x_n + r * v)
        new = n + z * (h - n)
        return (new,), (new, tf.cat([n, r, z, v], 1), h)

    return unroll(step, linear(x, w_ih, b_ih), (h,), steps)


@composite("rnn", method=None)
def fused_gru_grad(
    grad: Tensor,
    grad_h: Tensor,
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    output: Tensor,
    gates: Tensor,
    batch_sizes: list[int],
    reverse: bool,
) -> tuple[Tensor, Tensor]:
    """The gradients of `fused_gru` for x_n, the sums in r and z, and v, all steps (sum of batch_sizes, 4H), and for hx.

    The body computes the gates again.

    >>> import tenfold
    >>> w = tenfold.zeros(3, 1)
    >>> x = tenfold.ones(2, 1), tenfold.ones(1, 1), w, w, None, None
    >>> out, last, gates = tenfold.op.fused_gru(*x, [1, 1], False)
    >>> tenfold.op.fused_gru_grad(out * 0, last + 0.75, *x, out, gates, [1, 1], False)[1]
    tensor([[0.2500]])
    """
    given: list[Any] = [None if v is None else widened(v) for v in (input, hx, w_ih, w_hh, b_ih, b_hh)]
    steps = walk(batch_sizes, reverse)
    (_, gates, before), _ = _steps(steps, *given)
    w_hh = widened(w_hh).conj()

    def step(flow: Any, gates: Tensor, before: Tensor) -> Any:
        n, r, z, v = gates.chunk(4, 1)
        d_n = flow[0] * (1 - z) * (1 - n * n)
        inner = tf.cat([d_n, d_n * v * r * (1 - r), flow[0] * (before - n) * z * (1 - z), d_n * r], 1)
        return (flow[0] * z + inner[:, n.shape[1] :].matmul(w_hh),), (inner,)

    (inner,), (first,) = unroll_back(step, widened(grad), (gates.conj(), before.conj()), (widened(grad_h),), steps)
    return inner.to(grad.dtype), first.to(grad.dtype)
