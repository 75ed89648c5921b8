"""`tenfold.overrides`: tensor types and modes that see every call, under PyTorch's module name."""

import importlib
from contextlib import suppress
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
        if not name.startswith("__"):
            with suppress(ImportError):
                return getattr(importlib.import_module("tenfold.as_torch.stand_ins.overrides"), name)
        raise AttributeError(f"tenfold.overrides has no {name!r}; more of it is in tenfold-compat")
