"""What PyTorch's `torch.cuda` has besides what tenfold-backend-cuda brings."""

from __future__ import annotations

import importlib
import types
from typing import Any


def complete_cuda(module: types.ModuleType) -> None:
    """Let `tenfold.cuda` answer the rest of PyTorch's names under `torch.cuda`.

    Classes are there for isinstance and annotations. Functions answer as they do without the package while there is no
    device; with one they are missing, as nothing true can be said.
    """
    own = vars(module)["__getattr__"]

    def found(name: str) -> Any:
        try:
            return own(name)
        except AttributeError:
            if name == "_initialized":
                return module.is_initialized()
            if name == "random":
                return importlib.import_module("tenfold.as_torch.stand_ins.cuda.random")
            others = importlib.import_module("tenfold.as_torch.stand_ins.cuda")
            value = vars(others).get(name)
            if name[0] == "_" or value is None or not (isinstance(value, type) or not module.is_available()):
                raise
            return value

    vars(module)["__getattr__"] = found
