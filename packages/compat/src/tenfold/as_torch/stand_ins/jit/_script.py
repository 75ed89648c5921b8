"""The classes of PyTorch's compiled modules: modules like any other here, which run as Python."""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.as_torch.stand_ins.jit import WHY, script

__all__ = ["RecursiveScriptModule", "ScriptModule", "script"]
Module: Any = importlib.import_module("tenfold.nn").Module  # tenfold-nn, which only these need


class ScriptModule(Module):  # type: ignore[misc]
    """A module whose class says that it is to be compiled: its methods run as Python.

    >>> class Twice(ScriptModule):
    ...     def forward(self, x):
    ...         return x * 2
    >>> Twice()(3)
    6
    """

    def save(self, f: Any, **options: Any) -> None:
        """Not here: only a graph could be saved without the class."""
        raise NotImplementedError(f"ScriptModule.save: {WHY}")


class RecursiveScriptModule(ScriptModule):
    """What PyTorch's `script` makes of a module; here it returns the module itself, so that none is of this class."""
