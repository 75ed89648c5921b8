"""What recurrent layers ask of their input and first state, by the names under which PyTorch's subclasses change it."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor

Sizes = tuple[int, int, int]


class RNNChecks:
    """The checks of `RNNBase`; each raises RuntimeError or ValueError for what does not fit."""

    input_size: int
    hidden_size: int
    num_layers: int
    proj_size: int
    batch_first: bool
    bidirectional: bool
    mode: str

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """The input's dtype, dimensions and features: 2-D where it is packed, else 3-D."""
        weight: Any = getattr(self, "weight_ih_l0", None)
        if weight is not None and input.dtype != weight.dtype:
            raise ValueError(
                f"{type(self).__name__}: RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        wanted = 3 if batch_sizes is None else 2
        if input.dim() != wanted:
            raise RuntimeError(f"input must have {wanted} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> Sizes:
        """(layers * directions, batch, size of the output)."""
        batch = int(batch_sizes[0]) if batch_sizes is not None else input.size(0 if self.batch_first else 1)
        return self.num_layers * (2 if self.bidirectional else 1), batch, self.proj_size or self.hidden_size

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> Sizes:
        """(layers * directions, batch, hidden_size)."""
        return *self.get_expected_hidden_size(input, batch_sizes)[:2], self.hidden_size

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: Sizes, msg: str = "Expected hidden size {}, got {}"
    ) -> None:  # fmt: skip
        """RuntimeError with `msg` for a state of another size."""
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Input and first state together; a pair of states where the layer is an LSTM."""
        self.check_input(input, batch_sizes)
        expected = self.get_expected_hidden_size(input, batch_sizes)
        if self.mode != "LSTM":
            self.check_hidden_size(hidden, expected)
            return
        self.check_hidden_size(hidden[0], expected, "Expected hidden[0] size {}, got {}")
        cells = self.get_expected_cell_size(input, batch_sizes)
        self.check_hidden_size(hidden[1], cells, "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The state, or pair of states, with its batch in another order."""
        if permutation is None:
            return hx
        if isinstance(hx, tuple):
            return tuple(apply_permutation(part, permutation) for part in hx)
        return apply_permutation(hx, permutation)


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """The entries of a dimension in another order."""
    return tensor.index_select(dim, permutation)
