"""Memory that processes share: files without a name, mapped by every process that has them.

Since no name exists, nothing can be left behind: the system frees the memory with the last process that holds it, however
that one ends. Linux only; elsewhere tensors are copied between processes.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from tenfold.tensor.memory import Span, span_of

AVAILABLE = sys.platform.startswith("linux")
# Files here can be given a name later (see `transit`); where there is no room, the system's own will do.
FOLDER = "/dev/shm"
ALIGNMENT = 64
_VIEWS_A_CALL = 1024  # IOV_MAX of Linux
_FAILED = ctypes.c_void_p(-1).value

Bytes = Iterable[np.ndarray[Any, Any]]


def _library() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64)
    library.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    return library


_libc = _library() if AVAILABLE else None


class Segment:
    """A mapped file and its descriptor, which other processes need to map it too; both end with the object.

    `mmap.mmap` would hold a second descriptor, and processes may have only a thousand.
    """

    __slots__ = ("__weakref__", "address", "fd", "filename", "identity", "size")
    live: ClassVar[int] = 0  # how many descriptors this process holds

    def __init__(self, fd: int, size: int, filename: str | None = None) -> None:
        self.fd, self.size, self.filename = fd, size, filename
        self.address = None
        Segment.live += 1
        status = os.fstat(fd)
        self.identity = (status.st_dev, status.st_ino)
        assert _libc is not None, "Linux"
        address = _libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fd, 0)
        if address == _FAILED:
            number = ctypes.get_errno()
            raise OSError(number, f"mapping {size} bytes of shared memory: {os.strerror(number)}")
        self.address = address

    def __del__(self, close: Any = os.close, library: Any = _libc) -> None:
        if self.address is not None:
            library.munmap(self.address, self.size)
        if self.fd >= 0:
            close(self.fd)
            type(self).live -= 1

    def drop_descriptor(self) -> None:
        """Keep the memory, but no descriptor: it cannot be sent on."""
        fd, self.fd = self.fd, -1
        os.close(fd)
        Segment.live -= 1

    @classmethod
    def of_size(cls, size: int) -> Segment:
        """A new segment full of zeros."""
        return cls(_made(size, lambda fd: os.posix_fallocate(fd, 0, size)), size)

    @classmethod
    def holding(cls, parts: Bytes, size: int) -> Segment:
        """A new segment with the bytes of flat uint8 arrays, each starting at a multiple of `ALIGNMENT`.

        They are written to the file, not to its mapping: that takes half the time, and where the memory is full it is an
        error instead of the end of the process.
        """
        return cls(_made(size, lambda fd: _write(fd, parts, size)), size)

    @classmethod
    def joining(cls, parts: list[np.ndarray[Any, Any]]) -> Segment:
        """A new segment with the bytes of flat uint8 arrays, one right behind the other; written as `holding` does."""
        size = sum(part.size for part in parts)
        return cls(_made(size, lambda fd: _write_joined(fd, [memoryview(part) for part in parts])), size)  # type: ignore[arg-type]


def on_span(segment: Segment, offset: int, size: int) -> Any:
    """A part of a segment as a flat uint8 array, which keeps the segment alive."""
    return np.asarray(Span(segment, offset, size))


def shared_copy(array: np.ndarray[Any, Any]) -> Any:
    """The bytes of a flat uint8 array in shared memory."""
    return on_span(Segment.holding([array], max(array.size, 1)), 0, array.size)


def shared_array(array: Any, backend: Any) -> Any:
    """An array's elements in shared memory, with its strides; what else lies in its memory stays behind."""
    owner, _, offset = backend.memory(array)
    if span_of(owner) is not None:
        return array
    if min(array.strides, default=0) < 0:
        array, offset = array.copy("C"), 0
    extent = array.itemsize + sum((n - 1) * s for n, s in zip(array.shape, array.strides)) if array.size else 0
    memory = shared_copy(backend.memory_bytes(array)[offset : offset + extent])
    return np.ndarray(array.shape, array.dtype, memory, 0, array.strides)


def require_shared_memory() -> None:
    """RuntimeError where this system has no shared memory for tensors."""
    if not AVAILABLE:
        raise RuntimeError(
            f"share_memory_: tensors share memory between processes on Linux only, this is {sys.platform}; queues and pipes "
            f"copy them here"
        )


def starts_of(sizes: Iterable[int]) -> tuple[list[int], int]:
    """Where parts of these sizes begin in a segment, and the segment's size."""
    starts, total = [], 0
    for size in sizes:
        starts.append(total)
        total += -(-size // ALIGNMENT) * ALIGNMENT
    return starts, total


def _made(size: int, fill: Any) -> int:
    """The descriptor of a new file without a name."""
    try:
        fd = os.open(FOLDER, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:  # no such folder, or too many open files: then this fails, too
        return _filled(_nowhere(), size, fill)
    try:
        return _filled(fd, size, fill)
    except OSError:  # no room: a container's folder often has 64 MB
        return _filled(_nowhere(), size, fill)


def _nowhere() -> int:
    """The descriptor of a file in no folder."""
    try:
        return os.memfd_create("tenfold")
    except OSError as error:
        raise too_many_files(error) from None


def too_many_files(error: OSError) -> Exception:
    """What to tell a process that has no descriptors left; other errors as they are."""
    if error.errno not in (errno.ENFILE, errno.EMFILE):
        return error
    return RuntimeError(
        "Too many open files. Communication with the workers is no longer possible. Each storage that a process shares costs it "
        "a file descriptor: increase the limit using `ulimit -n` in the shell, or send views of fewer, larger tensors"
    )


def _filled(fd: int, size: int, fill: Any) -> int:
    try:
        os.ftruncate(fd, size)
        fill(fd)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _write(fd: int, parts: Bytes, size: int) -> None:
    place = 0
    for part in parts:
        view, start = memoryview(part), place  # type: ignore[arg-type]
        while view:  # a call writes at most 2 GB
            written = os.pwrite(fd, view, start)
            view, start = view[written:], start + written
        place += -(-part.size // ALIGNMENT) * ALIGNMENT
    if place > size:
        os.ftruncate(fd, size)


def _write_joined(fd: int, views: list[memoryview]) -> None:
    start = 0
    for first in range(0, len(views), _VIEWS_A_CALL):
        left = views[first : first + _VIEWS_A_CALL]
        while left:  # a call writes at most 2 GB
            written = os.pwritev(fd, left, start)
            start += written
            while left and written >= len(left[0]):
                written -= len(left.pop(0))
            if written:
                left[0] = left[0][written:]


# Files


def mapped_file(filename: Any, shared: bool, size: int) -> Any:
    """A file's first bytes as a flat uint8 array: the file itself when shared, else a copy of what is written to."""
    path = os.fspath(filename)
    try:
        fd = os.open(path, (os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY) | getattr(os, "O_CLOEXEC", 0), 0o644)
    except OSError as error:
        mode = "read-write" if shared else "read-only"
        raise RuntimeError(f"unable to open file <{path}> in {mode} mode: {error.strerror} ({error.errno})") from None
    try:
        present = os.fstat(fd).st_size
        if present < size and not shared:
            raise RuntimeError(f"file <{path}> size <{present}> is smaller than the required mapping size <{size}>")
        if present < size:
            os.ftruncate(fd, size)
        if shared and AVAILABLE and size:
            return on_span(Segment(os.dup(fd), size, path), 0, size)
    finally:
        os.close(fd)
    if not size:
        return np.empty(0, np.uint8)
    whole = np.memmap(path, np.uint8, "r+" if shared else "c", shape=(size,))
    return np.ndarray((size,), np.uint8, whole.data)
