"""Classes under PyTorch's names: what a program sees of a class is `torch.nn.modules.linear.Linear`.

Libraries ask a class for its module to tell PyTorch's layers from a user's, print it, and write it into files of settings.
`Tensor` keeps its own name: by it anybody can tell whose tensors these are.
"""

from __future__ import annotations

import importlib
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
            for value in vars(shown).values():
                if isinstance(value, type) and value.__module__.startswith("tenfold.nn."):
                    value.__module__ = f"torch.nn.modules.{path}"
