"""What published data sets have in common: archives with checksums, files that must be there, and samples that are read late."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tenfold.data.archive import extract_archive
from tenfold.data.download import alone_in, download_url, name_in
from tenfold.vision.datasets.folder import default_loader
from tenfold.vision.datasets.vision import PairTransform, Transform, VisionDataset

Name = str | os.PathLike[str]
Loader = Callable[[str], Any]


def as_it_is(path: Name) -> Any:
    """The picture in a file, in the colours that it has there."""
    from PIL import Image

    with Image.open(path) as image:
        image.load()
        return image


class Archive(NamedTuple):
    """A file to fetch, its MD5 checksum, its name where the URL's last part is another, and whether it is unpacked."""

    url: str
    md5: str | None
    filename: str | None = None
    packed: bool = True

    @property
    def name(self) -> str:
        """The file's name on disk."""
        return self.filename or name_in(self.url)


class PublishedDataset(VisionDataset):
    """A data set whose files lie in ``root / place``, where ``download=True`` brings its ``archives`` if a file of ``needs``
    is missing.

    A subclass sets ``samples``, pairs of what ``loader`` reads (a path) and a target.

    Raises:
        RuntimeError: files are missing and ``download`` is False; the message says which, and where they belong.
    """

    place = ""
    archives: Sequence[Archive] = ()

    def __init__(
        self,
        root: Name,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool = False,
        loader: Loader = default_loader,
        transforms: PairTransform | None = None,
        archives: Sequence[Archive] | None = None,
        needs: Sequence[str] = (),
    ) -> None:
        super().__init__(root, transforms=transforms, transform=transform, target_transform=target_transform)
        self.loader = loader
        self.folder = Path(os.fspath(root)).expanduser() / self.place
        wanted = self.archives if archives is None else archives
        self._published, self._required = wanted, needs
        if download:
            self.download()
        missing = self._missing(needs)
        if missing:
            names = ", ".join(archive.name for archive in wanted)
            fetch = "download=True fetches it" if wanted else "it has to be fetched from its publisher"
            raise RuntimeError(
                f"{type(self).__name__}: dataset not found or corrupted; {self.folder} lacks {', '.join(missing)}; {fetch}"
                + (f", or unpack {names} there" if names else "")
            )
        self.samples: list[tuple[Any, Any]] = []

    def download(self) -> None:
        """Fetch, verify and unpack the archives, unless all files are there."""
        if self._missing(self._required):
            with alone_in(self.folder):
                if self._missing(self._required):
                    self._fetch(self._published)

    def _missing(self, needs: Sequence[str]) -> list[str]:
        half = any(self.folder.glob(".*.unpacking"))  # an archive whose unpacking was interrupted
        return [name for name in needs if half or not (self.folder / name).exists()]

    def _fetch(self, archives: Sequence[Archive]) -> None:
        for archive in archives:
            download_url(archive.url, self.folder, archive.name, archive.md5)
            if archive.packed:
                mark = self.folder / f".{archive.name}.unpacking"
                mark.touch()
                extract_archive(self.folder / archive.name, self.folder)
                mark.unlink()

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        source, target = self.samples[index]
        return self._transformed(self.loader(str(source)), target)

    def _of_kinds(self, image: Any, targets: Sequence[Any]) -> tuple[Any, Any]:
        """A picture with several kinds of targets as a tuple, with one as itself, with none as None; transformed."""
        return self._transformed(image, targets[0] if len(targets) == 1 else tuple(targets) or None)

    def __len__(self) -> int:
        return len(self.samples)


class ArrayDataset(PublishedDataset):
    """A data set that fits into memory: ``data``, an array of pictures, and ``targets``."""

    data: Any
    targets: Any

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        return self._transformed(Image.fromarray(self.data[index]), self.targets[index])

    def __len__(self) -> int:
        return len(self.data)


def chosen(operator: str, argument: str, value: Any, choices: Sequence[Any]) -> Any:
    """The value, if it is one of these.

    Raises:
        ValueError: it is not.
    """
    if value not in choices:
        raise ValueError(
            f"{operator}: Unknown value '{value}' for argument {argument}. Valid values are {', '.join(map(str, choices))}."
        )
    return value


def several(operator: str, argument: str, values: Sequence[str] | str, choices: Sequence[str]) -> list[str]:
    """One value or several as a list, if each is one of these.

    Raises:
        ValueError: one is not.
    """
    return [chosen(operator, argument, value, choices) for value in ([values] if isinstance(values, str) else values)]


def by_class(folder: Path, pattern: str = "*") -> tuple[list[str], list[tuple[str, int]]]:
    """The sorted folders of classes, and the sorted files that match in each with the class's number."""
    classes = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    found = [(path, number) for number, name in enumerate(classes) for path in sorted((folder / name).rglob(pattern))]
    return classes, [(str(path), number) for path, number in found if path.is_file()]
