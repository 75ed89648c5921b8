"""One step of a recurrent layer as a module."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import init
from tenfold.nn.layers.rnn.recurrence import State, one_step
from tenfold.nn.module import Module
from tenfold.nn.parameter import Parameter


class RNNCellBase(Module):
    """Parameters of the cells: weight_ih, weight_hh, bias_ih, bias_hh, in U(-k, k), k = 1 / sqrt(hidden_size)."""

    weight_ih: Tensor
    weight_hh: Tensor

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        shapes = {
            "weight_ih": (gates, input_size),
            "weight_hh": (gates, hidden_size),
            "bias_ih": (gates,),
            "bias_hh": (gates,),
        }
        for name, shape in shapes.items():
            absent = name.startswith("bias") and not bias
            empty = None if absent else Parameter(tenfold.empty(shape, device=device, dtype=dtype))
            self.register_parameter(name, empty)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _step(self, mode: str, input: Tensor, state: Any, states: int) -> State:
        """The cell's next state for an input (B, I) or (I); absent states are zeros."""
        name = type(self).__name__
        for what, tensor in (("input", input), *(("hidden", part) for part in state or ())):
            if tensor.dim() not in (1, 2):
                raise ValueError(f"{name}: Expected {what} to be 1D or 2D, got {tensor.dim()}D instead")
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"{name}: input has inconsistent input_size: got {input.size(-1)} expected {self.input_size}")
        batched = input.dim() == 2
        rows = input if batched else input.unsqueeze(0)
        if state is None:
            current: State = (rows.new_zeros((rows.size(0), self.hidden_size)),) * states
        else:
            current = tuple(state) if batched else tuple(part.unsqueeze(0) for part in state)
        for part in current:
            if part.size(0) != rows.size(0) or part.size(1) != self.hidden_size:
                raise RuntimeError(
                    f"{name}: hidden has shape {tuple(part.shape)}, expected is {(rows.size(0), self.hidden_size)}; "
                    "Input batch size doesn't match hidden batch size or hidden_size."
                )
        new = one_step(mode, rows, current, [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh])
        return new if batched else tuple(part.squeeze(0) for part in new)

    def extra_repr(self) -> str:
        parts = [str(self.input_size), str(self.hidden_size)]
        if self.bias is not True:
            parts.append(f"bias={self.bias}")
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            parts.append(f"nonlinearity={self.nonlinearity}")
        return ", ".join(parts)


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu. Shape: (B, I), (B, H) -> (B, H), or without B.

    >>> list(RNNCell(3, 4)(tenfold.ones(2, 3)).shape)
    [2, 4]
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"RNNCell: Unknown nonlinearity: {self.nonlinearity}; accepted are tanh and relu")
        return self._step("RNN_" + self.nonlinearity.upper(), input, None if hx is None else (hx,), 1)[0]


class LSTMCell(RNNCellBase):
    """One step of `LSTM`. Shape: (B, I), ((B, H), (B, H)) -> (h' (B, H), c' (B, H)), or without B.

    >>> h, c = LSTMCell(3, 4)(tenfold.ones(2, 3))
    >>> list(h.shape), list(c.shape)
    ([2, 4], [2, 4])
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        h, c = self._step("LSTM", input, hx, 2)
        return h, c


class GRUCell(RNNCellBase):
    """One step of `GRU`. Shape: (B, I), (B, H) -> (B, H), or without B.

    >>> list(GRUCell(3, 4)(tenfold.ones(2, 3)).shape)
    [2, 4]
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step("GRU", input, None if hx is None else (hx,), 1)[0]
