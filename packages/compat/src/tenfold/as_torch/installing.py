"""`install`: from here on PyTorch's names mean Tenfold."""

from __future__ import annotations

import os
import sys

from tenfold.as_torch.array_tables import enter_loaded
from tenfold.as_torch.class_names import rename_core
from tenfold.as_torch.finder import Finder
from tenfold.as_torch.names import ROOTS
from tenfold.as_torch.roots import RootModule
from tenfold.dispatch.services import SERVICES
from tenfold.settings.environment import AS_TORCH
from tenfold.types import set_namespace

_FINDER = Finder()


def finder() -> Finder:
    """The one finder of modules under PyTorch's names."""
    return _FINDER


def install() -> None:
    """Let `import torch`, `torchvision` and `torchtext` mean Tenfold, in this process and in all that it starts.

    Call it before the first of these imports; a second call changes nothing. Raises ImportError where PyTorch itself has
    been imported already.
    """
    if _FINDER in sys.meta_path:
        return
    loaded = [name for name in ROOTS if name in sys.modules and not isinstance(sys.modules[name], RootModule)]
    if loaded:
        raise ImportError(
            f"{', '.join(loaded)} is imported already, and is not Tenfold: call tenfold.as_torch.install() before the first "
            "import of it, or run the program with python -m tenfold.as_torch"
        )
    sys.meta_path.insert(0, _FINDER)
    os.environ[AS_TORCH.name] = "1"  # for the processes that this one starts
    set_namespace("torch")
    rename_core()
    enter_loaded()
    SERVICES.provide("tenfold.as_torch.plain_pickles", "reduce")
    vars(SERVICES).pop("reduce", None)  # one found before


def is_installed() -> bool:
    """Whether PyTorch's names mean Tenfold in this process.

    >>> is_installed()
    False
    """
    return _FINDER in sys.meta_path
