"""`tenfold.overrides`: tensor types and modes that see every call, under PyTorch's module name; tenfold-compat has the rest."""

import importlib
from typing import TYPE_CHECKING, Any

from tenfold.dispatch.overrides import (
    DisableTorchFunctionSubclass,
    TorchFunctionMode,
    handle_torch_function,
    has_torch_function,
    is_tensor_like,
)

__all__ = [
    "DisableTorchFunctionSubclass", "TorchFunctionMode", "handle_torch_function", "has_torch_function", "is_tensor_like",
]  # fmt: skip

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module("tenfold.as_torch.stand_ins.overrides"), name)
