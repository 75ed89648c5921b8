"""CIFAR-10 and CIFAR-100: small colour photographs in Python's pickle format, read without running code from the file."""

from __future__ import annotations

import codecs
import os
import pickle
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy._core import multiarray

from tenfold.data.archive import download_and_extract_archive
from tenfold.data.download import alone_in, check_integrity
from tenfold.vision.datasets.vision import Transform, VisionDataset

SAFE_GLOBALS = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): codecs.encode,
    ("numpy.core.multiarray", "_reconstruct"): multiarray._reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): multiarray._reconstruct,
}


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in SAFE_GLOBALS:
            raise pickle.UnpicklingError(
                f"a CIFAR file holds arrays, numbers and text only; this one asks for {module}.{name}, which is not run"
            )
        return SAFE_GLOBALS[module, name]


def _unpickle(path: Path) -> dict[str, Any]:
    with open(path, "rb") as file:
        return _ArrayUnpickler(file, encoding="latin1").load()  # type: ignore[no-any-return]


class CIFAR10(VisionDataset):
    """Colour photographs, 32x32, in ten classes: 50,000 to train on, 10,000 to test.

    ``data`` is an (N, 32, 32, 3) uint8 array, ``targets`` a list of N ints; a sample is an RGB PIL image and an int.

    Raises:
        RuntimeError: the files are missing or changed and ``download`` is False.

    Source: A. Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009.
    """

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list: ClassVar[list[tuple[str, str]]] = [
        ("data_batch_1", "c99cafc152244af753f735de768cd75f"),
        ("data_batch_2", "d4bba439e000b95fd0a9bffe97cbabec"),
        ("data_batch_3", "54ebc095f3ab1f0389bbae665268c751"),
        ("data_batch_4", "634d18415352ddfa80567beed471001a"),
        ("data_batch_5", "482c414d41f54cd18b22e5b47cb7c3cb"),
    ]
    test_list: ClassVar[list[tuple[str, str]]] = [("test_batch", "40351d587109b95175f43aff81a1287e")]
    meta: ClassVar[dict[str, str]] = {"filename": "batches.meta", "key": "label_names", "md5": "5ff9c542aee3614f3951f8cda6e48888"}
    label_key = "labels"

    def __init__(
        self,
        root: str | os.PathLike[str],
        train: bool = True,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError(
                f"{type(self).__name__}: dataset not found or corrupted in {self._folder}; download=True fetches it"
            )
        batches = [_unpickle(self._folder / name) for name, _ in (self.train_list if train else self.test_list)]
        rows = np.concatenate([batch["data"] for batch in batches])  # (N, 3 * 32 * 32)
        self.data = np.ascontiguousarray(rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
        self.targets: list[int] = [label for batch in batches for label in batch[self.label_key]]
        self.classes: list[str] = _unpickle(self._folder / self.meta["filename"])[self.meta["key"]]
        self.class_to_idx = {name: index for index, name in enumerate(self.classes)}

    @property
    def _folder(self) -> Path:
        return Path(str(self.root)) / self.base_folder

    def _check_integrity(self) -> bool:
        files = [*self.train_list, *self.test_list, (self.meta["filename"], self.meta["md5"])]
        return all(check_integrity(self._folder / name, md5) for name, md5 in files)

    def download(self) -> None:
        """Fetch, verify and unpack the archive, unless the files are there."""
        if self._check_integrity():
            return
        with alone_in(str(self.root)):
            if not self._check_integrity():
                download_and_extract_archive(self.url, str(self.root), filename=self.filename, md5=self.tgz_md5)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        return self._transformed(Image.fromarray(self.data[index]), self.targets[index])

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        return f"Split: {'Train' if self.train else 'Test'}"


class CIFAR100(CIFAR10):
    """As `CIFAR10`, in a hundred classes of 600 images."""

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list: ClassVar[list[tuple[str, str]]] = [("train", "16019d7e3df5f24257cddd939b257f8d")]
    test_list: ClassVar[list[tuple[str, str]]] = [("test", "f0ef6b0ae62326f3e7ffdfab6717acfc")]
    meta: ClassVar[dict[str, str]] = {"filename": "meta", "key": "fine_label_names", "md5": "7973b15100ade9c7d40fb424638fde48"}
    label_key = "fine_labels"
