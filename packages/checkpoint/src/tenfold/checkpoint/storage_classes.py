"""The classes of typed storages by dtype, `FloatStorage` and its kin, and a tensor's own typed storage."""

from __future__ import annotations

from typing import Any

from tenfold.checkpoint.typed_storage import TypedStorage, check_wrapped, warn_deprecated
from tenfold.types import dtypes
from tenfold.types.dtypes import TITLES


class _OfOneType(type):
    """The class of `FloatStorage` and its kin: calls make typed storages, which count as instances by their dtype."""

    _dtype: Any

    @property
    def dtype(cls) -> Any:
        warn_deprecated()
        return cls._dtype

    is_cuda = is_sparse = False

    def __instancecheck__(cls, instance: Any) -> bool:
        return type(instance) is TypedStorage and instance._dtype is cls._dtype and instance.device.type == "cpu"

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
        return TypedStorage(*args, dtype=cls._dtype, wrap_storage=wrap_storage, _internal=True)


class _LegacyStorage(TypedStorage, metaclass=_OfOneType):
    """What `FloatStorage` and its kin have in common."""


STORAGES = {
    name: _OfOneType(f"{title}Storage", (_LegacyStorage,), {"_dtype": dtypes.BY_NAME[name], "__module__": "tenfold"})
    for name, title in TITLES.items()
}
CLASSES = {cls.__name__: cls for cls in STORAGES.values()}


def typed_storage(tensor: Any, told: bool = True) -> TypedStorage:
    """A tensor's memory as elements of its dtype."""
    if told:
        warn_deprecated(4)
    return TypedStorage(wrap_storage=tensor.untyped_storage(), dtype=tensor.dtype, _internal=True)


def storage_type(tensor: Any) -> Any:
    """The class of a tensor's typed storage, such as `FloatStorage`."""
    return STORAGES[tensor.dtype.name]
