"""Datasets that are published as archives: fetched when they are first gone through, verified, and read where they lie."""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tenfold.data.download import alone_in, download_url, name_in
from tenfold.data.pipes import Pipe
from tenfold.settings.environment import HOME

Reader = Callable[[Path, Any], Iterator[Any]]


@dataclasses.dataclass(frozen=True)
class Source:
    """Where a file is, its checksum (MD5 or SHA-256), and under which name it is kept."""

    url: str
    checksum: str | None
    filename: str | None = None

    @property
    def name(self) -> str:
        return self.filename or name_in(self.url)


def drive(identifier: str, checksum: str, filename: str) -> Source:
    """A file on Google Drive, whose page of warnings about size is skipped."""
    return Source(f"https://drive.usercontent.google.com/download?id={identifier}&export=download&confirm=t", checksum, filename)


@dataclasses.dataclass(frozen=True, repr=False)
class Published:
    """One dataset: of which file each split is, what in it, and how that becomes samples.

    Calling it gives a split as a `Pipe`, or several as a tuple of them.
    """

    name: str
    sources: dict[str, Source]
    read: Reader
    parts: dict[str, Any]
    about: str = ""
    place: str = ""  # module:name where it is, in the table if not said

    def __reduce__(self) -> Any:
        return _at, (self.place or f"{__name__.rpartition('.')[0]}.table:{self.name}",)

    def __repr__(self) -> str:
        return f"{self.name}(root, split): splits {', '.join(self.splits)}; a sample is {self.about}"

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def splits(self) -> tuple[str, ...]:
        return tuple(self.sources)

    def __call__(self, root: str | os.PathLike[str] | None = None, split: str | tuple[str, ...] | None = None) -> Any:
        """The split of this name, or a tuple of splits, all of them by default.

        Files are kept in ``root/datasets/NAME``, by default below the folder ``TENFOLD_HOME`` (``~/.cache/tenfold``).

        Raises: ValueError for a split that there is not; while iterating, what `download_url` raises.
        """
        folder = Path(HOME.read() if root is None else root).expanduser() / "datasets" / self.name
        asked = self.splits if split is None else split
        for one in (asked,) if isinstance(asked, str) else asked:
            if one not in self.sources:
                raise ValueError(f"{self.name}: split {one!r} is unknown; there are {', '.join(self.splits)}")
        if isinstance(asked, str) or (split is None and len(asked) == 1):
            return Split(self, asked if isinstance(asked, str) else asked[0], folder)
        return tuple(Split(self, one, folder) for one in asked)


class Split(Pipe[Any]):
    """The samples of one split, read anew at every pass; a `Pipe`, to be mapped, shuffled, batched; workers share it out."""

    def __init__(self, dataset: Published, split: str, folder: Path) -> None:
        self.dataset, self.split, self.folder = dataset, split, folder

    @property
    def path(self) -> Path:
        """Where the split's file is, or will be."""
        return self.folder / self.dataset.sources[self.split].name

    def fetch(self) -> Path:
        """Bring the file, unless it is there; by one of several processes, the others wait."""
        if not self.path.is_file():
            source = self.dataset.sources[self.split]
            with alone_in(self.folder):
                if not self.path.is_file():
                    download_url(source.url, self.folder, source.name, source.checksum)
        return self.path

    def __iter__(self) -> Iterator[Any]:
        return self.dataset.read(self.fetch(), self.dataset.parts.get(self.split))

    def __repr__(self) -> str:
        return f"{self.dataset.name}(split={self.split!r}, path={str(self.path)!r})"


def _at(place: str) -> Any:
    """What a module, named here as text, has under a name: pickles hold a dataset's place, not its functions."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
