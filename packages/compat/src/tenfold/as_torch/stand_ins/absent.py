"""Names that programs import and that Tenfold has not: they can be imported, and using them says why not."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from typing import Any


def functions(names: str, why: str) -> dict[str, Callable[..., Any]]:
    """A function for each name that raises NotImplementedError when it is called.

    >>> functions("trace", "tracing is elsewhere")["trace"]()
    Traceback (most recent call last):
    NotImplementedError: trace: tracing is elsewhere
    """
    return {name: _function(name, why) for name in names.split()}


def classes(names: str, why: str) -> dict[str, type]:
    """A class for each name that raises NotImplementedError when one is made of it; nothing is an instance.

    >>> isinstance(1, classes("Graph", "graphs are elsewhere")["Graph"])
    False
    """
    return {name: _class(name, why) for name in names.split()}


def errors(names: str, base: type[Exception]) -> dict[str, type[Exception]]:
    """An exception for each name, which programs name behind `except` and which nothing here raises.

    >>> errors("Unsupported", RuntimeError)["Unsupported"]("a loop")
    Unsupported('a loop')
    """
    return {name: type(name, (base,), {"__doc__": "Nothing here raises it.", "__module__": __name__}) for name in names.split()}


def show(module: str, names: Mapping[str, Any]) -> types.ModuleType:
    """Make a module of PyTorch's that is only a place where names of its parent's are found."""
    shown = sys.modules[module] = types.ModuleType(module, f"PyTorch's path of {', '.join(names)}.")
    shown.__dict__.update(names)
    shown.__spec__ = ModuleSpec(module, None)  # for importlib.util.find_spec, which refuses a loaded module without one
    parent, _, leaf = module.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], leaf, shown)
    return shown


def show_missing(parent: str, paths: Mapping[str, str], why: str) -> None:
    """Make modules below `parent`, each with classes and functions (by the case of their first letter) that say why not.

    A class of one name is the same under every path, and paths are packages, below which others may lie.
    """
    every = {name for names in paths.values() for name in names.split()}
    kinds = {name for name in every if name.strip("_")[:1].isupper()}
    made = {**classes(" ".join(kinds), why), **functions(" ".join(every - kinds), why), **vars(sys.modules[parent])}
    for path, names in paths.items():
        ancestors = path.split(".")[:-1]
        for above in (".".join(ancestors[: i + 1]) for i in range(len(ancestors))):
            if f"{parent}.{above}" not in sys.modules:
                show(f"{parent}.{above}", {}).__path__ = []
        show(f"{parent}.{path}", {name: made[name] for name in names.split()}).__path__ = []


def reason_of(value: Any) -> str | None:
    """Why a function or class made here is not the real one; None for anything else."""
    return vars(value).get("why_absent") if isinstance(value, (type, types.FunctionType)) else None


def _function(name: str, why: str) -> Callable[..., Any]:
    def missing(*arguments: Any, **options: Any) -> Any:
        raise NotImplementedError(f"{name}: {why}")

    missing.__name__ = missing.__qualname__ = name
    missing.__doc__ = f"Not here: {why}."
    missing.__dict__["why_absent"] = why
    return missing


def _class(name: str, why: str) -> type:
    def refuse(self: Any, *arguments: Any, **options: Any) -> None:
        raise NotImplementedError(f"{name}: {why}")

    return type(name, (), {"__init__": refuse, "__doc__": f"Not here: {why}.", "__module__": __name__, "why_absent": why})
