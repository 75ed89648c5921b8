"""The classes of typed storages by dtype, `FloatStorage` and its kin, and a tensor's own typed storage."""

from __future__ import annotations

from functools import cache
from typing import Any

from tenfold.checkpoint.typed_storage import TypedStorage, check_wrapped, warn_deprecated
from tenfold.types import dtypes
from tenfold.types.dtypes import TITLES


class _OfOneType(type):
    """The class of `FloatStorage` and its kin: calls make typed storages, which count as instances by dtype and device."""

    _dtype: Any
    _device = "cpu"

    @property
    def dtype(cls) -> Any:
        warn_deprecated()
        return cls._dtype

    is_sparse = False

    @property
    def is_cuda(cls) -> bool:
        return cls._device == "cuda"

    def __instancecheck__(cls, instance: Any) -> bool:
        return type(instance) is TypedStorage and instance._dtype is cls._dtype and instance.device.type == cls._device

    def __call__(cls, *args: Any, wrap_storage: Any = None, _internal: bool = False, **kwargs: Any) -> Any:
        if cls.__name__ == "_LegacyStorage":
            raise RuntimeError("Only child classes of _LegacyStorage can be instantiated")
        for name in kwargs:
            if name in ("dtype", "device"):
                raise RuntimeError(f"{cls.__name__}.__init__(): '{name}' cannot be specified; use TypedStorage")
            raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument '{name}'")
        if not _internal:
            warn_deprecated()
        if wrap_storage is not None:
            check_wrapped(wrap_storage, args, None, cls._dtype, cls.__name__)
            if wrap_storage.device.type != cls._device:
                raise RuntimeError(
                    f"{cls.__name__}(): the device of 'wrap_storage' must be {cls._device}, but got {wrap_storage.device.type}"
                )
            return TypedStorage(dtype=cls._dtype, wrap_storage=wrap_storage, _internal=True)
        return TypedStorage(*args, dtype=cls._dtype, device=cls._device, _internal=True)


class _LegacyStorage(TypedStorage, metaclass=_OfOneType):
    """What `FloatStorage` and its kin have in common."""


class _ElsewhereStorage(_LegacyStorage):
    """What those of another device than the CPU have in common."""

    @classmethod
    def from_buffer(cls, *args: Any, **kwargs: Any) -> Any:
        """Refused: a buffer is the host's."""
        warn_deprecated()
        raise RuntimeError(f"from_buffer: Not available for {cls._device.upper()} storage; take one of the CPU and move it")


@cache
def classes_of(device: str) -> dict[str, Any]:
    """The classes of a device type by their names, `FloatStorage` and its kin."""
    base, module = (_LegacyStorage, "tenfold") if device == "cpu" else (_ElsewhereStorage, f"tenfold.{device}")
    names = {title + "Storage": dtypes.BY_NAME[name] for name, title in TITLES.items()}
    return {
        name: _OfOneType(name, (base,), {"_dtype": kind, "_device": device, "__module__": module}) for name, kind in names.items()
    }


CLASSES = classes_of("cpu")
STORAGES = {name: CLASSES[title + "Storage"] for name, title in TITLES.items()}


def typed_storage(tensor: Any, told: bool = True) -> TypedStorage:
    """A tensor's memory as elements of its dtype."""
    if told:
        warn_deprecated(4)
    return TypedStorage(wrap_storage=tensor.untyped_storage(), dtype=tensor.dtype, _internal=True)


def storage_type(tensor: Any) -> Any:
    """The class of a tensor's typed storage, such as `FloatStorage`."""
    return classes_of(tensor.device.type)[TITLES[tensor.dtype.name] + "Storage"]
