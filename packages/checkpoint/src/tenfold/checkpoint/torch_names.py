"""Names of PyTorch's for Tenfold's classes and functions, so that PyTorch can read whole modules and optimizers.

A checkpoint of tensors has PyTorch's names always. An object is written with its class's own name, unless `torch_names` says
otherwise or Tenfold goes by PyTorch's names altogether.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

from tenfold.checkpoint.names import Global
from tenfold.types import namespace

# Where PyTorch's users find things, the most particular place first.
_PLACES = (
    "nn.functional", "nn.init", "nn.parallel", "nn.utils", "nn", "optim.lr_scheduler", "optim.swa_utils", "optim", "utils.data",
    "distributions", "autograd", "amp", "linalg", "special", "fft",
)  # fmt: skip
_HERE = threading.local()


@contextlib.contextmanager
def torch_names(enabled: bool = True) -> Iterator[None]:
    """A context in which `save` writes Tenfold's classes under PyTorch's names, or with False under their own.

    PyTorch then reads whole modules with `torch.load(file, weights_only=False)`. Under `tenfold.as_torch` this is the default.

    >>> import io, tenfold
    >>> with torch_names():
    ...     tenfold.save(tenfold.Size([2]), io.BytesIO())
    """
    before = getattr(_HERE, "enabled", None)
    _HERE.enabled = enabled
    try:
        yield
    finally:
        _HERE.enabled = before


def writes_torch_names() -> bool:
    """Whether classes are written under PyTorch's names here."""
    enabled = getattr(_HERE, "enabled", None)
    return namespace() == "torch" if enabled is None else bool(enabled)


def torch_global(obj: Any) -> Global | None:
    """PyTorch's name of a class or function of Tenfold's, or None where it has none."""
    module, name = obj.__module__, obj.__qualname__
    if module.startswith("tenfold.nn") and isinstance(obj, type):
        modules = importlib.import_module("tenfold.nn.modules")
        for place, shown in vars(modules).items():
            if getattr(shown, name, None) is obj and getattr(shown, "__name__", "").startswith("tenfold.nn.modules."):
                return Global(f"torch.nn.modules.{place}", name)
    of_torch = Global("torch", name) if getattr(sys.modules["tenfold"], name, None) is obj else None
    if of_torch is not None and isinstance(obj, type):  # functions of several places are written with the most particular
        return of_torch
    for place in _PLACES:
        shown = sys.modules.get(f"tenfold.{place}")
        if shown is not None and getattr(shown, name, None) is obj:
            return Global(f"torch.{place}", name)
    return Global(module.replace("tenfold", "torch", 1), name) if module.startswith("tenfold.nn.utils.") else of_torch
