"""Datasets whose folders are the classes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tenfold.vision.datasets.vision import Transform, VisionDataset

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")

Name = str | os.PathLike[str]
FileTest = Callable[[str], bool]


def has_file_allowed_extension(filename: str, extensions: str | tuple[str, ...]) -> bool:
    """Whether the name ends with one of the extensions, in any case.

    >>> has_file_allowed_extension("a.PNG", (".png", ".jpg"))
    True
    """
    return filename.lower().endswith(extensions)


def is_image_file(filename: str) -> bool:
    """Whether the name ends as an image file's does."""
    return has_file_allowed_extension(filename, IMG_EXTENSIONS)


def find_classes(directory: Name) -> tuple[list[str], dict[str, int]]:
    """The folders of ``directory``, sorted, and the class index of each.

    Raises:
        FileNotFoundError: there is no folder in it.
    """
    classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
    if not classes:
        raise FileNotFoundError(
            f"Couldn't find any class folder in {os.fspath(directory)}; each class needs a folder of its own there"
        )
    return classes, {name: index for index, name in enumerate(classes)}


def make_dataset(
    directory: Name,
    class_to_idx: dict[str, int] | None = None,
    extensions: str | tuple[str, ...] | None = None,
    is_valid_file: FileTest | None = None,
    allow_empty: bool = False,
) -> list[tuple[str, int]]:
    """Every valid file below the class folders as (path, class index), in sorted order.

    Raises:
        ValueError: both or neither of ``extensions`` and ``is_valid_file`` are given, or ``class_to_idx`` is empty.
        FileNotFoundError: a class has no valid file and ``allow_empty`` is False.
    """
    if class_to_idx is None:
        _, class_to_idx = find_classes(directory)
    elif not class_to_idx:
        raise ValueError("make_dataset: class_to_idx is empty; it needs at least one class")
    valid = _file_test(extensions, is_valid_file)
    samples: list[tuple[str, int]] = []
    empty = []
    for name, index in sorted(class_to_idx.items()):
        found = _files_below(Path(os.path.expanduser(directory)) / name, valid)
        samples += [(path, index) for path in found]
        if not found:
            empty.append(name)
    if empty and not allow_empty:
        supported = (
            ""
            if extensions is None
            else f" Supported extensions are: {extensions if isinstance(extensions, str) else ', '.join(extensions)}"
        )
        raise FileNotFoundError(f"Found no valid file for the classes {', '.join(empty)}.{supported}")
    return samples


def _file_test(extensions: str | tuple[str, ...] | None, is_valid_file: FileTest | None) -> FileTest:
    if is_valid_file is not None and extensions is None:
        return is_valid_file
    if extensions is None or is_valid_file is not None:
        raise ValueError("make_dataset: pass exactly one of extensions and is_valid_file")
    return lambda name: has_file_allowed_extension(name, extensions)


def _files_below(folder: Path, valid: FileTest) -> list[str]:
    paths = []
    for parent, _, names in sorted(os.walk(folder, followlinks=True)):
        paths += [os.path.join(parent, name) for name in sorted(names)]
    return [path for path in paths if valid(path)]


def pil_loader(path: str) -> Any:
    """The image in a file, as RGB."""
    from PIL import Image

    with Image.open(path) as image:
        return image.convert("RGB")


default_loader = pil_loader


class DatasetFolder(VisionDataset):
    """Samples in ``root/class/**/file``, loaded by ``loader`` when they are asked for.

    Attributes: ``classes`` (sorted names), ``class_to_idx``, ``samples`` (path, class index) and ``targets``.

    Raises:
        FileNotFoundError: ``root`` has no class folder, or a class has no valid file and ``allow_empty`` is False.
    """

    def __init__(
        self,
        root: Name,
        loader: Callable[[str], Any],
        extensions: tuple[str, ...] | None = None,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        is_valid_file: FileTest | None = None,
        allow_empty: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.classes, self.class_to_idx = self.find_classes(root)
        self.loader = loader
        self.extensions = extensions
        self.samples = self.make_dataset(root, self.class_to_idx, extensions, is_valid_file, allow_empty)
        self.targets = [target for _, target in self.samples]

    @staticmethod
    def make_dataset(
        directory: Name,
        class_to_idx: dict[str, int],
        extensions: tuple[str, ...] | None = None,
        is_valid_file: FileTest | None = None,
        allow_empty: bool = False,
    ) -> list[tuple[str, int]]:
        """`make_dataset`; a subclass may list its samples in another way."""
        return make_dataset(directory, class_to_idx, extensions, is_valid_file, allow_empty)

    def find_classes(self, directory: Name) -> tuple[list[str], dict[str, int]]:
        """`find_classes`; a subclass may choose or order the classes in another way."""
        return find_classes(directory)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, target = self.samples[index]
        return self._transformed(self.loader(path), target)

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """Images in ``root/class/**/name.png``; a sample is an RGB PIL image and its class index."""

    def __init__(
        self,
        root: Name,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        loader: Callable[[str], Any] = default_loader,
        is_valid_file: FileTest | None = None,
        allow_empty: bool = False,
    ) -> None:
        extensions = IMG_EXTENSIONS if is_valid_file is None else None
        super().__init__(root, loader, extensions, transform, target_transform, is_valid_file, allow_empty)
        self.imgs = self.samples
