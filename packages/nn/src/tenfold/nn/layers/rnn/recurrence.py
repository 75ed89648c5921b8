"""One direction of one recurrent layer, over packed steps.

A padded batch is the special case in which every step has all sequences. All input products are done at once, before
the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F

State = tuple[Tensor, ...]  # (h,) or (h, c), each (B, H)
Cell = Callable[[Tensor, Tensor | None, State, Any], State]


def plain_cell(activation: Callable[[Tensor], Tensor]) -> Cell:
    """h' = activation(W_ih x + b_ih + W_hh h + b_hh)."""

    def step(from_input: Tensor, bias: Tensor | None, state: State, weight: Any) -> State:
        return (activation(from_input + F.linear(state[0], weight, bias)),)

    return step


def lstm_cell(from_input: Tensor, bias: Tensor | None, state: State, weight: Any) -> State:
    """i, f, o = sigmoid, g = tanh of the gates; c' = f c + i g; h' = o tanh(c'). Source: Hochreiter and Schmidhuber 1997."""
    i, f, g, o = (from_input + F.linear(state[0], weight, bias)).chunk(4, 1)
    c = tenfold.sigmoid(f) * state[1] + tenfold.sigmoid(i) * tenfold.tanh(g)
    return tenfold.sigmoid(o) * tenfold.tanh(c), c


def gru_cell(from_input: Tensor, bias: Tensor | None, state: State, weight: Any) -> State:
    """r, z = sigmoid of their gates; n = tanh(x_n + r h_n); h' = (1 - z) n + z h. Source: Cho et al. 2014."""
    h = state[0]
    x_r, x_z, x_n = from_input.chunk(3, 1)
    h_r, h_z, h_n = F.linear(h, weight, bias).chunk(3, 1)
    z = tenfold.sigmoid(x_z + h_z)
    n = tenfold.tanh(x_n + tenfold.sigmoid(x_r + h_r) * h_n)
    return (n + z * (h - n),)


CELLS: dict[str, Cell] = {
    "RNN_TANH": plain_cell(tenfold.tanh),
    "RNN_RELU": plain_cell(F.relu),
    "LSTM": lstm_cell,
    "GRU": gru_cell,
}


def run_direction(
    cell: Cell, data: Tensor, batch_sizes: list[int], state: State, weights: list[Tensor | None], reverse: bool
) -> tuple[Tensor, State]:
    """(outputs, last state) of the steps `data` (sum of batch_sizes, I); weights: w_ih, w_hh, b_ih, b_hh, w_hr (None
    where absent).
    """
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    steps: list[Tensor] = list(F.linear(data, w_ih, b_ih).split(batch_sizes))
    walk = _backwards if reverse else _forwards

    def advance(from_input: Tensor, current: State) -> State:
        new = cell(from_input, b_hh, current, w_hh)
        return new if w_hr is None else (F.linear(new[0], w_hr), *new[1:])

    outputs, last = walk(advance, steps, batch_sizes, state)
    return tenfold.cat(outputs), last


def _forwards(advance: Any, steps: list[Tensor], sizes: list[int], state: State) -> tuple[list[Tensor], State]:
    """First step to last; sequences that end leave from the back of the batch."""
    outputs, ended = [], []
    current = state
    for step, size in zip(steps, sizes, strict=True):
        if size < current[0].size(0):
            ended.append(tuple(part[size:] for part in current))
            current = tuple(part[:size] for part in current)
        current = advance(step, current)
        outputs.append(current[0])
    if not ended:
        return outputs, current
    return outputs, tuple(tenfold.cat(parts) for parts in zip(current, *reversed(ended), strict=True))


def _backwards(advance: Any, steps: list[Tensor], sizes: list[int], state: State) -> tuple[list[Tensor], State]:
    """Last step to first; shorter sequences join at the back of the batch with their first state."""
    outputs = []
    current = tuple(part[: sizes[-1]] for part in state)
    for step, size in zip(reversed(steps), reversed(sizes), strict=True):
        present = current[0].size(0)
        if size > present:
            joining = tuple(part[present:size] for part in state)
            current = tuple(tenfold.cat(pair) for pair in zip(current, joining, strict=True))
        current = advance(step, current)
        outputs.append(current[0])
    return outputs[::-1], current
