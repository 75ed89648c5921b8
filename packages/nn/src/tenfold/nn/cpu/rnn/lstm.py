"""Long short-term memory, step after step in place."""

from __future__ import annotations

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.cpu.rnn.steps import Array, by_step, conjugated, input_sums, products_of_steps
from tenfold.nn.ops.rnn import lstm as ops
from tenfold.nn.ops.rnn.steps import previous, walk


@kernel(ops.fused_lstm, device="cpu")
@array_kernel(rounded=3)
def fused_lstm(
    input: Array,
    hx: Array,
    cx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    w_hr: Array | None,
    batch_sizes: list[int],
    reverse: bool,
) -> tuple[Array, Array, Array, Array, Array]:
    """All outputs, the last h and c, all gates and all c.

    The sums in the gates are negated, so that one exp serves the three sigmoids, 1 / (1 + exp(-x)); of g, whose part that
    overwrites, the tanh is taken before. Each step's gates lie one after the other, so that few loops go over them.
    """
    sums = input_sums(input, w_ih, b_ih, b_hh)
    np.negative(sums, out=sums)
    N, H, dtype = len(sums), cx.shape[1], sums.dtype
    out, cells, gates = np.empty((N, hx.shape[1]), dtype), np.empty((N, H), dtype), np.empty((4 * N, H), dtype)
    h, c, one = np.array(hx, order="C"), np.array(cx, order="C"), np.ones((), dtype)
    padded, width = batch_sizes[0] == batch_sizes[-1], -1
    steps = [by_step(x, batch_sizes, reverse) for x in (sums.reshape(N, 4, H), cells, out)]
    weight = w_hh.T
    with products_of_steps(len(hx), w_hh) as product:
        for x, k, new, y in zip(steps[0], gates_by_step(gates, batch_sizes, reverse), *steps[1:], strict=True):
            n = len(y)
            if n != width:
                width, from_state, t = n, np.empty((n, 4 * H), dtype), np.empty((n, H), dtype)
                added = from_state.reshape(n, 4, H).transpose(1, 0, 2)
            i, f, g, o = k
            product(h if padded else h[:n], weight, from_state)
            np.subtract(x.transpose(1, 0, 2), added, k)
            np.tanh(g, t)
            np.exp(k, k)
            np.add(k, one, k)
            np.reciprocal(k, k)
            np.negative(t, g)
            np.multiply(f, c if padded else c[:n], new)
            np.multiply(i, g, t)
            np.add(new, t, new)
            np.tanh(new, t)
            if w_hr is None:
                np.multiply(o, t, y)
            else:
                np.matmul(np.multiply(o, t, t), w_hr.T, y)
            if padded:
                h, c = y, new
            else:
                h[:n], c[:n] = y, new
    return out, h.copy(), c.copy(), gates, cells


@kernel(ops.fused_lstm_grad, device="cpu")
@array_kernel(rounded=5)
@conjugated(3, results=(0, 1, 2, 4))
def fused_lstm_grad(
    grad: Array,
    grad_h: Array,
    grad_c: Array,
    input: Array,
    hx: Array,
    cx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    w_hr: Array | None,
    gates: Array,
    cells: Array,
    batch_sizes: list[int],
    reverse: bool,
) -> tuple[Array, Array, Array, Array, Array]:
    """The gradients for the sums in the gates, hx and cx; with w_hr each h before and its gradient after projection.

    What multiplies the flow of h and of c is known before the way back begins, so it is computed for all steps at once.
    """
    quarters = _quarters(gates, batch_sizes)
    started_from = previous(cells, cx, batch_sizes, reverse)
    inner, of_cell, h = _slopes(quarters, cells.reshape(quarters.shape[1:]), started_from, w_hr is not None)
    flat = inner.reshape(len(inner), 4 * cx.shape[1])
    d_out = np.empty((len(h), hx.shape[1]), inner.dtype)
    d_h, d_c, spare = np.array(grad_h, order="C"), np.array(grad_c, order="C"), np.empty(cx.shape, inner.dtype)
    arrays = inner[:, :3], inner[:, 3], flat, np.ascontiguousarray(grad), of_cell
    steps = [by_step(x, batch_sizes, not reverse) for x in arrays]
    forgets = [k[1] for k in gates_by_step(gates, batch_sizes, not reverse)]
    outs = by_step(d_out, batch_sizes, not reverse) if w_hr is not None else forgets
    padded, before, after, t = batch_sizes[0] == batch_sizes[-1], d_c, d_h, spare
    with products_of_steps(len(hx), w_hh) as product:
        for of_c, of_h, all_x, g, slope, forget, out in zip(*steps, forgets, outs, strict=True):
            if not padded:
                before, after, t = d_c[: len(g)], d_h[: len(g)], spare[: len(g)]
            np.add(after, g, after)
            d = after
            if w_hr is not None:
                np.copyto(out, after)
                d = np.matmul(after, w_hr)
            np.multiply(d, slope, t)
            np.add(before, t, before)
            np.multiply(of_c, before[:, None], of_c)
            np.multiply(of_h, d, of_h)
            product(all_x, w_hh, after)
            np.multiply(before, forget, before)
    return flat, d_h, d_c, h, d_out


def gates_by_step(gates: Array, batch_sizes: list[int], reverse: bool) -> list[Array]:
    """The gates of every step, (4, B, H), in the order of calculation."""
    H = gates.shape[1]
    return [gates[4 * rows.start : 4 * rows.stop].reshape(4, n, H) for rows, n in walk(batch_sizes, reverse)]


def _quarters(gates: Array, batch_sizes: list[int]) -> Array:
    """i, f, g and o one after the other, (4, steps, B, H); of packed steps (4, 1, sum of batch_sizes, H)."""
    size = batch_sizes[0]
    if size == batch_sizes[-1]:
        return gates.reshape(len(batch_sizes), 4, size, gates.shape[1]).transpose(1, 0, 2, 3)
    return np.concatenate(gates_by_step(gates, batch_sizes, False), 1)[:, None]


def _slopes(quarters: Array, cells: Array, before: list[Array], projected: bool) -> tuple[Array, Array, Array]:
    """What the gradients of c (i, f, g) and h (o) are multiplied by, what h's is on its way to c; and o tanh(c) or nothing.

    `before` is the cells that the steps started from, in pieces. This is where a step of training is largest: one spare array.
    """
    i, f, g, o = quarters
    *lead, H = cells.shape
    N = lead[0] * lead[1]
    spare = np.concatenate(before, out=np.empty((N, H), cells.dtype)).reshape(cells.shape)
    slopes = np.empty((*lead, 4, H), cells.dtype)
    np.multiply(spare, f, slopes[:, :, 1])
    t = np.tanh(cells)
    for place, (gate, other) in enumerate(((i, g), (f, None), (g, i), (o, t))):
        slope = slopes[:, :, place]
        np.subtract(1, gate, spare)  # 1 - gate loses nothing where the gate is nearly 1
        if other is not None:
            np.multiply(np.add(gate, 1, slope) if gate is g else gate, other, slope)
        np.multiply(spare, slope, slope)
    h = (o * t).reshape(N, H) if projected else np.empty((0, H), cells.dtype)
    np.multiply(t, t, t)
    np.subtract(1, t, t)
    np.multiply(t, o, t)
    return slopes.reshape(N, 4, H), t.reshape(N, H), h
