"""Questions about tensors and shapes as functions: what PyTorch has beside the methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import numpy as np

from tenfold.dispatch import shape_rules as rules
from tenfold.dispatch.overrides import handle_torch_function
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import dtype
from tenfold.types.promotion import of_values
from tenfold.types.size import Size


def _asks(question: Callable[..., Any], accepted: Any = Tensor) -> Any:
    """Have the class of an argument asked that is no tensor and overrides; TypeError for any other class."""

    @wraps(question)
    def ask(*args: Any, **named: Any) -> Any:
        given = (*args, *named.values())
        for value in given:
            if not isinstance(value, accepted):
                if hasattr(type(value), "__torch_function__"):
                    return handle_torch_function(ask, given, *args, **named)
                raise TypeError(f"{question.__name__}(): argument must be Tensor, not {type(value).__name__}")
        return question(*args, **named)

    return ask


@_asks
def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


@_asks
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are real floating-point numbers."""
    return input.is_floating_point()


@_asks
def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex."""
    return input.is_complex()


@_asks
def is_conj(input: Tensor) -> bool:
    """Whether a conjugation is still to be done: never here."""
    return input.is_conj()


@_asks
def is_neg(input: Tensor) -> bool:
    """Whether a negation is still to be done: never here."""
    return input.is_neg()


@_asks
def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return input.is_signed()


@_asks
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes."""
    return input.is_same_size(other)


@partial(_asks, accepted=(Tensor, int, float, complex, np.generic))
def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The dtype that arithmetic on the two tensors or numbers gives.

    >>> result_type(Tensor([1, 2]).long(), 1.0)
    tenfold.float32
    """
    return of_values((tensor1, tensor2))


@_asks
def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return input.is_inference()


@_asks
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
