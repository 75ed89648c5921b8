"""The names under which PyTorch writes functions, classes and dtypes."""

from __future__ import annotations

from typing import Any

from tenfold.types import dtypes, memory_format as formats
from tenfold.types.dtypes import TITLES

# PyTorch's names of typed storages; other dtypes are saved with an untyped storage and the dtype beside it.
STORAGES = {dtype: f"{title}Storage" for dtype, title in TITLES.items()}
UNTYPED = "UntypedStorage"


class Global:
    """A function or class that is written by its name only."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self) -> None:
        """Pickle asks that what it writes as a function can be called."""


class StorageType:
    """What a storage's class means in a pickle: how its bytes are read."""

    def __init__(self, dtype: dtypes.dtype, typed: bool) -> None:
        self.dtype, self.typed = dtype, typed


STORAGE_GLOBALS: dict[str, Global] = {name: Global("torch", name) for name in STORAGES.values()}
STORAGE_GLOBALS[UNTYPED] = Global("torch.storage", UNTYPED)
DTYPE_GLOBALS: dict[Any, Global] = {dtype: Global("torch", dtype.name) for dtype in dtypes.ALL}
FORMAT_GLOBALS = {
    name: Global("torch", name) for name, value in vars(formats).items() if isinstance(value, formats.memory_format)
}
STORAGE_TYPES = {name: StorageType(dtypes.BY_NAME[dtype], True) for dtype, name in STORAGES.items()}
STORAGE_TYPES[UNTYPED] = StorageType(dtypes.uint8, False)
