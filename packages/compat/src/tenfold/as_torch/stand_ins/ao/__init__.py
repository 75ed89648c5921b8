"""`torch.ao`: what programs ask of PyTorch's older tools for quantized and sparse models."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["quantization"]


def __getattr__(name: str) -> Any:
    """`torch.ao.quantization`, also where nobody has imported it."""
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'torch.ao' has no attribute {name!r}")
