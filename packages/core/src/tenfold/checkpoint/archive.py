"""The zip archives of checkpoints: stored (not compressed) entries whose data start at multiples of 64 bytes.

Source: https://docs.pytorch.org/docs/stable/notes/serialization.html, and the zip specification, APPNOTE.TXT.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import mmap as memory_map
import os
import pickle
import struct
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ALIGNMENT = 64
_HEADER = 30  # bytes of an entry's local header before its name
_ZIP64 = 20  # and of the field that sizes over 4 GiB add
_PADDING = 0x4246  # the id of the field that pads
# How a file begins that torch.save wrote before PyTorch 1.6: a pickle of a certain number.
_LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."


# Writing


def write_archive(f: Any, pickled: bytes, blobs: Iterable[Any]) -> None:
    """Write a checkpoint to a path, replacing the file at once, or to a file object."""
    if not isinstance(f, (str, os.PathLike)):
        _write_to(f, "archive", pickled, blobs)
        return
    path = Path(f)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            _fill(file, path.stem, pickled, blobs)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise


def _write_to(file: Any, name: str, pickled: bytes, blobs: Iterable[Any]) -> None:
    buffer = io.BytesIO()  # alignment counts from the archive's start, which need not be the file's
    _fill(buffer, name, pickled, blobs)
    file.write(buffer.getbuffer())


def _fill(file: Any, name: str, pickled: bytes, blobs: Iterable[Any]) -> None:
    digest = hashlib.sha1(pickled, usedforsecurity=False)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        entries = [("data.pkl", pickled), (".format_version", b"1"), (".storage_alignment", str(ALIGNMENT).encode())]
        for entry, data in [*entries, ("byteorder", sys.byteorder.encode())]:
            _add(archive, f"{name}/{entry}", data)
        for i, blob in enumerate(blobs):
            _add(archive, f"{name}/data/{i}", blob)
        _add(archive, f"{name}/version", b"3\n")
        serial = f"{int.from_bytes(digest.digest(), 'big') % 10**40:040d}"
        _add(archive, f"{name}/.data/serialization_id", serial.encode())


def _add(archive: zipfile.ZipFile, name: str, data: Any) -> None:
    """One entry, with an extra field of the length that moves its data to a multiple of the alignment."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    large = _ZIP64 if len(data) * 1.05 > zipfile.ZIP64_LIMIT else 0
    file: Any = archive.fp
    start = file.tell() + _HEADER + len(info.filename.encode()) + large + 4
    pad = -start % ALIGNMENT
    info.extra = struct.pack("<HH", _PADDING, pad) + b"Z" * pad
    archive.writestr(info, data)


# Reading


class Archive:
    """An open checkpoint: its records by name."""

    def __init__(self, file: Any, name: str, mapped: bool) -> None:
        self.name, self.file = name, file
        self.zip = _opened(file, name)
        roots = [n.removesuffix("data.pkl") for n in self.zip.namelist() if n.endswith("/data.pkl") and n.count("/") == 1]
        if not roots:
            raise RuntimeError(f"{name}: a zip archive without data.pkl, so no checkpoint; pass a file that save() wrote")
        self.root = roots[0]
        if self.root + "constants.pkl" in self.zip.namelist():
            raise RuntimeError(f"{name}: a TorchScript program, not a checkpoint; save the module's state_dict() instead")
        self.memory = memory_map.mmap(file.fileno(), 0, access=memory_map.ACCESS_COPY) if mapped else None
        order = self.root + "byteorder"
        self.swapped = order in self.zip.namelist() and self.zip.read(order) != sys.byteorder.encode()

    def read(self, record: str) -> bytes:
        """The bytes of a record; RuntimeError when it is missing or damaged."""
        with self._damage(record):
            return self.zip.read(self.root + record)

    def array(self, record: str) -> Any:
        """The bytes of a record as a writable uint8 array, in the file's mapped memory if it is mapped."""
        with self._damage(record):
            info = self.zip.getinfo(self.root + record)
            if self.memory is not None and info.compress_type == zipfile.ZIP_STORED:
                return self._in_memory(info)
            data = np.empty(info.file_size, np.uint8)
            with self.zip.open(info) as source:
                got = 0
                while got < data.size:
                    part = source.read(min(1 << 24, data.size - got))
                    if not part:
                        raise zipfile.BadZipFile(f"{got} of {data.size} bytes")
                    data[got : got + len(part)] = np.frombuffer(part, np.uint8)
                    got += len(part)
                source.read(1)  # the end, where the checksum is compared
            return data

    def _in_memory(self, info: Any) -> Any:
        memory: Any = self.memory
        names = struct.unpack("<HH", memory[info.header_offset + 26 : info.header_offset + _HEADER])
        start = info.header_offset + _HEADER + sum(names)
        if start + info.file_size > len(memory):
            raise zipfile.BadZipFile("the record ends after the file")
        return np.frombuffer(memory, np.uint8, info.file_size, start)

    @contextlib.contextmanager
    def _damage(self, record: str) -> Iterator[None]:
        try:
            yield
        except (KeyError, zipfile.BadZipFile, EOFError, struct.error, NotImplementedError) as error:
            raise RuntimeError(
                f"{self.name}: record {record!r} is missing or damaged ({error}); the file is corrupt, use another copy of it"
            ) from error


def _opened(file: Any, name: str) -> zipfile.ZipFile:
    start = file.tell()
    head = file.read(len(_LEGACY))
    file.seek(start)
    if not head:
        raise EOFError(f"{name}: the file is empty")
    if head == _LEGACY:
        raise RuntimeError(
            f"{name}: in the format from before PyTorch 1.6 (no zip archive), which is not read; load it with PyTorch and "
            f"save it again with torch.save"
        )
    if not head.startswith(b"PK"):
        raise pickle.UnpicklingError(f"{name}: not a checkpoint: it starts with {head[:4]!r}, and a zip archive with b'PK'")
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise RuntimeError(
            f"{name}: failed reading zip archive: {error}; the file is corrupt or was cut short, use another copy of it"
        ) from error


@contextlib.contextmanager
def open_archive(f: Any, mapped: bool) -> Iterator[Archive]:
    """A checkpoint at a path or in a file object that can be read and searched (seek)."""
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            yield Archive(file, os.fspath(f), mapped)
        return
    if not all(hasattr(f, name) for name in ("read", "seek", "tell")):
        raise AttributeError(
            f"load: expected a path or a file that can be read and searched (read, seek, tell), got {type(f).__name__}; "
            f"wrap its content in io.BytesIO"
        )
    start = f.tell()
    if start:  # an archive inside a larger file
        f = io.BytesIO(f.read())
    yield Archive(f, str(getattr(f, "name", "the file object")), mapped=False)
