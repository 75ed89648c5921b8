"""The zip archives of checkpoints: stored (not compressed) entries whose data start at multiples of 64 bytes.

Source: https://docs.pytorch.org/docs/stable/notes/serialization.html, and the zip specification, APPNOTE.TXT.
"""

from __future__ import annotations

import contextlib
import io
import mmap as memory_map
import os
import struct
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tenfold.checkpoint.errors import CheckpointError, located
from tenfold.checkpoint.files import CHUNK, Counted, FileLike, name_of, opened, replaced
from tenfold.checkpoint.options import MAP_SHARED, OPTIONS

ALIGNMENT = 64
_HEADER = 30  # bytes of an entry's local header before its name
_ZIP64 = 20  # and of the field that sizes over 4 GiB add
_PADDING = 0x4246  # the id of the field that pads
# What compressed entries may expand to: `save` compresses nothing, a zip program reaches this only with zeros.
_EXPANSION, _SMALL = 100, 1 << 24


# Writing


class ArchiveWriter:
    """An archive being written, record by record."""

    def __init__(self, archive: zipfile.ZipFile, root: str) -> None:
        self.zip, self.root = archive, root

    def write_record(self, name: str, data: Any, size: int | None = None) -> None:
        """One record; `size` is how much of the data it has, all by default."""
        data = memoryview(data.encode() if isinstance(data, str) else data).cast("B")[:size]
        self._write(name, len(data), [data], check=OPTIONS.compute_crc32)

    def write_record_metadata(self, name: str, size: int) -> None:
        """Room for a record whose data are filled in later: zeros, without a checksum."""
        parts = (bytes(min(CHUNK, size - start)) for start in range(0, size, CHUNK))
        self._write(name, size, parts, check=False)

    def _write(self, name: str, size: int, parts: Any, check: bool) -> None:
        info = zipfile.ZipInfo(f"{self.root}/{name}", (1980, 1, 1, 0, 0, 0))
        info.file_size = size
        large = size * 1.05 > zipfile.ZIP64_LIMIT
        file: Any = self.zip.fp
        start = file.tell() + _HEADER + len(info.filename.encode()) + large * _ZIP64 + 4
        pad = -start % ALIGNMENT
        info.extra = struct.pack("<HH", _PADDING, pad) + b"Z" * pad
        record: Any = self.zip.open(info, "w", force_zip64=large)
        try:
            for part in parts:
                record.write(part)
            if not check:  # 0 is what says so
                record._crc = 0
            record.close()
        except BaseException:
            io.IOBase.close(record)  # it ends here: the collector would have it write its end
            raise


@contextlib.contextmanager
def writing(f: FileLike) -> Iterator[ArchiveWriter]:
    """A new archive at a path, which it replaces when it is complete, or in a file object."""
    if isinstance(f, (str, os.PathLike)):
        with replaced(f) as file, _archive(file if file.seekable() else Counted(file), Path(f).stem) as archive:
            yield archive
    else:
        with _archive(Counted(f), "archive") as archive:
            yield archive


@contextlib.contextmanager
def _archive(file: Any, root: str) -> Iterator[ArchiveWriter]:
    archive = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)
    try:
        yield ArchiveWriter(archive, root)
    except BaseException:
        archive.fp = None  # nothing more is to be written, nor is an open record to be found: that error would hide this one
        raise
    archive.close()
    file.flush()


# Reading


