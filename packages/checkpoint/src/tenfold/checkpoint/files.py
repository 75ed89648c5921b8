"""Files: written whole or not at all, and read through a window that never leaves its bounds."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import fcntl

_RANDOM_BYTES = 6  # in the name of a temporary file
CHUNK = 1 << 24  # bytes that are read or written at once
FileLike = Any  # a path, or an object with `write` (to save) or `read`, `seek` and `tell` (to load)


# Writing


@contextlib.contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Any]:
    """A file to write that takes the place of `path` when it is complete; an exception or a crash leaves the old one.

    A link is written through, a device, a pipe and a file in a folder that cannot be written are written directly, and an
    old file's mode is kept. What killed processes left of earlier attempts is removed.

    Raises: RuntimeError when the folder does not exist, as PyTorch; IsADirectoryError, PermissionError.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise RuntimeError(f"Parent directory {Path(path).parent} does not exist.")
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)}: a folder; give the name of a file in it")
    try:
        temporary = None if target.exists() and not target.is_file() else _Temporary(target)
    except PermissionError:
        temporary = None
    if temporary is None:
        with open(target, "wb") as file:
            yield file
        return
    with temporary:
        yield temporary.file


class _Temporary:
    """A locked file beside its target. Nobody holds the lock of one that a killed process left, which is how it is known."""

    def __init__(self, target: Path) -> None:
        self.target = target
        prefix = f".{target.name[:40]}."
        for left in target.parent.glob(_literal(prefix) + "[0-9a-f]" * 2 * _RANDOM_BYTES + ".tmp"):
            _remove_if_abandoned(left)
        while True:
            self.path = target.with_name(f"{prefix}{os.urandom(_RANDOM_BYTES).hex()}.tmp")
            self.file = os.fdopen(
                os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666), "w+b"
            )
            _lock(self.file)
            if self.path.exists():  # else another process took it for abandoned between the two lines above
                return
            self.file.close()

    def __enter__(self) -> None:
        """The file is there already."""

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            if kind is None:
                self._keep()
        finally:
            self.file.close()
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()

    def _keep(self) -> None:
        self.file.flush()
        if self.target.exists():
            os.chmod(self.path, stat.S_IMODE(self.target.stat().st_mode))
        os.fsync(self.file.fileno())
        os.replace(self.path, self.target)
        _sync_folder(self.target.parent)


def _literal(prefix: str) -> str:
    """A name in which `glob` sees no pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in prefix)


def _lock(file: Any) -> bool:
    """Whether we hold the lock of a file now; False where the file system has none."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_if_abandoned(path: Path) -> None:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        if _lock(file):
            path.unlink()


def _sync_folder(folder: Path) -> None:
    """The new name reaches the disk too; not every file system can say so."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class Counted(io.RawIOBase):
    """A file object of which only `write` (and `flush`) is used: knows how far it is, and writes until all is written."""

    def __init__(self, file: Any) -> None:
        self.file, self.position = file, 0

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        """Bytes since the archive's start, which need not be the file's."""
        return self.position

    def write(self, data: Any) -> int:
        """All of it, whatever part of it the file takes at once."""
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view):
            written = self.file.write(view[done:])
            done += written if isinstance(written, int) else len(view) - done
        self.position += done
        return done

    def flush(self) -> None:
        if hasattr(self.file, "flush") and not self.closed:
            self.file.flush()

    def close(self) -> None:
        """The file is its owner's to close."""


# Reading


class Window(io.RawIOBase):
    """The part of a file object from where it stands to its end, as a file: it needs `read`, `seek` and `tell`, no more."""

    def __init__(self, file: Any) -> None:
        missing = next((name for name in ("seek", "read", "tell") if not hasattr(file, name)), None)
        if missing:
            raise AttributeError(
                f"{type(file).__name__!r} object has no attribute {missing!r}. You can only tenfold.load from a file that is "
                f"seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead."
            )
        self.file, self.start, self.position = file, file.tell(), 0
        file.seek(0, os.SEEK_END)
        self.size = max(file.tell() - self.start, 0)
        file.seek(self.start)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """A place in the window; OSError before its start."""
        place = offset + (0, self.position, self.size)[whence]
        if place < 0:
            raise OSError(f"seek to {place}")
        self.position = place
        return place

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, directly if the file object can."""
        view = memoryview(buffer).cast("B")[: max(self.size - self.position, 0)]
        self.file.seek(self.start + self.position)
        if hasattr(self.file, "readinto"):
            got = self.file.readinto(view) or 0
        else:
            data = self.file.read(len(view))
            got = len(data)
            view[:got] = data
        self.position += got
        return int(got)

    def read_into(self, array: Any) -> None:
        """Fill a whole uint8 array; EOFError where the file ends first."""
        view, got = memoryview(array), 0
        while got < len(view):
            part = self.readinto(view[got : got + CHUNK])
            if not part:
                raise EOFError(f"{got} of {len(view)} bytes")
            got += part

    def leave(self) -> None:
        """Put the file object where the window was left."""
        self.file.seek(self.start + self.position)


@contextlib.contextmanager
def opened(f: FileLike) -> Iterator[Window]:
    """The file at a path, or a file object."""
    if not isinstance(f, (str, os.PathLike)):
        yield Window(f)
        return
    with open(f, "rb") as file:
        yield Window(file)


def name_of(f: FileLike) -> str:
    """What messages call a file."""
    return os.fspath(f) if isinstance(f, (str, os.PathLike)) else str(getattr(f, "name", "the file object"))


def is_zipfile(f: Any) -> bool:
    """Whether a file object stands at the start of a zip archive (`zipfile.is_zipfile` looks at its end)."""
    start = f.tell()
    head = f.read(4)
    f.seek(start)
    return bool(head == b"PK\3\4")


@contextlib.contextmanager
def open_file_like(f: FileLike, mode: str) -> Iterator[Any]:
    """The file object itself, or the file at a path opened in a mode."""
    if not isinstance(f, (str, os.PathLike)):
        yield f
        return
    with open(f, mode) as file:
        yield file
