"""`torch.compiler` and `torch.compile`: programs run as they are, operator by operator, until tenfold-compile is installed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tenfold.as_torch.stand_ins.warnings_once import warn_once

__all__ = ["allow_in_graph", "compile", "cudagraph_mark_step_begin", "disable", "is_compiling", "is_dynamo_compiling", "reset"]


def compile(model: Any = None, **options: Any) -> Any:
    """The model itself, with one warning: nothing is compiled.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     compile(abs)(-1)
    1
    """
    warn_once("torch.compile: Tenfold runs programs operator by operator; the model is returned as it is")
    return (lambda function: function) if model is None else model


def is_compiling() -> bool:
    """False: no program is being compiled."""
    return False


is_dynamo_compiling = is_compiling


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself; as a decorator with arguments, one that returns it."""
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def reset() -> None:
    """Forget what has been compiled: there is nothing."""


def cudagraph_mark_step_begin() -> None:
    """Mark a step's begin for compiled CUDA graphs: there are none."""


@contextlib.contextmanager
def set_stance(stance: str = "default", **options: Any) -> Iterator[None]:
    """Choose how compiled functions run; every stance is the same here."""
    yield


is_exporting = is_compiling
assume_constant_result = allow_in_graph


def substitute_in_graph(original_fn: Callable[..., Any], **options: Any) -> Any:
    """A decorator for what compiled programs call in a function's place; what is not compiled calls the function.

    >>> substitute_in_graph(abs)(lambda x: x)(-3)
    3
    """
    return lambda traceable_fn: original_fn