class Archive:
    """An open checkpoint: its records by name. Nothing is read before its size was compared with the file's."""

    def __init__(self, file: Any, name: str, memory: Any = None) -> None:
        self.name, self.memory = name, memory
        with located(name, "failed reading zip archive"):
            self.zip = zipfile.ZipFile(file)
            self.entries = {info.filename: info for info in self.zip.infolist()}
            self._check_sizes(file.seek(0, os.SEEK_END))
        roots = [n.removesuffix("data.pkl") for n in self.entries if n.endswith("/data.pkl") and n.count("/") == 1]
        self.root = roots[0] if roots else next(iter(self.entries), "").partition("/")[0] + "/"

    def _check_sizes(self, size: int) -> None:
        """Refuse records that overlap, or that expand to far more than the file."""
        if sum(info.compress_size for info in self.entries.values()) > size:
            raise CheckpointError(f"the records have more bytes than the file's {size}", self.name)
        for info in self.entries.values():
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise CheckpointError(f"unknown compression {info.compress_type}", self.name, info.filename)
            if info.compress_type == zipfile.ZIP_STORED and info.compress_size != info.file_size:
                raise CheckpointError(f"{info.file_size} bytes in {info.compress_size}", self.name, info.filename)
        expanded = sum(info.file_size for info in self.entries.values())
        if expanded > _EXPANSION * size + _SMALL:
            raise CheckpointError(f"compressed records of {expanded} bytes in a file of {size}; expand it yourself", self.name)

    def has_record(self, record: str) -> bool:
        """Whether there is a record of this name."""
        return self.root + record in self.entries

    def get_record(self, record: str) -> bytes:
        """The bytes of a record; CheckpointError when it is missing or damaged."""
        return self.array(record).tobytes()  # type: ignore[no-any-return]

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return [name.removeprefix(self.root) for name in self.entries]

    def get_record_offset(self, record: str) -> int:
        """Where a record's data start in the file."""
        with located(self.name, f"record {record!r}"):
            return self._start(self.entries[self.root + record])

    def size(self, record: str) -> int:
        """Bytes of a record's data."""
        with located(self.name, f"record {record!r}"):
            return int(self.entries[self.root + record].file_size)

    def array(self, record: str) -> Any:
        """The bytes of a record as a writable uint8 array, in the file's mapped memory if it is mapped."""
        with located(self.name, f"record {record!r}"):
            info = self.entries[self.root + record]
            if self.memory is not None and info.compress_type == zipfile.ZIP_STORED:
                return self._in_memory(info)
            data = np.empty(info.file_size, np.uint8)
            with self.zip.open(info) as source:
                if info.CRC == 0:  # saved without a checksum
                    source._expected_crc = None  # type: ignore[attr-defined]
                self._fill(data, source)
            return data

    def _fill(self, data: Any, source: Any) -> None:
        view, got = memoryview(data), 0
        while got < len(view):
            part = source.readinto(view[got : got + CHUNK])
            if not part:
                raise zipfile.BadZipFile(f"{got} of {len(view)} bytes")
            got += part
        source.read(1)  # the end, where the checksum is compared

    def _start(self, info: Any) -> int:
        file: Any = self.zip.fp
        file.seek(info.header_offset)
        head = file.read(_HEADER)
        if head[:4] != b"PK\3\4":
            raise zipfile.BadZipFile("the record does not begin where the directory says")
        name, extra = struct.unpack("<HH", head[26:])
        return int(info.header_offset + _HEADER + name + extra)

    def _in_memory(self, info: Any) -> Any:
        start = self._start(info)
        if start + info.file_size > len(self.memory):
            raise zipfile.BadZipFile("the record ends after the file")
        return np.frombuffer(self.memory, np.uint8, info.file_size, start)


@contextlib.contextmanager
def reading(f: FileLike) -> Iterator[Archive]:
    """The archive at a path or in a file object."""
    with opened(f) as window:
        yield Archive(window, name_of(f))


def mapped(path: str | os.PathLike[str]) -> Any:
    """A file's bytes as memory: private, or with MAP_SHARED as default the file's own."""
    shared = OPTIONS.mmap_flags == MAP_SHARED
    with open(path, "r+b" if shared else "rb") as file:
        if shared or not _UNRESERVED:
            return memory_map.mmap(file.fileno(), 0, access=memory_map.ACCESS_WRITE if shared else memory_map.ACCESS_COPY)
        return memory_map.mmap(file.fileno(), 0, flags=memory_map.MAP_PRIVATE | _UNRESERVED)


# Linux refuses memory that could be written where it is more than the machine has, unless told that little of it will be.
_UNRESERVED = getattr(memory_map, "MAP_NORESERVE", 0x4000) if sys.platform == "linux" else 0
