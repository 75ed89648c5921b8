"""Parts of tensors in memory of their own, which may be written in place whatever autograd records."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.operators import composite
from tenfold.ops.view.forms import narrow
from tenfold.ops.view.parts import chunk, split, split_with_sizes
from tenfold.tensor.tensor import Tensor
from tenfold.types.memory_format import contiguous_format


def _own(parts: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(part.clone(memory_format=contiguous_format) for part in parts)


@composite("cuts")
def unsafe_split(input: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """What `split` gives, each part in memory of its own: autograd lets them be written in place.

    Differs from PyTorch, where the parts share memory and must not be written while others read it: hence the name.

    >>> import tenfold
    >>> tenfold.arange(3).unsafe_split(2)
    (tensor([0, 1]), tensor([2]))
    """
    return _own(split(input, split_size, dim))


@composite("cuts")
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """What `split_with_sizes` gives, each part in memory of its own, as `unsafe_split`.

    >>> import tenfold
    >>> tenfold.arange(3).unsafe_split_with_sizes([1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    return _own(split_with_sizes(input, split_sizes, dim))


@composite("cuts")
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """What `chunk` gives, each part in memory of its own, as `unsafe_split`.

    >>> import tenfold
    >>> tenfold.arange(3).unsafe_chunk(2)
    (tensor([0, 1]), tensor([2]))
    """
    return _own(chunk(input, chunks, dim))


@composite("cuts", out="same")
def narrow_copy(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """What `narrow` shows of a tensor, in new memory.

    >>> import tenfold
    >>> tenfold.arange(3).narrow_copy(0, 1, 2)
    tensor([1, 2])
    """
    return narrow(input, dim, start, length).clone(memory_format=contiguous_format)
