"""PyTorch's old constructors: `Tensor(2, 3)`, `FloatTensor([1, 2])`, `x.new(4)`, and the typed tensor classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch import devices
from tenfold.ops.creation.factories import empty_on, tensor
from tenfold.settings.warnings import warn_once
from tenfold.tensor.storage import UntypedStorage, on_storage
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes
from tenfold.types.dtypes import TITLES, dtype, get_default_dtype, set_default_dtype
from tenfold.types.memory_format import strided
from tenfold.types.size import Size


def legacy_tensor(data: tuple[Any, ...], device: Any, kind: dtype | None = None, name: str = "Tensor") -> Tensor:
    """`Tensor(...)`: sizes give an uninitialised tensor, a storage or tensor its memory, a sequence its data."""
    asked, kind = kind, kind or get_default_dtype()
    if len(data) != 1 or isinstance(data[0], (int, np.integer, Size)):
        return empty_on(_sizes(data, name), kind, device)
    value = data[0]
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
    if not hasattr(value, "__len__") or (isinstance(value, np.ndarray) and not value.ndim):
        raise TypeError(f"new(): data must be a sequence (got {type(value).__name__})")
    return tensor(value, dtype=kind, device=device)


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


Tensor.new = _new  # type: ignore[method-assign, assignment] # declared in operator_methods.pyi


class _TypedTensor(type):
    """The class of `FloatTensor` and its kin: calls make tensors, which are instances by dtype and device."""

    dtype: dtype
    device_type = "cpu"  # another in the packages of other devices
    layout = strided
    is_cuda = is_sparse = is_xpu = False

    def __new__(cls, name: str, bases: tuple[type, ...], names: dict[str, Any]) -> Any:
        if bases:
            raise TypeError(f"type 'torch.{bases[0].__name__}' is not an acceptable base type")
        return type.__new__(cls, name, bases, names)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype and instance.device.type == cls.device_type

    def __call__(cls, *data: Any, device: Any = None) -> Tensor:
        own = cls.device_type
        if device is not None and devices.device(device).type != own:
            raise RuntimeError(f"legacy constructor expects device type: {own} but device type: {device} was passed")
        return legacy_tensor(data, own if device is None else device, cls.dtype, cls.__name__)


TYPED: dict[str, Any] = {
    title + "Tensor": _TypedTensor(title + "Tensor", (), {"dtype": dtypes.BY_NAME[name], "__module__": "tenfold"})
    for name, title in TITLES.items()
    if not name.startswith("complex")
}
_tensor_classes = set(TYPED.values())


def set_default_tensor_type(kind: Any) -> None:
    """Set the default floating type by a typed tensor class or its name, such as "torch.DoubleTensor"; deprecated."""
    warn_once(
        "set_default_tensor_type",
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives.",
    )
    found = TYPED.get(kind.rpartition(".")[2]) if isinstance(kind, str) else kind
    if not isinstance(found, _TypedTensor):
        raise TypeError(f"invalid type object: only floating-point types are supported as the default type, got {kind!r}")
    if found.dtype.category != 2:
        raise TypeError("only floating-point types are supported as the default type")
    set_default_dtype(found.dtype)


def __getattr__(name: str) -> Any:
    try:
        return TYPED[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
