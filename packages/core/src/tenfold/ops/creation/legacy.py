"""PyTorch's old constructors: `Tensor(2, 3)` and `x.new(4)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.ops.creation.factories import as_tensor, empty_on, tensor
from tenfold.tensor.storage import UntypedStorage, on_storage
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import dtype, get_default_dtype
from tenfold.types.size import Size


def legacy_tensor(data: tuple[Any, ...], device: Any, kind: dtype | None = None, name: str = "Tensor") -> Tensor:
    """`Tensor(...)`: sizes give an uninitialised tensor, a storage or tensor its memory, a sequence its data."""
    asked, kind = kind, kind or get_default_dtype()
    value: Any = data[0] if len(data) == 1 else 0
    array = isinstance(value, np.ndarray)
    if isinstance(value[()] if array else value, (int, np.integer, Size)):
        return empty_on(_sizes(data, name), kind, device)
    if isinstance(value, UntypedStorage) or hasattr(value, "_untyped_storage"):  # or a typed one
        return on_storage(value, kind)
    if isinstance(value, Tensor):
        if device is not None and name == "Tensor":
            raise RuntimeError(
                "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported. "
                "Use torch.tensor(...) or torch.as_tensor(...) instead."
            )
        if asked is not None and value.dtype is not kind:
            raise TypeError(f"expected {kind} (got {value.dtype})")
        return value.view(value.shape)  # of its dtype and in its graph
    if isinstance(value, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    if not hasattr(value, "__len__"):
        raise TypeError(f"new(): data must be a sequence (got {type(value).__name__})")
    return (as_tensor if array else tensor)(value, dtype=kind, device=device)


def _sizes(data: tuple[Any, ...], name: str) -> tuple[int, ...]:
    sizes = tuple(data[0]) if len(data) == 1 and isinstance(data[0], Size) else data or (0,)
    if not all(hasattr(size, "__index__") for size in sizes):
        kinds = ", ".join(type(d).__name__ for d in data)
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({kinds}), expected sizes or one sequence")
    return sizes


def _new(self: Tensor, *data: Any, size: Any = None, device: Any = None) -> Tensor:
    """A tensor of the same dtype and device from sizes, a sequence, a tensor or a storage (PyTorch's legacy form)."""
    if size is not None:
        data = (*data, Size(size))
    if device is not None and len(data) == 1 and isinstance(data[0], Tensor):
        raise RuntimeError(
            "Legacy tensor new of the form tensor.new(tensor, device=device) is not supported. Use torch.as_tensor(...) instead."
        )
    return legacy_tensor(data, self.device if device is None else device, self.dtype, "new")


Tensor.new = _new  # type: ignore[method-assign, assignment]
