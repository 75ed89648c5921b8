"""Parts of tensors that may be written in place whatever autograd records, and copies of parts."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.operators import composite
from tenfold.ops.view.forms import narrow
from tenfold.ops.view.parts import chunk, split, split_with_sizes
from tenfold.tensor.tensor import Tensor
from tenfold.types.memory_format import contiguous_format


def _apart(parts: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Parts that are views of nothing, on the memory where they lie: writes to them are neither recorded nor counted there."""
    for part in parts:
        if part._key.level is None:
            part._base = part._storage = None
            if hasattr(part, "_origin"):
                del part._origin
            if part._node is not None and part._node.of_base:  # it has none any more
                part._node = None
    return parts


@composite("cuts")
def unsafe_split(input: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """What `split` gives, each part for autograd a tensor of its own, which may be written in place.

    They share memory, and nobody notes who reads what is written: hence the name.

    >>> import tenfold
    >>> tenfold.arange(3).unsafe_split(2)
    (tensor([0, 1]), tensor([2]))
    """
    return _apart(split(input, split_size, dim))


@composite("cuts")
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """What `split_with_sizes` gives, as `unsafe_split` does.

    >>> import tenfold
    >>> tenfold.arange(3).unsafe_split_with_sizes([1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    return _apart(split_with_sizes(input, split_sizes, dim))


@composite("cuts")
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """What `chunk` gives, as `unsafe_split` does.

    >>> import tenfold
    >>> tenfold.arange(3).unsafe_chunk(2)
    (tensor([0, 1]), tensor([2]))
    """
    return _apart(chunk(input, chunks, dim))


@composite("cuts", out="same")
def narrow_copy(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """What `narrow` shows of a tensor, in new memory.

    >>> import tenfold
    >>> tenfold.arange(3).narrow_copy(0, 1, 2)
    tensor([1, 2])
    """
    return narrow(input, dim, start, length).clone(memory_format=contiguous_format)
