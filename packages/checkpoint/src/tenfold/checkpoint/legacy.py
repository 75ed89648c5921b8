"""The format from before PyTorch 1.6: pickles one after the other, then the bytes of every storage.

magic number, protocol version, {sizes of C types}     three pickles
the object                                            storages by reference: their class, key and length
[key, ...]                                            a pickle
length (int64), bytes                                 of each storage in that order, little endian
"""

from __future__ import annotations

import io
import pickle
import struct
import sys
from typing import Any

import numpy as np

from tenfold.checkpoint.errors import CheckpointError, located
from tenfold.checkpoint.names import StorageType
from tenfold.checkpoint.options import skipping
from tenfold.checkpoint.rebuilding import swap_bytes, unread_storages
from tenfold.checkpoint.unpickler import SafeUnpickler
from tenfold.dispatch import devices
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import host, wrap

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
_SIZES = {"protocol_version": PROTOCOL_VERSION, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}


def write(file: Any, pickled: bytes, storages: list[tuple[Storage, int]], protocol: int) -> None:
    """A whole file; `storages` are memory and the bytes of its elements, by their place as key."""
    for head in (MAGIC_NUMBER, PROTOCOL_VERSION, _SIZES):
        file.write(pickle.dumps(head, protocol))
    file.write(pickled)
    file.write(pickle.dumps([str(i) for i in range(len(storages))], protocol))
    for storage, itemsize in storages:
        file.write(struct.pack("<q", storage.nbytes() // itemsize))
        file.write(memoryview(host(storage._bytes())))
    if hasattr(file, "flush"):
        file.flush()


class _Reader(io.BufferedReader):
    """A file that makes no room for more bytes than it has."""

    def read(self, size: int | None = -1) -> bytes:
        """So many bytes, or as many as there are."""
        if size is None or not 0 <= size < io.DEFAULT_BUFFER_SIZE:
            left = max(self.raw.size - self.tell(), 0)  # type: ignore[attr-defined]
            size = left if size is None or size < 0 else min(size, left)
        return super().read(size)


class LegacyReader:
    """An open file of this format; `place` brings a storage to where it belongs."""

    def __init__(self, window: Any, name: str, place: Any) -> None:
        self.window, self.name, self.place = window, name, place
        self.file = _Reader(window)
        self.known: dict[str, tuple[StorageType, int, str, Any, Storage]] = {}
        self.left = window.size

    def load(self, kind: Any, **options: Any) -> Any:
        """The object, made by an unpickler of class `kind`."""
        with located(self.name, "header"):
            magic, version, _ = (SafeUnpickler(self.file, self._no_storage, self.name, **options).load() for _ in range(3))
        if magic != MAGIC_NUMBER or version != PROTOCOL_VERSION:
            raise CheckpointError(f"not a checkpoint: it begins with {magic!r} and {version!r}", self.name)
        with unread_storages() as checks:
            made = kind(self.file, self.storage, self.name, **options).load()
        with located(self.name, "storages"):
            self._fill(SafeUnpickler(self.file, self._no_storage, self.name).load())
            if not skipping():
                for check in checks:
                    check()
        self.window.seek(self.file.tell())
        return made

    def _no_storage(self, *_: Any) -> Any:
        raise ValueError("a storage where none belongs")

    def storage(self, kind: StorageType, key: str, location: str, count: int) -> Storage:
        """Memory whose bytes come later in the file; refused when the file is too short to hold them."""
        size = count * kind.dtype.itemsize
        if key not in self.known:
            self.left -= size
            if self.left < 0:
                raise CheckpointError(f"{size} bytes, more than the file has", self.name, f"storage {key}")
            data = np.zeros(size, np.uint8)
            placed = self.place(wrap(data.view(kind.dtype.numpy), devices.located(devices.CPU)), location)
            self.known[key] = kind, count, location, data, placed
        known, known_count = self.known[key][:2]
        if not count and not known_count:  # nothing lies there that could be read in two ways
            return self.place(wrap(np.zeros(0, kind.dtype.numpy), devices.located(devices.CPU)), location)  # type: ignore[no-any-return]
        if known is not kind or known_count != count:
            raise CheckpointError("two references that disagree about class or length", self.name, f"storage {key}")
        return self.known[key][4]

    def _fill(self, keys: Any) -> None:
        if not isinstance(keys, list) or sorted(map(str, keys)) != sorted(self.known):
            raise ValueError("the list of storages is not that of the object's")
        for key in keys:
            kind, count, _, data, placed = self.known[str(key)]
            (length,) = struct.unpack("<q", self.file.read(8))
            if length != count:
                raise ValueError(f"storage {key} has {length} elements, expected {count}")
            self._read(data)
            if sys.byteorder == "big":
                swap_bytes(wrap(data, devices.located(devices.CPU)), kind.dtype)
            if placed.device.type not in ("cpu", "meta"):
                placed._bytes().copy_(wrap(data, devices.located(devices.CPU)))

    def _read(self, data: Any) -> None:
        if skipping():
            self.file.seek(data.size, io.SEEK_CUR)
        elif data.size and self.file.readinto(memoryview(data)) != data.size:
            raise EOFError("the file ends in a storage")
