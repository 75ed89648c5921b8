"""Gradients of recurrence: one fused way back over the steps, then one product over all of them for each weight."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.autograd.gradients import gradients
from tenfold.nn.arguments import conjugate
from tenfold.nn.ops.rnn import gru, lstm, plain
from tenfold.nn.ops.rnn.steps import previous


def _product(grad: Any, x: Any) -> Any:
    """The gradient of a weight that multiplied the rows of x."""
    return grad.transpose(0, 1).mm(conjugate(x))


@gradients(plain.fused_rnn, "input", "hx", "w_ih", "w_hh", "b_ih", "b_hh")
def _rnn(
    g: Any, needs: Any, input: Any, hx: Any, w_ih: Any, w_hh: Any, out0: Any, batch_sizes: Any, reverse: bool, relu: bool
) -> Any:
    inner, first = plain.fused_rnn_grad(*g, w_hh, out0, batch_sizes, reverse, relu)
    return (
        inner.mm(conjugate(w_ih)) if needs[0] else None,
        first,
        _product(inner, input) if needs[2] else None,
        _product(inner, tf.cat(previous(out0, hx, batch_sizes, reverse))) if needs[3] else None,
        inner.sum(0) if needs[4] else None,
        inner.sum(0) if needs[5] else None,
    )


@gradients(lstm.fused_lstm, "input", "hx", "cx", "w_ih", "w_hh", "b_ih", "b_hh", "w_hr", results=(0, 1, 2))
def _lstm(
    g: Any,
    needs: Any,
    input: Any,
    hx: Any,
    cx: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    w_hr: Any,
    out0: Any,
    out3: Any,
    out4: Any,
    batch_sizes: Any,
    reverse: bool,
) -> Any:
    weights = w_ih, w_hh, b_ih, b_hh, w_hr
    inner, d_h, d_c, h, d_out = lstm.fused_lstm_grad(*g[:3], input, hx, cx, *weights, out3, out4, batch_sizes, reverse)
    bias = inner.sum(0) if needs[5] or needs[6] else None
    return (
        inner.mm(conjugate(w_ih)) if needs[0] else None,
        d_h,
        d_c,
        _product(inner, input) if needs[3] else None,
        _product(inner, tf.cat(previous(out0, hx, batch_sizes, reverse))) if needs[4] else None,
        bias,
        bias,
        _product(d_out, h) if needs[7] else None,
    )


@gradients(gru.fused_gru, "input", "hx", "w_ih", "w_hh", "b_ih", "b_hh", results=(0, 1))
def _gru(
    g: Any,
    needs: Any,
    input: Any,
    hx: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    out0: Any,
    out2: Any,
    batch_sizes: Any,
    reverse: bool,
) -> Any:
    """The gates lie in the order n, r, z, v: the input has its part in the first three, the state in the last three."""
    weights = w_ih, w_hh, b_ih, b_hh
    inner, first = gru.fused_gru_grad(*g[:2], input, hx, *weights, out0, out2, batch_sizes, reverse)
    H = hx.shape[1]
    from_input, from_state = inner[:, : 3 * H], inner[:, H:]
    before = tf.cat(previous(out0, hx, batch_sizes, reverse)) if needs[3] else None
    return (
        from_input.mm(conjugate(w_ih).roll(H, 0)) if needs[0] else None,
        first,
        _product(from_input, input).roll(-H, 0) if needs[2] else None,
        _product(from_state, before) if needs[3] else None,
        from_input.sum(0).roll(-H, 0) if needs[4] else None,
        from_state.sum(0) if needs[5] else None,
    )
