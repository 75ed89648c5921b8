"""Libraries that look an array's engine up in a table by the first name of its class's module find PyTorch's row for Tenfold.

A tensor's class says truthfully that it is `tenfold.Tensor`. Such libraries have a way to say under which of their rows a
class falls, which is gone here as soon as they are imported, and only where Tenfold stands in for PyTorch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any

import tenfold


def _autoray(module: Any) -> None:
    module.register_backend(tenfold.Tensor, "torch")


def _opt_einsum(module: Any) -> None:
    module._aliases.setdefault("tenfold", module._aliases["torch"])


def _eagerpy(module: Any) -> None:
    plain = module._get_module_name
    module._get_module_name = lambda x: "torch" if isinstance(x, tenfold.Tensor) else plain(x)


TABLES: dict[str, Callable[[Any], None]] = {
    "autoray.autoray": _autoray,
    "eagerpy.astensor": _eagerpy,
    "opt_einsum.backends.dispatch": _opt_einsum,
}


def enter_loaded() -> None:
    """Enter Tenfold in the tables of libraries that were imported before."""
    for name, enter in TABLES.items():
        if name in sys.modules:
            enter(sys.modules[name])


def entering(spec: ModuleSpec | None) -> ModuleSpec | None:
    """The same specification of a library's module, entering Tenfold in its table once it has run."""
    loader: Any = None if spec is None else spec.loader
    if spec is not None and hasattr(loader, "exec_module"):
        run, enter = loader.exec_module, TABLES[spec.name]

        def exec_module(module: Any) -> None:
            run(module)
            enter(module)

        loader.exec_module = exec_module
    return spec
