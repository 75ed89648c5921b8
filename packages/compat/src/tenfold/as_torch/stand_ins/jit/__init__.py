"""`torch.jit`: functions and modules run as the Python that they are, until tenfold-compile is installed."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import typing
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from tenfold.as_torch.stand_ins.absent import classes, functions, show
from tenfold.as_torch.stand_ins.warnings_once import warn_once
from tenfold.futures import Future

WHY = (
    "programs compiled by torch.jit are in the package tenfold-compile, which is not installed; the function or module itself "
    "runs as Python, and torch.save keeps a module with its class"
)

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


def fork(func: Callable[..., Any], *arguments: Any, **options: Any) -> Future:
    """Call a function; in Python it runs at once.

    >>> fork(abs, -2).wait()
    2
    """
    future = Future()
    future.set_result(func(*arguments, **options))
    return future


def wait(future: Future) -> Any:
    """The result of `fork`."""
    return future.wait()


def freeze(mod: Value, *arguments: Any, **options: Any) -> Value:
    """The module itself, in which nothing is to be folded."""
    return mod


optimize_for_inference = run_frozen_optimizations = freeze


def set_fusion_strategy(strategy: Any) -> Any:
    """Choose how compiled functions are fused: there are none."""
    return strategy


def enable_onednn_fusion(enabled: bool) -> None:
    """Choose whether oneDNN fuses operators: it is not used."""


def onednn_fusion_enabled() -> bool:
    """False: oneDNN is not used."""
    return False


@contextlib.contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A context with or without the optimiser of compiled functions: there is none."""
    yield


@contextlib.contextmanager
def fuser(name: str) -> Iterator[None]:
    """A context with another fuser: there is none."""
    yield


@contextlib.contextmanager
def strict_fusion() -> Iterator[None]:
    """A context in which what is not fused is an error: nothing is."""
    yield


globals().update(functions("load save export_opnames _get_trace_graph", WHY))
globals().update(classes("Attribute CompilationUnit ScriptFunction", WHY))
Error: Any = importlib.import_module("tenfold.as_torch.stand_ins._C").JITException


def script_method(fn: Value) -> Value:
    """The method itself."""
    return fn


def _overload(func: Value) -> Value:
    """The function itself: a signature for the compiler."""
    return func


_overload_method = _overload
show(f"{__name__}.annotations", {name: getattr(typing, name) for name in "Any Dict List Optional Tuple Type Union".split()})
_MODULES = ("RecursiveScriptModule", "ScriptModule")
_TRACING = ("TopLevelTracedModule", "TracedModule", "TracerWarning", "TracingCheckError", "trace", "trace_module")


def __getattr__(name: str) -> Any:
    if name in _TRACING or name in _MODULES:  # what tenfold-nn is needed for
        return getattr(importlib.import_module(f"{__name__}.{'_trace' if name in _TRACING else '_script'}"), name)
    raise AttributeError(f"module 'torch.jit' has no attribute {name!r}")


__all__ = [*(name for name in globals() if name[0] != "_"), *_TRACING, *_MODULES]  # noqa: PLE0604 - they are strings
