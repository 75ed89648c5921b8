"""PyTorch's typed tensor classes, `FloatTensor([1, 2])` and its kin, whose storages are the typed ones."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch import devices
from tenfold.ops.creation.legacy import legacy_tensor
from tenfold.settings.warnings import warn_once
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes
from tenfold.types.dtypes import TITLES, dtype, set_default_dtype
from tenfold.types.memory_format import strided


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
        if own != "cpu":
            advice = f"Use torch.tensor(data, dtype=..., device={own!r}) instead."
            warn_once(f"typed {own}", f"The torch.{own}.*DtypeTensor constructors are no longer recommended. {advice}", 3)
        return legacy_tensor(data, own if device is None else device, cls.dtype, cls.__name__)


TYPED: dict[str, Any] = {
    title + "Tensor": _TypedTensor(title + "Tensor", (), {"dtype": dtypes.BY_NAME[name], "__module__": "tenfold"})
    for name, title in TITLES.items()
    if not name.startswith("complex")
}


_tensor_classes = set(TYPED.values())
_placed: list[str] = []  # the device that set_default_tensor_type has made the default one


def set_default_tensor_type(kind: Any) -> None:
    """Set the default floating type by a typed tensor class or its name, such as "torch.DoubleTensor"; deprecated.

    A class of another device, such as `cuda.FloatTensor`, makes that the default device until one of the CPU is set.
    """
    warn_once(
        "set_default_tensor_type",
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives.",
    )
    *prefix, name = kind.removeprefix("torch.").split(".") if isinstance(kind, str) else (kind,)
    found = TYPED.get(name) if isinstance(kind, str) else kind
    if not isinstance(found, _TypedTensor):
        raise TypeError(f"invalid type object: only floating-point types are supported as the default type, got {kind!r}")
    if found.dtype.category != 2:
        raise TypeError("only floating-point types are supported as the default type")
    place = prefix[0] if prefix else found.device_type
    if place != "cpu" or _placed:
        devices.set_default_device(None if place == "cpu" else place)
        _placed[:] = [place] * (place != "cpu")
    set_default_dtype(found.dtype)


def __getattr__(name: str) -> Any:
    try:
        return TYPED[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
