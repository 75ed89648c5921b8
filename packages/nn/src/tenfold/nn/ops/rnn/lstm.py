"""Long short-term memory."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import widened
from tenfold.nn.ops.linear import linear
from tenfold.nn.ops.rnn.steps import Walk, unroll, unroll_back, walk
from tenfold.tensor.tensor import Tensor


@composite("rnn", method=None, promote="same", accepts={"input": "floating complex"})
def fused_lstm(
    input: Tensor,
    hx: Tensor,
    cx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    w_hr: Tensor | None,
    batch_sizes: list[int],
    reverse: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """One direction of one LSTM layer: all outputs, the last h and c; and, for the gradient, the gates and
    all c. Of the gates, (4 sum of batch_sizes, H), each step has its rows of i, then those of f, g and o.

    i, f, o = sigmoid and g = tanh of w_ih x + b_ih + w_hh h + b_hh; c' = f c + i g; h' = w_hr (o tanh(c')).
    Shape: (sum of batch_sizes, I), (B, P), (B, H), (4H, I), (4H, P), (4H), (4H), (P, H); P is H without w_hr.
    Source: Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997; w_hr: Sak, Senior and Beaufays, 2014.

    >>> import tenfold
    >>> zero = tenfold.zeros(1, 1)
    >>> w = tenfold.zeros(4, 1)
    >>> tenfold.op.fused_lstm(tenfold.ones(2, 1), zero, zero + 1, w, w, None, None, None, [1, 1], False)[2]
    tensor([[0.2500]])
    """
    given: list[Any] = [None if v is None else widened(v) for v in (input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr)]
    steps = walk(batch_sizes, reverse)
    (output, *gates, cells, _), (h, c) = _steps(steps, *given)
    by_step = tf.cat([gate[rows] for rows, _ in walk(batch_sizes, False) for gate in gates])
    return output.to(input.dtype), h.to(input.dtype), c.to(input.dtype), by_step, cells


def _steps(
    steps: Walk, x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, w_hr: Any
) -> tuple[list[Tensor], tuple[Tensor, ...]]:
    """The outputs, i, f, g, o and c of all steps, and the c that each started from; and the last state."""

    def step(from_input: Tensor, h: Tensor, c: Tensor) -> Any:
        i, f, g, o = (from_input + linear(h, w_hh, b_hh)).chunk(4, 1)
        i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
        new = f * c + i * g
        out = o * tf.tanh(new)
        out = out if w_hr is None else linear(out, w_hr)
        return (out, new), (out, i, f, g, o, new, c)

    return unroll(step, linear(x, w_ih, b_ih), (h, c), steps)


@composite("rnn", method=None)
def fused_lstm_grad(
    grad: Tensor,
    grad_h: Tensor,
    grad_c: Tensor,
    input: Tensor,
    hx: Tensor,
    cx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
    w_hr: Tensor | None,
    gates: Tensor,
    cells: Tensor,
    batch_sizes: list[int],
    reverse: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The gradients of `fused_lstm` for the sums in the gates (sum of batch_sizes, 4H), for hx and for cx.

    With w_hr also each step's h before and its gradient after the projection, (sum of batch_sizes, H) and (..., P), of
    which that of w_hr is the product; else both are empty. The body computes the gates again.

    >>> import tenfold
    >>> zero, w = tenfold.zeros(1, 1), tenfold.zeros(4, 1)
    >>> x = tenfold.ones(2, 1), zero, zero + 1, w, w, None, None, None
    >>> out, h, c, gates, cells = tenfold.op.fused_lstm(*x, [1, 1], False)
    >>> tenfold.op.fused_lstm_grad(out * 0, h * 0, c + 0.75, *x, gates, cells, [1, 1], False)[2]
    tensor([[0.2500]])
    """
    given: list[Any] = [None if v is None else widened(v) for v in (input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr)]
    steps = walk(batch_sizes, reverse)
    (_, *saved), _ = _steps(steps, *given)
    w_hh, w_hr = widened(w_hh).conj(), None if w_hr is None else widened(w_hr).conj()

    def step(flow: Any, i: Tensor, f: Tensor, g: Tensor, o: Tensor, c: Tensor, before: Tensor) -> Any:
        t = tf.tanh(c)
        d_h = flow[0] if w_hr is None else flow[0].matmul(w_hr)
        d_c = flow[1] + d_h * o * (1 - t * t)
        sums = d_c * g * i * (1 - i), d_c * before * f * (1 - f), d_c * i * (1 - g * g), d_h * t * o * (1 - o)
        inner = tf.cat(sums, 1)
        return (inner.matmul(w_hh), d_c * f), (inner, *((o * t, flow[0]) if w_hr is not None else ()))

    flow = widened(grad_h), widened(grad_c)
    (inner, *projection), (d_h, d_c) = unroll_back(step, widened(grad), [v.conj() for v in saved], flow, steps)
    h, d_out = projection or (inner.new_empty((0, cx.shape[1])), inner.new_empty((0, hx.shape[1])))
    return tuple(v.to(grad.dtype) for v in (inner, d_h, d_c, h.conj(), d_out))  # type: ignore[return-value]
