"""One step of a recurrence: gates and state of all sequences, after the product with the weights of the state.

Rows are sequences, `width` is that of the state. A step started from the rows of the one before it, `prev`, and those sequences
that join with it, rows from `joined` on, from the first state. Sums are float32, float64 where DOUBLE is set.

Sources: Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997; Cho et al., "Learning Phrase Representations using RNN
Encoder-Decoder", 2014.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

import triton
from triton import language as tl

from tenfold.cuda.kernels.programs.library import math


@triton.jit
def _sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


@triton.jit
def _load(ptr, place, inside, wide: tl.constexpr):
    return tl.load(ptr + place, inside, other=0.0).to(wide)


@triton.jit
def _before(prev_ptr, first_ptr, i, row, joined, inside, wide: tl.constexpr):
    """The state that each element started from."""
    early = row < joined
    return _load(prev_ptr, i, inside & early, wide) + _load(first_ptr, i, inside & (row >= joined), wide)


def lstm_step(
    out_ptr, cell_ptr, gates_ptr, last_h_ptr, last_c_ptr, sums_ptr, prev_ptr, first_ptr, b_ih_ptr, b_hh_ptr, count, width, joined,
    BIAS: tl.constexpr, KEPT: tl.constexpr, PROJECTED: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Gates (4, rows, width), cells and outputs; KEPT: the state is written to last_h and last_c, too."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    row, j = i // width, i % width
    place = row * (4 * width) + j
    s_i, s_f = _load(sums_ptr, place, inside, wide), _load(sums_ptr, place + width, inside, wide)
    s_g, s_o = _load(sums_ptr, place + 2 * width, inside, wide), _load(sums_ptr, place + 3 * width, inside, wide)
    if BIAS:
        s_i += _load(b_ih_ptr, j, inside, wide) + _load(b_hh_ptr, j, inside, wide)
        s_f += _load(b_ih_ptr, j + width, inside, wide) + _load(b_hh_ptr, j + width, inside, wide)
        s_g += _load(b_ih_ptr, j + 2 * width, inside, wide) + _load(b_hh_ptr, j + 2 * width, inside, wide)
        s_o += _load(b_ih_ptr, j + 3 * width, inside, wide) + _load(b_hh_ptr, j + 3 * width, inside, wide)
    a, f, g, o = _sigmoid(s_i), _sigmoid(s_f), math.tanh(s_g), _sigmoid(s_o)
    c = f * _before(prev_ptr, first_ptr, i, row, joined, inside, wide) + a * g
    out = (o * math.tanh(c)).to(out_ptr.dtype.element_ty)
    tl.store(gates_ptr + i, a, inside)
    tl.store(gates_ptr + i + count, f, inside)
    tl.store(gates_ptr + i + 2 * count, g, inside)
    tl.store(gates_ptr + i + 3 * count, o, inside)
    tl.store(cell_ptr + i, c, inside)
    tl.store(out_ptr + i, out, inside)
    if KEPT:
        tl.store(last_c_ptr + i, c.to(last_c_ptr.dtype.element_ty), inside)
        if not PROJECTED:
            tl.store(last_h_ptr + i, out, inside)


def lstm_step_back(
    inner_ptr, flow_c_ptr, pre_ptr, flow_h_ptr, g_ptr, gates_ptr, cell_ptr, prev_ptr, first_ptr, count, width, joined,
    PROJECTED: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The gradients of the four sums (rows, 4 width); flow_c goes from the new state to the old one.

    PROJECTED: flow_h has all of the gradient of what was projected, and that is written to pre.
    """
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    row, j = i // width, i % width
    d_h = _load(flow_h_ptr, i, inside, wide)
    if not PROJECTED:
        d_h += _load(g_ptr, i, inside, wide)
    a, f = _load(gates_ptr, i, inside, wide), _load(gates_ptr, i + count, inside, wide)
    g, o = _load(gates_ptr, i + 2 * count, inside, wide), _load(gates_ptr, i + 3 * count, inside, wide)
    t = math.tanh(_load(cell_ptr, i, inside, wide))
    d_c = _load(flow_c_ptr, i, inside, wide) + d_h * o * (1.0 - t * t)
    before = _before(prev_ptr, first_ptr, i, row, joined, inside, wide)
    place = row * (4 * width) + j
    kind = inner_ptr.dtype.element_ty
    tl.store(inner_ptr + place, (d_c * g * a * (1.0 - a)).to(kind), inside)
    tl.store(inner_ptr + place + width, (d_c * before * f * (1.0 - f)).to(kind), inside)
    tl.store(inner_ptr + place + 2 * width, (d_c * a * (1.0 - g * g)).to(kind), inside)
    tl.store(inner_ptr + place + 3 * width, (d_h * t * o * (1.0 - o)).to(kind), inside)
    tl.store(flow_c_ptr + i, d_c * f, inside)
    if PROJECTED:
        tl.store(pre_ptr + i, (o * t).to(pre_ptr.dtype.element_ty), inside)


