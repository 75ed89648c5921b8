"""One step of a recurrent cell, and one direction of one recurrent layer over packed steps, which is a fused operator.

A padded batch is the special case in which every step has all sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.runtime import STATE
from tenfold.nn import functional as F
from tenfold.nn.ops.rnn.gru import fused_gru
from tenfold.nn.ops.rnn.lstm import fused_lstm
from tenfold.nn.ops.rnn.plain import fused_rnn

State = tuple[Tensor, ...]  # (h,) or (h, c), each (B, H)
Cell = Callable[[Tensor, Tensor | None, State, Any], State]


def plain_cell(activation: Callable[[Tensor], Tensor]) -> Cell:
    """h' = activation(W_ih x + b_ih + W_hh h + b_hh)."""

    def step(from_input: Tensor, bias: Tensor | None, state: State, weight: Any) -> State:
        return (activation(from_input + F.linear(state[0], weight, bias)),)

    return step


def _parts(gates: Tensor, count: int) -> tuple[Tensor, ...]:
    """The gates (B, count * H) one after the other, each in one piece: what comes after takes longer for pieces of rows."""
    B, width = gates.shape
    if B == 1:
        return gates.chunk(count, 1)
    return gates.view(B, count, width // count).permute(1, 0, 2).contiguous().unbind()


def lstm_cell(from_input: Tensor, bias: Tensor | None, state: State, weight: Any) -> State:
    """i, f, o = sigmoid, g = tanh of the gates; c' = f c + i g; h' = o tanh(c'). Source: Hochreiter and Schmidhuber 1997."""
    i, f, g, o = _parts(from_input + F.linear(state[0], weight, bias), 4)
    c = tenfold.sigmoid(f) * state[1] + tenfold.sigmoid(i) * tenfold.tanh(g)
    return tenfold.sigmoid(o) * tenfold.tanh(c), c


def gru_cell(from_input: Tensor, bias: Tensor | None, state: State, weight: Any) -> State:
    """r, z = sigmoid of their gates; n = tanh(x_n + r h_n); h' = (1 - z) n + z h. Source: Cho et al. 2014."""
    h = state[0]
    x_r, x_z, x_n = _parts(from_input, 3)
    h_r, h_z, h_n = _parts(F.linear(h, weight, bias), 3)
    z = tenfold.sigmoid(x_z + h_z)
    n = tenfold.tanh(x_n + tenfold.sigmoid(x_r + h_r) * h_n)
    return (n + z * (h - n),)


CELLS: dict[str, Cell] = {
    "RNN_TANH": plain_cell(tenfold.tanh),
    "RNN_RELU": plain_cell(F.relu),
    "LSTM": lstm_cell,
    "GRU": gru_cell,
}


OPERATORS = {"LSTM": ("fused_lstm", 4), "GRU": ("fused_gru", 3), "RNN_TANH": ("fused_rnn", 1), "RNN_RELU": ("fused_rnn", 1)}


def one_step(mode: str, input: Tensor, state: State, weights: list[Any]) -> State:
    """The state after one step of a cell, weights w_ih, w_hh, b_ih, b_hh; few launches where the device has a kernel for it."""
    if _in_one_pass(mode, input, state, weights):
        return run_direction(mode, input, [len(input)], state, [*weights, None], False)[1]
    w_ih, w_hh, b_ih, b_hh = weights
    return CELLS[mode](F.linear(input, w_ih, b_ih), b_hh, state, w_hh)


def _in_one_pass(mode: str, input: Tensor, state: State, weights: list[Any]) -> bool:
    """Whether the device has a kernel for a step of these: plain tensors of one dtype whose sizes fit each other.

    Autocast gives the operator one dtype, a half type as PyTorch's list of a GPU has it for cells.
    """
    key, (name, gates) = input._key, OPERATORS[mode]
    if key is CPU or key.level is not None or key.override or getattr(key.kernels, name) is None:
        return False
    cast = bool(STATE.layers) and tenfold.is_autocast_enabled(key.type)
    if STATE.layers and not cast:
        return False
    if input.dim() != 2 or any(t.dim() != 2 or t.shape != (input.shape[0], state[0].shape[-1]) for t in state):
        return False
    H = state[0].shape[1]
    shapes = (gates * H, input.shape[1]), (gates * H, H), (gates * H,), (gates * H,)
    if any(w is not None and tuple(w.shape) != shape for w, shape in zip(weights, shapes, strict=True)):
        return False
    return all(t is None or (t._key is key and (cast or t.dtype is input.dtype)) for t in (*state, *weights))


def run_direction(
    mode: str, data: Tensor, batch_sizes: list[int], state: State, weights: list[Tensor | None], reverse: bool
) -> tuple[Tensor, State]:
    """(outputs, last state) of the steps `data` (sum of batch_sizes, I); weights: w_ih, w_hh, b_ih, b_hh, w_hr (None
    where absent).
    """
    if mode == "LSTM":
        output, h, c, *_ = fused_lstm(data, *state, *weights, batch_sizes, reverse)
        return output, (h, c)
    if mode == "GRU":
        output, h, _ = fused_gru(data, *state, *weights[:4], batch_sizes, reverse)
    else:
        output, h = fused_rnn(data, *state, *weights[:4], batch_sizes, reverse, mode == "RNN_RELU")
    return output, (h,)


def run_layers(
    mode: str, data: Tensor, sizes: list[int], state: State, groups: list[list[Tensor | None]], directions: int, dropout: float
) -> tuple[Tensor, State]:
    """All layers and directions over flat steps; states are (layers * directions, B, H), `groups` the weights of each."""
    starts = list(zip(*(part.unbind() for part in state), strict=True))
    lasts: list[State] = []
    for first in range(0, len(groups), directions):
        outputs = []
        for place in range(first, first + directions):
            output, last = run_direction(mode, data, sizes, starts[place], groups[place], place > first)
            outputs.append(output)
            lasts.append(last)
        data = tenfold.cat(outputs, 1) if directions == 2 else outputs[0]
        if dropout and first + directions < len(groups):
            data = F.dropout(data, dropout, True)
    return data, tuple(tenfold.stack(parts) for parts in zip(*lasts, strict=True))
