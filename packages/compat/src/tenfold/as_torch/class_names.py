"""Classes under PyTorch's names: what a program sees of a class is `torch.nn.modules.linear.Linear`.

Libraries ask a class for its module to tell PyTorch's layers from a user's, print it, and write it into files of settings.
`Tensor` keeps its own name: by it anybody can tell whose tensors these are.
"""

from __future__ import annotations

import importlib
import sys
import types

import tenfold

_OF_TORCH = ("Size", "Generator", "device", "dtype", "layout", "memory_format")


def rename_core() -> None:
    """Classes of `torch` itself."""
    for name in _OF_TORCH:
        getattr(tenfold, name).__module__ = "torch"


def rename_layers() -> None:
    """The layers' classes, each where PyTorch has it."""
    modules = importlib.import_module("tenfold.nn.modules")
    for path, shown in list(vars(modules).items()):
        if isinstance(shown, types.ModuleType) and shown.__name__ == f"tenfold.nn.modules.{path}":
            sys.modules[f"torch.nn.modules.{path}"] = shown  # where `typing.get_type_hints` looks annotations up
            for value in list(vars(shown).values()):
                if isinstance(value, type) and value.__module__.startswith("tenfold.nn."):
                    _show_names_of(sys.modules[value.__module__], shown)
                    value.__module__ = f"torch.nn.modules.{path}"


def _show_names_of(source: types.ModuleType, shown: types.ModuleType) -> None:
    """What a class's file imports, in the module that it names, for its annotations."""
    for name, value in vars(source).items():
        if not name.startswith("__"):
            shown.__dict__.setdefault(name, value)
