"""Data pipes of files: their paths, the files opened, and what they hold."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from typing import Any

from tenfold.data.datapipes.datapipe import IterDataPipe, functional_datapipe


@functional_datapipe("list_files")
class FileLister(IterDataPipe[str]):
    """Paths of the files in folders whose names match one of the masks."""

    def __init__(
        self,
        root: Any = ".",
        masks: str | list[str] = "",
        *,
        recursive: bool = False,
        abspath: bool = False,
        non_deterministic: bool = False,
        length: int = -1,
    ) -> None:
        self.datapipe: Iterable[str] = [root] if isinstance(root, str) else root
        self.masks = [masks] if isinstance(masks, str) else masks
        self.recursive, self.abspath, self.non_deterministic, self.length = recursive, abspath, non_deterministic, length

    def __iter__(self) -> Iterator[str]:
        for root in self.datapipe:
            if os.path.isfile(root):  # which is what a mask may choose, too
                if self._wanted(os.path.basename(root)):
                    yield os.path.abspath(root) if self.abspath else root
                continue
            for folder, folders, names in os.walk(root):
                if not self.non_deterministic:
                    names.sort()
                    folders.sort()
                for name in names:
                    if self._wanted(name):
                        path = os.path.join(folder, name)
                        yield os.path.abspath(path) if self.abspath else path
                if not self.recursive:
                    break

    def _wanted(self, name: str) -> bool:
        return any(not mask or fnmatch(name, mask) for mask in self.masks or [""])

    def __len__(self) -> int:
        return _told(self)


@functional_datapipe("open_files")
class FileOpener(IterDataPipe[Any]):
    """Pairs of a path and the file opened."""

    def __init__(self, datapipe: Iterable[str], mode: str = "r", encoding: str | None = None, length: int = -1) -> None:
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}: files are read, as bytes (b, rb) or as text (t, rt, r)")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.mode, self.encoding, self.length = datapipe, mode, encoding, length

    def __iter__(self) -> Iterator[Any]:
        mode = "rb" if "b" in self.mode else "rt"
        for path in self.datapipe:
            yield path, open(path, mode, encoding=self.encoding)  # noqa: SIM115 - whoever takes it closes it

    def __len__(self) -> int:
        return _told(self)


@functional_datapipe("read_from_stream")
class StreamReader(IterDataPipe[Any]):
    """Pairs of a path and what its open file holds, or pieces of it of `chunk` bytes; the file is closed."""

    def __init__(self, datapipe: Any, chunk: int | None = None) -> None:
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self) -> Iterator[Any]:
        for path, stream in self.datapipe:
            with stream:
                while piece := stream.read(self.chunk) if self.chunk else stream.read():
                    yield path, piece


def _told(pipe: Any) -> int:
    if pipe.length == -1:
        raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length")
    return int(pipe.length)
