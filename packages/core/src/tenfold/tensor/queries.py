"""Questions about tensors and shapes as functions: what PyTorch has beside the methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.dispatch import shape_rules as rules
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import Tensor
from tenfold.types.size import Size


def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are real floating-point numbers."""
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex."""
    return input.is_complex()


def is_conj(input: Tensor) -> bool:
    """Whether a conjugation is still to be done: never here."""
    return input.is_conj()


def is_neg(input: Tensor) -> bool:
    """Whether a negation is still to be done: never here."""
    return input.is_neg()


def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return input.is_signed()


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes."""
    return input.is_same_size(other)


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return input.is_inference()


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not zero; RuntimeError for a tensor of several or none."""
    return bool(input)


def is_storage(obj: Any) -> bool:
    """Whether an object is a storage."""
    return isinstance(obj, Storage)


def typename(obj: Any) -> str:
    """The full name of an object's type, a tensor's legacy one in PyTorch.

    >>> typename(Tensor([1.0])), typename("text")
    ('torch.FloatTensor', 'str')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", None) or ""
    return kind.__qualname__ if module in ("", "builtins") else f"{module}.{kind.__qualname__}"


def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The shape that tensors of these shapes broadcast to; RuntimeError where they do not.

    >>> broadcast_shapes((2, 1), (3,), 1)
    tenfold.Size([2, 3])
    """
    given = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    if any(size < 0 for shape in given for size in shape):
        raise RuntimeError(f"broadcast_shapes: sizes must not be negative, got {given}")
    return Size(rules.broadcast_shapes("broadcast_shapes", given))
