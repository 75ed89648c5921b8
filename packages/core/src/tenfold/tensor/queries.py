"""Questions about tensors and shapes as functions: what PyTorch has beside the methods. Rarer ones are in tenfold-inspection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from tenfold.dispatch import shape_rules as rules
from tenfold.dispatch.overrides import handle_torch_function
from tenfold.tensor.tensor import Tensor
from tenfold.types.size import Size


def asks(question: Callable[..., Any], accepted: Any = Tensor) -> Any:
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


@asks
def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


@asks
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are real floating-point numbers."""
    return input.is_floating_point()


@asks
def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex."""
    return input.is_complex()


def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The shape that tensors of these shapes broadcast to; RuntimeError where they do not.

    >>> broadcast_shapes((2, 1), (3,), 1)
    tenfold.Size([2, 3])
    """
    given = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    if any(size < 0 for shape in given for size in shape):
        raise RuntimeError(f"broadcast_shapes: sizes must not be negative, got {given}")
    return Size(rules.broadcast_shapes("broadcast_shapes", given))
