"""The class of jagged nested tensors and what makes them, under PyTorch's private names."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold.nested.construction import jagged_from_list, nested_tensor_from_jagged
from tenfold.nested.jagged import NestedTensor
from tenfold.nested.ragged import size_of

__all__ = ["NestedTensor", "buffer_from_jagged", "get_tensor_symint", "jagged_from_list", "nested_view_from_values_offsets"]


def nested_view_from_values_offsets(
    values: Tensor, offsets: Tensor, min_seqlen: int | None = None, max_seqlen: int | None = None
) -> Any:
    """A view of values as rows that begin at offsets."""
    return nested_tensor_from_jagged(values, offsets, min_seqlen=min_seqlen, max_seqlen=max_seqlen)


def nested_view_from_values_offsets_lengths(
    values: Tensor, offsets: Tensor, lengths: Tensor, min_seqlen: int | None = None, max_seqlen: int | None = None
) -> Any:
    """A view of values as rows that begin at offsets and have lengths."""
    return nested_tensor_from_jagged(values, offsets, lengths, min_seqlen=min_seqlen, max_seqlen=max_seqlen)


def buffer_from_jagged(jagged: Any) -> Tensor:
    """The values."""
    values: Tensor = jagged.values()
    return values


def get_tensor_symint(tensor: Tensor, *, coeff: int = 1) -> Any:
    """The ragged size that a tensor of offsets stands for."""
    lengths = tensor[1:] - tensor[:-1]
    return size_of(tensor, int(lengths.max()) if len(lengths) else 0) * coeff
