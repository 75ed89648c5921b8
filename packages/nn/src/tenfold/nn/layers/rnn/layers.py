"""Recurrent layers: RNN, LSTM and GRU over whole sequences."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.nn import init
from tenfold.nn.layers.rnn.checks import RNNChecks
from tenfold.nn.layers.rnn.recurrence import State, run_layers
from tenfold.nn.module import Module
from tenfold.nn.parameter import Parameter
from tenfold.nn.utils.rnn import PackedSequence

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}


class RNNBase(RNNChecks, Module):
    """Parameters, checks and the loop over layers and directions of `RNN`, `LSTM` and `GRU`.

    Parameters are named weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0 (and weight_hr_l0 with proj_size), the number
    being the layer's, with "_reverse" behind for the second direction. All start in U(-k, k), k = 1 / sqrt(hidden_size).

    Raises ValueError for sizes that are not positive, a dropout outside [0, 1] or a proj_size not below hidden_size.
    """

    states: ClassVar[int] = 1

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check_options(dropout)
        for name, shape in self._shapes().items():
            self.register_parameter(name, Parameter(tenfold.empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    def _check_options(self, dropout: Any) -> None:
        name = type(self).__name__
        if self.mode not in _GATES:
            raise ValueError(f"{name}: Unrecognized RNN mode: {self.mode}; accepted are {', '.join(_GATES)}")
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
            raise ValueError(
                f"{name}: dropout should be a number in range [0, 1] representing the probability of an element being zeroed, "
                f"got {dropout!r}"
            )
        for what in ("input_size", "hidden_size", "num_layers"):
            value = getattr(self, what)
            if not hasattr(value, "__index__"):
                raise TypeError(f"{name}: {what} should be of type int, got: {type(value).__name__}")
            if value <= 0:
                raise ValueError(f"{name}: {what} must be greater than zero, got {value}")
        if self.proj_size and self.mode != "LSTM":
            raise ValueError(f"{name}: proj_size argument is only supported for LSTM, not RNN or GRU; got {self.proj_size}")
        if self.proj_size < 0:
            raise ValueError(
                f"{name}: proj_size should be a positive integer or zero to disable projections, got {self.proj_size}"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError(f"{name}: proj_size has to be smaller than hidden_size, got {self.proj_size} and {self.hidden_size}")
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                f"{name}: dropout acts between layers, so dropout={dropout} does nothing with num_layers=1",
                stacklevel=4,
            )

    def _suffixes(self) -> list[tuple[int, str]]:
        """(layer, name ending) in order of calculation."""
        endings = ("", "_reverse") if self.bidirectional else ("",)
        return [(layer, f"_l{layer}{ending}") for layer in range(self.num_layers) for ending in endings]

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        gates = _GATES[self.mode] * self.hidden_size
        out = self.proj_size or self.hidden_size
        shapes: dict[str, tuple[int, ...]] = {}
        for layer, suffix in self._suffixes():
            inputs = out * (2 if self.bidirectional else 1) if layer else self.input_size
            shapes["weight_ih" + suffix], shapes["weight_hh" + suffix] = (gates, inputs), (gates, out)
            if self.bias:
                shapes["bias_ih" + suffix] = shapes["bias_hh" + suffix] = (gates,)
            if self.proj_size:
                shapes["weight_hr" + suffix] = (self.proj_size, self.hidden_size)
        return shapes

    def _weights(self, suffix: str) -> list[Tensor | None]:
        members: Any = self._parameters
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return [
            getattr(self, kind + suffix) if kind + suffix in members or hasattr(self, kind + suffix) else None for kind in kinds
        ]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of every layer and direction."""
        return [[weight for weight in self._weights(suffix) if weight is not None] for _, suffix in self._suffixes()]  # type: ignore[misc]

    @property
    def _all_weights(self) -> list[list[str]]:
        """The names of `all_weights`."""
        kinds = ["weight_ih", "weight_hh", *["bias_ih", "bias_hh"] * self.bias, *["weight_hr"] * bool(self.proj_size)]
        return [[kind + suffix for kind in kinds] for _, suffix in self._suffixes()]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for group in self._all_weights for name in group]

    def _torch_state(self) -> dict[str, Any]:
        names = self._flat_weights_names
        weights = [getattr(self, name, None) for name in names]
        return {"_all_weights": self._all_weights, "_flat_weights_names": names, "_flat_weights": weights}

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [weight for group in self.all_weights for weight in group]

    def flatten_parameters(self) -> None:
        """Does nothing: the weights need no common block of memory here."""

    def reset_parameters(self) -> None:
        """Draws all parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def forward(self, input: Any, hx: Any = None) -> Any:
        if isinstance(input, PackedSequence):
            packed, last = self._run_packed(input, hx)
            return packed, self._unwrapped(last)
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        batched = input.dim() == 3
        given = input if batched else input.unsqueeze(0 if self.batch_first else 1)
        steps = given.transpose(0, 1) if self.batch_first else given
        state = self._initial(hx, given, None, batched)
        length, batch, _ = steps.shape
        if not length:
            raise RuntimeError(f"{type(self).__name__}: Expected sequence length to be larger than 0 in RNN")
        data, last = self._run(steps.reshape(length * batch, steps.size(2)), [batch] * length, state)
        output = data.reshape(length, batch, data.size(1))
        if not batched:
            return output.squeeze(1), self._unwrapped(tuple(part.squeeze(1) for part in last))
        return (output.transpose(0, 1) if self.batch_first else output), self._unwrapped(last)

    def _run_packed(self, input: PackedSequence, hx: Any) -> tuple[PackedSequence, State]:
        sizes = input.batch_sizes.tolist()
        if hx is not None:
            hx = self.permute_hidden(tuple(hx) if self.states == 2 else hx, input.sorted_indices)
        state = self._initial(hx, input.data, input.batch_sizes, True)
        data, last = self._run(input.data, sizes, state)
        last = self.permute_hidden(last, input.unsorted_indices)
        return PackedSequence(data, input.batch_sizes, input.sorted_indices, input.unsorted_indices), last

    def _run(self, data: Tensor, sizes: list[int], state: State) -> tuple[Tensor, State]:
        """All layers and directions over flat steps; states are (layers * directions, B, H)."""
        groups = [self._weights(suffix) for _, suffix in self._suffixes()]
        dropout = self.dropout if self.training else 0.0
        return run_layers(self.mode, data, sizes, state, groups, 2 if self.bidirectional else 1, dropout)

    def _initial(self, hx: Any, input: Tensor, batch_sizes: Tensor | None, batched: bool) -> State:
        """The first state, (layers * directions, B, H) each, from what the user gave or zeros; both are checked."""
        if hx is None:
            self.check_input(input, batch_sizes)
            count, batch, size = self.get_expected_hidden_size(input, batch_sizes)
            return tuple(input.new_zeros((count, batch, size)) for size in (size, self.hidden_size)[: self.states])
        given = tuple(hx) if self.states == 2 else (hx,)
        for part in given:
            if part.dim() != (3 if batched else 2):
                kind = "batched 3-D" if batched else "unbatched 2-D"
                raise RuntimeError(f"For {kind} input, hx should also be {3 if batched else 2}-D but got {part.dim()}-D tensor")
        state = given if batched else tuple(part.unsqueeze(1) for part in given)
        self.check_forward_args(input, self._unwrapped(state), batch_sizes)
        return state

    def _unwrapped(self, state: State) -> Any:
        return state if self.states == 2 else state[0]

    def extra_repr(self) -> str:
        parts = [str(self.input_size), str(self.hidden_size)]
        options = (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        )
        parts += [f"{name}={getattr(self, name)}" for name, usual in options if getattr(self, name) != usual]
        return ", ".join(parts)


class RNN(RNNBase):
    """h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh), or relu. Shape: (T, B, I), (B, T, I) with batch_first, or (T, I).

    Returns (output (T, B, directions * H), h_n (layers * directions, B, H)); a `PackedSequence` gives one back.
    `forward(input, hx)` starts at hx instead of zeros. Raises ValueError for another nonlinearity.

    >>> output, h = RNN(3, 4, batch_first=True)(tenfold.ones(2, 5, 3))
    >>> list(output.shape), list(h.shape)
    ([2, 5, 4], [1, 2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        mode = "RNN_" + nonlinearity.upper()
        super().__init__(
            mode,
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory. Shape: (T, B, I), (B, T, I) with batch_first, or (T, I).

    Returns (output (T, B, directions * H), (h_n, c_n)), each state (layers * directions, B, H). With proj_size P > 0, h is
    projected to P values. `forward(input, (h_0, c_0))` starts there instead of at zeros. Source: Hochreiter and Schmidhuber
    1997.

    >>> output, (h, c) = LSTM(3, 4, batch_first=True)(tenfold.ones(2, 5, 3))
    >>> list(output.shape), list(h.shape)
    ([2, 5, 4], [1, 2, 4])
    """

    states = 2

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )


class GRU(RNNBase):
    """Gated recurrent unit. Shape and results as for `RNN`. Source: Cho et al. 2014.

    >>> output, h = GRU(3, 4, num_layers=2, bidirectional=True)(tenfold.ones(5, 2, 3))
    >>> list(output.shape), list(h.shape)
    ([5, 2, 8], [4, 2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )
