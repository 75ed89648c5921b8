"""`tenfold.overrides`: tensor types and modes that see every call, under PyTorch's module name."""

from tenfold.dispatch.overrides import (
    BaseTorchFunctionMode,
    DisableTorchFunctionSubclass,
    TorchFunctionMode,
    handle_torch_function,
    has_torch_function,
    is_tensor_like,
    resolve_name,
)

__all__ = [
    "BaseTorchFunctionMode", "DisableTorchFunctionSubclass", "TorchFunctionMode", "handle_torch_function",
    "has_torch_function", "is_tensor_like", "resolve_name",
]  # fmt: skip
