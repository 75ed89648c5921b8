"""What governs saving and loading besides their arguments: byte order, memory mapping, checksums, allowed names, devices."""

from __future__ import annotations

import enum
import mmap
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tenfold.checkpoint.torch_names import torch_global

MAP_PRIVATE = getattr(mmap, "MAP_PRIVATE", 2)
MAP_SHARED = getattr(mmap, "MAP_SHARED", 1)


class LoadEndianness(enum.Enum):
    """The byte order of files that do not say theirs."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _Options:
    endianness: LoadEndianness | None = None
    mmap_flags: int = MAP_PRIVATE
    compute_crc32: bool = True


OPTIONS = _Options()
_HERE = threading.local()


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Say which byte order files have that do not say theirs; None means little."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    OPTIONS.endianness = endianness


def get_default_load_endianness() -> LoadEndianness | None:
    """What `set_default_load_endianness` has set."""
    return OPTIONS.endianness


def is_swapped(mark: bytes | None) -> bool:
    """Whether data of a file with this byte order mark, or without one, must be turned round here."""
    if mark is not None:
        return mark != sys.byteorder.encode()
    kind = OPTIONS.endianness or LoadEndianness.LITTLE
    return kind is not LoadEndianness.NATIVE and kind.name.lower() != sys.byteorder


class set_default_mmap_options:  # noqa: N801 - PyTorch's name
    """Choose what `load(mmap=True)` maps: MAP_PRIVATE keeps writes in memory, MAP_SHARED writes them to the file.

    As a context manager it puts the earlier choice back.
    """

    def __init__(self, flags: int) -> None:
        if sys.platform == "win32":
            raise RuntimeError("Changing the default mmap options is currently not supported for Windows")
        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, "
                f"expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got {flags}"
            )
        self.before, OPTIONS.mmap_flags = OPTIONS.mmap_flags, flags

    def __enter__(self) -> None:
        """The choice holds already."""

    def __exit__(self, *_: object) -> None:
        OPTIONS.mmap_flags = self.before


def get_default_mmap_options() -> int:
    """What `set_default_mmap_options` has set."""
    return OPTIONS.mmap_flags


def set_crc32_options(compute_crc32: bool) -> None:
    """Whether `save` computes checksums; a record saved with none (0) is not checked when it is loaded."""
    OPTIONS.compute_crc32 = bool(compute_crc32)


def get_crc32_options() -> bool:
    """What `set_crc32_options` has set."""
    return OPTIONS.compute_crc32


@contextmanager
def skip_data(materialize_fake_tensors: bool = False) -> Iterator[None]:
    """Save and load without the data: files with the room for it, tensors of zeros."""
    before, _HERE.skip = skipping(), True
    try:
        yield
    finally:
        _HERE.skip = before


def skipping() -> bool:
    """Whether this thread is inside `skip_data`."""
    return getattr(_HERE, "skip", False)


# Names that may be loaded besides


SAFE: dict[str, tuple[Any, Any]] = {}  # by "module.name": what the user gave, and the object


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let `load` with weights_only=True make objects of these classes and call these functions (or (object, "path") pairs)."""
    for entry in safe_globals:
        value, name = entry if isinstance(entry, tuple) else (entry, f"{entry.__module__}.{entry.__qualname__}")
        SAFE[name] = entry, value
        if value is entry and (theirs := torch_global(value)) is not None:  # under which `save` may have written it
            SAFE[f"{theirs.module}.{theirs.name}"] = entry, value


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` has added."""
    return list({id(entry): entry for entry, _ in SAFE.values()}.values())


def clear_safe_globals() -> None:
    """Take back what `add_safe_globals` has added."""
    SAFE.clear()


@contextmanager
def safe_globals(safe_globals: list[Any]) -> Iterator[None]:
    """`add_safe_globals` for the duration of a `with` block."""
    before = dict(SAFE)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        SAFE.clear()
        SAFE.update(before)


# Where storages lie


Tagger = Callable[[Any], "str | None"]
Deserializer = Callable[[Any, str], Any]
PACKAGES: list[tuple[int, Tagger, Deserializer]] = []


def register_package(priority: int, tagger: Tagger, deserializer: Deserializer) -> None:
    """Teach `save` the name of a storage's place, and `load` how to bring a storage there; the lowest priority is asked first.

    `tagger(storage)` and `deserializer(storage, location)` return None for what they do not know; devices of installed
    backends need neither.
    """
    PACKAGES.append((priority, tagger, deserializer))
    PACKAGES.sort(key=lambda entry: entry[0])


def location_tag(storage: Any) -> str:
    """The name under which a storage's place is saved: "cpu", "cuda:0"."""
    tags = (tagger(storage) for _, tagger, _ in PACKAGES)
    return next((tag for tag in tags if tag), str(storage.device))
