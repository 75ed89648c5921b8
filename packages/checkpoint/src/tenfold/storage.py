"""`tenfold.storage`: the memory behind tensors, under PyTorch's module name."""

from __future__ import annotations

import io
from typing import Any

from tenfold.checkpoint.serialization import load
from tenfold.checkpoint.storage_classes import CLASSES, STORAGES, _LegacyStorage
from tenfold.checkpoint.typed_storage import (
    TypedStorage,
    always_warn as _get_always_warn_typed_storage_removal,
    reset_warning as _reset_warn_typed_storage_removal,
    set_always_warn as _set_always_warn_typed_storage_removal,
)
from tenfold.tensor.storage import UntypedStorage
from tenfold.types import dtypes
from tenfold.types.dtypes import TITLES

__all__ = [
    "TypedStorage", "UntypedStorage", "_LegacyStorage", "_get_always_warn_typed_storage_removal",
    "_reset_warn_typed_storage_removal", "_set_always_warn_typed_storage_removal",
]  # fmt: skip


def _load_from_bytes(data: bytes) -> Any:
    """A storage in a pickle of PyTorch's, which has a checkpoint in it; like any pickle, of files that one trusts."""
    return load(io.BytesIO(data), weights_only=False)


def _dtype_to_storage_type_map() -> dict[Any, str]:
    return {dtypes.BY_NAME[name]: f"{title}Storage" for name, title in TITLES.items()}


def _storage_type_to_dtype_map() -> dict[str, Any]:
    return {name: d for d, name in _dtype_to_storage_type_map().items()}


_StorageBase = UntypedStorage
Storage = CLASSES["FloatStorage"]
_storage_classes = {*STORAGES.values(), UntypedStorage, TypedStorage}


def __getattr__(name: str) -> Any:
    if name in CLASSES:
        return CLASSES[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
