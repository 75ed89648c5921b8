"""Computer vision: datasets, transforms, models, box operators and pictures, under torchvision's names.

The submodules come in when first named, so that ``import tenfold.vision`` loads neither Pillow nor `tenfold.nn`.
"""

from __future__ import annotations

import importlib
from types import ModuleType

_SUBMODULES = ("datasets", "io", "models", "ops", "transforms", "tv_tensors", "utils")
__all__ = list(_SUBMODULES)


def __getattr__(name: str) -> ModuleType:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(_SUBMODULES)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
