"""PyTorch's checks for programs: `_check(condition, message)` and its kin for other errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.dispatch.overrides import handle_torch_function, has_torch_function


def _failed(error: type[Exception], cond: Any, message: Callable[[], Any] | None) -> None:
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        raise error("Expected cond to be True, but got False. (Could this error message be improved? Pass a message.)")
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error(str(message()))


def _check(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """RuntimeError unless the condition holds; the message is a function, called only then."""
    _failed(RuntimeError, cond, message)


def _check_index(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """IndexError unless the condition holds."""
    _failed(IndexError, cond, message)


def _check_value(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """ValueError unless the condition holds."""
    _failed(ValueError, cond, message)


def _check_type(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """TypeError unless the condition holds."""
    _failed(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """NotImplementedError unless the condition holds."""
    _failed(NotImplementedError, cond, message)


def _check_tensor_all(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """RuntimeError unless every element of a bool tensor is true."""
    if not hasattr(cond, "_array"):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype.category:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _failed(RuntimeError, bool(cond.all()), message)


def _assert(condition: Any, message: str) -> None:
    """AssertionError with the message unless the condition holds."""
    if has_torch_function((condition,)):
        handle_torch_function(_assert, (condition,), condition, message)
    else:
        assert condition, message


def _assert_async(input: Any, message: str = "Expected Tensor with single nonzero value, but got zero") -> None:
    """RuntimeError unless the one element is not zero."""
    if not bool(input):
        raise RuntimeError(message)