def gru_step(
    out_ptr, gates_ptr, last_ptr, sums_ptr, state_ptr, before_ptr, b_ih_ptr, b_hh_ptr, count, width, BIAS: tl.constexpr,
    KEPT: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Gates n, r, z, v (rows, 4 width) and outputs, of the input's sums and the state's."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    row, j = i // width, i % width
    place = row * (3 * width) + j
    s_r = _load(sums_ptr, place, inside, wide) + _load(state_ptr, place, inside, wide)
    s_z = _load(sums_ptr, place + width, inside, wide) + _load(state_ptr, place + width, inside, wide)
    s_n, v = _load(sums_ptr, place + 2 * width, inside, wide), _load(state_ptr, place + 2 * width, inside, wide)
    if BIAS:
        s_r += _load(b_ih_ptr, j, inside, wide) + _load(b_hh_ptr, j, inside, wide)
        s_z += _load(b_ih_ptr, j + width, inside, wide) + _load(b_hh_ptr, j + width, inside, wide)
        s_n += _load(b_ih_ptr, j + 2 * width, inside, wide)
        v += _load(b_hh_ptr, j + 2 * width, inside, wide)
    r, z = _sigmoid(s_r), _sigmoid(s_z)
    n = math.tanh(s_n + r * v)
    new = (n + z * (_load(before_ptr, i, inside, wide) - n)).to(out_ptr.dtype.element_ty)
    place = row * (4 * width) + j
    tl.store(gates_ptr + place, n, inside)
    tl.store(gates_ptr + place + width, r, inside)
    tl.store(gates_ptr + place + 2 * width, z, inside)
    tl.store(gates_ptr + place + 3 * width, v, inside)
    tl.store(out_ptr + i, new, inside)
    if KEPT:
        tl.store(last_ptr + i, new, inside)


def gru_step_back(
    inner_ptr, flow_ptr, g_ptr, gates_ptr, prev_ptr, first_ptr, count, width, joined, DOUBLE: tl.constexpr, BLOCK: tl.constexpr
):
    """The gradients of x_n, the sums in r and z, and v (rows, 4 width); flow becomes its part that takes no product."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    row, j = i // width, i % width
    place = row * (4 * width) + j
    n, r = _load(gates_ptr, place, inside, wide), _load(gates_ptr, place + width, inside, wide)
    z, v = _load(gates_ptr, place + 2 * width, inside, wide), _load(gates_ptr, place + 3 * width, inside, wide)
    flow = _load(flow_ptr, i, inside, wide) + _load(g_ptr, i, inside, wide)
    before = _before(prev_ptr, first_ptr, i, row, joined, inside, wide)
    d_n = flow * (1.0 - z) * (1.0 - n * n)
    kind = inner_ptr.dtype.element_ty
    tl.store(inner_ptr + place, d_n.to(kind), inside)
    tl.store(inner_ptr + place + width, (d_n * v * r * (1.0 - r)).to(kind), inside)
    tl.store(inner_ptr + place + 2 * width, (flow * (before - n) * z * (1.0 - z)).to(kind), inside)
    tl.store(inner_ptr + place + 3 * width, (d_n * r).to(kind), inside)
    tl.store(flow_ptr + i, flow * z, inside)


def plain_step(
    out_ptr, last_ptr, sums_ptr, b_ih_ptr, b_hh_ptr, count, width, RELU: tl.constexpr, BIAS: tl.constexpr, KEPT: tl.constexpr,
    DOUBLE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """tanh or relu of the sums."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    x = _load(sums_ptr, i, inside, wide)
    if BIAS:
        x += _load(b_ih_ptr, i % width, inside, wide) + _load(b_hh_ptr, i % width, inside, wide)
    new = (tl.where(x < 0, 0.0, x) if RELU else math.tanh(x)).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + i, new, inside)
    if KEPT:
        tl.store(last_ptr + i, new, inside)


def plain_step_back(inner_ptr, flow_ptr, g_ptr, out_ptr, count, RELU: tl.constexpr, DOUBLE: tl.constexpr, BLOCK: tl.constexpr):
    """The gradient of what went into tanh or relu."""
    wide: tl.constexpr = tl.float64 if DOUBLE else tl.float32
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    flow = _load(flow_ptr, i, inside, wide) + _load(g_ptr, i, inside, wide)
    out = _load(out_ptr, i, inside, wide)
    inner = tl.where(out <= 0, 0.0, flow) if RELU else flow * (1.0 - out * out)
    tl.store(inner_ptr + i, inner.to(inner_ptr.dtype.element_ty), inside)
