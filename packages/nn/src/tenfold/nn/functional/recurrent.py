"""Recurrent networks and cells as functions of their weights: `tenfold.lstm`, `tenfold.gru_cell` and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenfold import Tensor
from tenfold.nn.layers.rnn.recurrence import State, one_step, run_layers

__all__ = ["gru", "gru_cell", "lstm", "lstm_cell", "rnn_relu", "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell"]


def lstm(input: Tensor, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The layers of an LSTM: (output, h_n, c_n).

    `lstm(input, (h_0, c_0), params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, or for packed steps
    `lstm(data, batch_sizes, (h_0, c_0), params, has_biases, num_layers, dropout, train, bidirectional)`. `params` holds for each
    layer and direction weight_ih, weight_hh, bias_ih, bias_hh (with `has_biases`) and weight_hr (of projections).
    Shape: (T, B, I), or (B, T, I) with `batch_first`; states (layers * directions, B, H).
    Raises TypeError for other numbers of arguments, RuntimeError for weights that are not those of the layers.

    >>> import tenfold
    >>> x, state = tenfold.ones(5, 2, 3), (tenfold.zeros(1, 2, 4), tenfold.zeros(1, 2, 4))
    >>> weights = [tenfold.ones(16, 3), tenfold.ones(16, 4)]
    >>> list(tenfold.lstm(x, state, weights, False, 1, 0.0, False, False, False)[0].shape)
    [5, 2, 4]
    """
    output, (h, c) = _network("LSTM", "lstm", input, rest)
    return output, h, c


def gru(input: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    """The layers of a GRU: (output, h_n); the arguments are those of `lstm` with one state."""
    output, (h,) = _network("GRU", "gru", input, rest)
    return output, h


def rnn_tanh(input: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    """The layers of a plain network with tanh: (output, h_n); the arguments are those of `lstm` with one state."""
    output, (h,) = _network("RNN_TANH", "rnn_tanh", input, rest)
    return output, h


def rnn_relu(input: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    """The layers of a plain network with relu: (output, h_n); the arguments are those of `lstm` with one state."""
    output, (h,) = _network("RNN_RELU", "rnn_relu", input, rest)
    return output, h


def _network(mode: str, name: str, input: Tensor, rest: tuple[Any, ...]) -> tuple[Tensor, State]:
    """One call of either form, told apart by whether the first flag stands at its place."""
    if len(rest) != 8:
        raise TypeError(
            f"{name}: got {1 + len(rest)} arguments, accepted are (input, hx, params, has_biases, num_layers, dropout, train, "
            "bidirectional, batch_first) and (data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, "
            "bidirectional)"
        )
    packed = not isinstance(rest[2], bool)
    if packed:
        batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional = rest
        data, sizes, batch_first = input, batch_sizes.tolist(), False
    else:
        hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first = rest
        steps = input.transpose(0, 1) if batch_first else input
        length, batch, width = steps.shape
        data, sizes = steps.reshape(length * batch, width), [batch] * length
    directions = 2 if bidirectional else 1
    groups = _grouped(name, params, has_biases, num_layers * directions)
    state: State = tuple(hx) if mode == "LSTM" else (hx,)
    output, last = run_layers(mode, data, sizes, state, groups, directions, dropout if train else 0.0)
    if not packed:
        output = output.reshape(length, batch, output.size(1))
        output = output.transpose(0, 1) if batch_first else output
    return output, last


def _grouped(name: str, params: Sequence[Tensor], has_biases: bool, count: int) -> list[list[Tensor | None]]:
    """The flat weights by layer and direction: w_ih, w_hh, b_ih, b_hh, w_hr, None where there is none."""
    usual = 4 if has_biases else 2
    if count <= 0 or len(params) not in (usual * count, (usual + 1) * count):
        raise RuntimeError(
            f"{name}: got an incorrect number of RNN parameters, {len(params)}; {count} layers and directions have {usual} each, "
            f"{usual + 1} with projections"
        )
    each = len(params) // count
    groups: list[list[Tensor | None]] = []
    for start in range(0, len(params), each):
        own: list[Tensor | None] = list(params[start : start + each])
        biases = own[2:4] if has_biases else [None, None]
        groups.append([*own[:2], *biases, own[-1] if each > usual else None])
    return groups


def lstm_cell(
    input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: (h, c). Shape: input (B, I), both states (B, H), weights (4 H, I) and (4 H, H)."""
    h, c = one_step("LSTM", input, tuple(hx), [w_ih, w_hh, b_ih, b_hh])
    return h, c


def _cell(mode: str, name: str, gates: str) -> Callable[..., Tensor]:
    def step(
        input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
    ) -> Tensor:
        return one_step(mode, input, (hx,), [w_ih, w_hh, b_ih, b_hh])[0]

    step.__name__ = step.__qualname__ = name
    step.__doc__ = f"One step of {mode}: h. Shape: input (B, I), hx (B, H), weights ({gates}, I) and ({gates}, H)."
    return step


gru_cell = _cell("GRU", "gru_cell", "3 H")
rnn_tanh_cell = _cell("RNN_TANH", "rnn_tanh_cell", "H")
rnn_relu_cell = _cell("RNN_RELU", "rnn_relu_cell", "H")
