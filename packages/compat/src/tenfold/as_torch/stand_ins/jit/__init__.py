"""`torch.jit`: functions and modules run as the Python that they are, until tenfold-compile is installed."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, Final, TypeVar

from tenfold.as_torch.stand_ins.warnings_once import warn_once

__all__ = ["Final", "annotate", "export", "ignore", "interface", "is_scripting", "is_tracing", "isinstance", "script", "unused"]

Value = TypeVar("Value")


def is_scripting() -> bool:
    """False: what runs is Python.

    >>> is_scripting()
    False
    """
    return False


def is_tracing() -> bool:
    """False: nothing is being traced."""
    return False


def script(obj: Value, *arguments: Any, **options: Any) -> Value:
    """The function, class or module itself, with one warning: it runs as Python."""
    warn_once("torch.jit.script: Tenfold runs what it is given as Python; it is returned as it is")
    return obj


def script_if_tracing(fn: Value) -> Value:
    """The function itself, as nothing is traced."""
    return fn


def export(fn: Value) -> Value:
    """The method itself; PyTorch compiles it, too."""
    return fn


def ignore(drop: Any = False, **options: Any) -> Any:
    """The function itself, which stays Python; with arguments, a decorator that returns it."""
    return drop if callable(drop) else _identity


def unused(fn: Value) -> Value:
    """The function itself; PyTorch would replace it by an error."""
    return fn


def interface(obj: Value) -> Value:
    """The class itself."""
    return obj


def _identity(fn: Callable[..., Any]) -> Callable[..., Any]:
    return fn


def annotate(the_type: Any, the_value: Value) -> Value:
    """The value itself, whose type the compiler would be told."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether an object is of a type; of `List[int]` and its like only the container counts."""
    targets = target_type if builtins.isinstance(target_type, tuple) else (target_type,)
    plain: Any = tuple(getattr(target, "__origin__", target) for target in targets)
    return builtins.isinstance(obj, plain)


class ScriptModule:
    """What `script` would make of a module; nothing is an instance, which is the true answer."""

    def __init__(self, *arguments: Any) -> None:
        raise NotImplementedError(
            "torch.jit.ScriptModule: compiled modules are in the package tenfold-compile; "
            "derive from torch.nn.Module, which runs as Python"
        )


class ScriptFunction(ScriptModule):
    """What `script` would make of a function; nothing is an instance."""
