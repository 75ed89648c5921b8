"""Computer vision: datasets, transforms, models, box operators and pictures, under torchvision's names.

The submodules come in when first named, so that ``import tenfold.vision`` loads neither Pillow nor `tenfold.nn`.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from tenfold.vision.backends import (
    _is_tracing,
    disable_beta_transforms_warning,
    get_image_backend,
    get_video_backend,
    set_image_backend,
    set_video_backend,
)

_SUBMODULES = ("datasets", "extension", "io", "models", "ops", "transforms", "tv_tensors", "utils")
__all__ = [
    "_is_tracing",
    "datasets",
    "disable_beta_transforms_warning",
    "extension",
    "get_image_backend",
    "get_video_backend",
    "io",
    "models",
    "ops",
    "set_image_backend",
    "set_video_backend",
    "transforms",
    "tv_tensors",
    "utils",
]


def __getattr__(name: str) -> ModuleType:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(_SUBMODULES)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
