"""MNIST and the datasets that keep its file format: Fashion-MNIST, Kuzushiji-MNIST and EMNIST."""

from __future__ import annotations

import os
import shutil
import string
from pathlib import Path
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.data.archive import extract_archive
from tenfold.data.download import alone_in, download_from, download_url
from tenfold.vision.datasets.idx import read_idx
from tenfold.vision.datasets.vision import Transform, VisionDataset

DIGIT_NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def read_image_file(path: str | os.PathLike[str]) -> Tensor:
    """The pictures of a file in MNIST's format, (N, H, W) of uint8."""
    images = read_idx(Path(path))
    if images.dtype is not tenfold.uint8 or images.ndim != 3:
        raise TypeError(f"read_image_file: {path} should hold (N, H, W) of uint8, got {tuple(images.shape)} of {images.dtype}")
    return images


def read_label_file(path: str | os.PathLike[str]) -> Tensor:
    """The labels of a file in MNIST's format, (N,) of int64."""
    labels = read_idx(Path(path))
    if labels.dtype is not tenfold.uint8 or labels.ndim != 1:
        raise TypeError(f"read_label_file: {path} should hold (N,) of uint8, got {tuple(labels.shape)} of {labels.dtype}")
    return labels.long()


class MNIST(VisionDataset):
    """Handwritten digits, 28x28: 60,000 to train on, 10,000 to test.

    ``data`` is (N, 28, 28) uint8, ``targets`` (N,) int64; a sample is a PIL image of mode "L" and an int.
    Files are looked for in ``root/MNIST/raw``, plain or compressed.

    Raises:
        RuntimeError: the files are not there and ``download`` is False, or no mirror could be reached.

    Source: Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-based learning applied to document recognition, 1998.
    """

    mirrors: ClassVar[list[str]] = ["https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/"]
    resources: ClassVar[list[tuple[str, str]]] = [
        ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ]
    classes: list[str] = [f"{number} - {name}" for number, name in enumerate(DIGIT_NAMES)]  # noqa: RUF012

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
        if not self._check_exists():
            names = ", ".join(self._file_names())
            raise RuntimeError(
                f"{type(self).__name__}: no dataset files in {self.raw_folder}; pass download=True, or put {names} there"
            )
        images, labels = self._file_names()
        self.data = read_idx(self._find(images))  # (N, 28, 28), uint8
        self.targets = read_idx(self._find(labels)).long()  # (N,)

    @property
    def raw_folder(self) -> str:
        return os.path.join(str(self.root), type(self).__name__, "raw")

    @property
    def class_to_idx(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.classes)}

    def _file_names(self) -> tuple[str, str]:
        split = "train" if self.train else "t10k"
        return f"{split}-images-idx3-ubyte", f"{split}-labels-idx1-ubyte"

    def _find(self, name: str) -> Path:
        kinds = [Path(self.raw_folder) / (name + suffix) for suffix in ("", ".gz", ".xz")]
        return next((path for path in kinds if path.is_file()), kinds[0])

    def _check_exists(self) -> bool:
        return all(self._find(name).is_file() for name in self._file_names())

    def download(self) -> None:
        """Fetch what is missing from the first mirror that gives the right files."""
        with alone_in(self.raw_folder):
            if self._check_exists():
                return
            for filename, md5 in self.resources:
                download_from([mirror + filename for mirror in self.mirrors], self.raw_folder, filename, md5)
                extract_archive(Path(self.raw_folder) / filename)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        return self._transformed(Image.fromarray(self.data[index].numpy()), int(self.targets[index]))

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        return f"Split: {'Train' if self.train else 'Test'}"


class FashionMNIST(MNIST):
    """Photographs of clothes in MNIST's format: ten classes, 60,000 and 10,000 images.

    Source: H. Xiao, K. Rasul, R. Vollgraf, Fashion-MNIST, arXiv:1708.07747.
    """

    mirrors: ClassVar[list[str]] = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"]
    resources: ClassVar[list[tuple[str, str]]] = [
        ("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
        ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
        ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
    ]
    classes: list[str] = "T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot".split(",")


class KMNIST(MNIST):
    """Cursive Japanese characters in MNIST's format: ten classes, 60,000 and 10,000 images.

    Source: T. Clanuwat and others, Deep Learning for Classical Japanese Literature, arXiv:1812.01718.
    """

    mirrors: ClassVar[list[str]] = ["http://codh.rois.ac.jp/kmnist/dataset/kmnist/"]
    resources: ClassVar[list[tuple[str, str]]] = [
        ("train-images-idx3-ubyte.gz", "bdb82020997e1d708af4cf47b453dcf7"),
        ("train-labels-idx1-ubyte.gz", "e144d726b3acfaa3e44228e80efcd344"),
        ("t10k-images-idx3-ubyte.gz", "5c965bf0a639b31b8f53240b1b52f4d7"),
        ("t10k-labels-idx1-ubyte.gz", "7320c461ea6c1c855c0b718fb2a4b134"),
    ]
    classes: list[str] = "o ki su tsu na ha ma ya re wo".split()


ALIKE_LETTERS = set("cijklmopsuvwxyz")  # lower case looks like upper case, so the merged splits have one class for both
ALL_CHARACTERS = set(string.digits + string.ascii_letters)


class EMNIST(MNIST):
    """Handwritten letters and digits in MNIST's format, in six splits of different class sets.

    ``split`` is "byclass", "bymerge", "balanced", "letters", "digits" or "mnist".

    Raises:
        ValueError: ``split`` is none of these.

    Source: G. Cohen, S. Afshar, J. Tapson, A. van Schaik, EMNIST, arXiv:1702.05373.
    """

    url = "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip"
    md5 = "58c8d27c78d21e728a6bc7b3cc06412e"
    splits = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")
    classes_split_dict: ClassVar[dict[str, list[str]]] = {
        "byclass": sorted(ALL_CHARACTERS),
        "bymerge": sorted(ALL_CHARACTERS - ALIKE_LETTERS),
        "balanced": sorted(ALL_CHARACTERS - ALIKE_LETTERS),
        "letters": ["N/A", *string.ascii_lowercase],  # labels start at 1
        "digits": list(string.digits),
        "mnist": list(string.digits),
    }

    def __init__(self, root: str | os.PathLike[str], split: str, **kwargs: Any) -> None:
        if split not in self.splits:
            raise ValueError(f"EMNIST: unknown split {split!r}; valid are {', '.join(self.splits)}")
        self.split = split
        super().__init__(root, **kwargs)
        self.classes = self.classes_split_dict[split]

    def _file_names(self) -> tuple[str, str]:
        part = f"emnist-{self.split}-{'train' if self.train else 'test'}"
        return f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"

    def download(self) -> None:
        """Fetch and verify the archive of all splits and unpack it."""
        raw = Path(self.raw_folder)
        with alone_in(raw):
            if self._check_exists():
                return
            download_url(self.url, raw, md5=self.md5)
            extract_archive(raw / "gzip.zip")
            for packed in (raw / "gzip").glob("*.gz"):
                extract_archive(packed, raw)
            shutil.rmtree(raw / "gzip")


QMNIST_URL = "https://raw.githubusercontent.com/facebookresearch/qmnist/master/"


class QMNIST(MNIST):
    """MNIST made anew from NIST's pictures, with all 60,000 to test on and where each comes from.

    ``what`` is "train", "test", "test10k" (MNIST's own), "test50k" (those that MNIST lost) or "nist" (all). With ``compat`` a
    target is the digit, else eight numbers (digit, series and number of the writer, class, place in the database, ...).

    Raises:
        ValueError: ``what`` is none of these.

    Source: C. Yadav, L. Bottou, Cold Case: The Lost MNIST Digits, arXiv:1905.10498.
    """

    subsets: ClassVar[dict[str, str]] = {"train": "train", "test": "test", "test10k": "test", "test50k": "test", "nist": "nist"}
    files: ClassVar[dict[str, tuple[tuple[str, str], ...]]] = {
        "train": (
            ("qmnist-train-images-idx3-ubyte.gz", "ed72d4157d28c017586c42bc6afe6370"),
            ("qmnist-train-labels-idx2-int.gz", "0058f8dd561b90ffdd0f734c6a30e5e4"),
        ),
        "test": (
            ("qmnist-test-images-idx3-ubyte.gz", "1394631089c404de565df7b7aeaf9412"),
            ("qmnist-test-labels-idx2-int.gz", "5b5b05890a5e13444e108efe57b788aa"),
        ),
        "nist": (
            ("xnist-images-idx3-ubyte.xz", "7f124b3b8ab81486c9d8c2749c17f834"),
            ("xnist-labels-idx2-int.xz", "5ed0e788978e45d4a8bd4b7caec3d79d"),
        ),
    }  # fmt: skip
    mirrors: ClassVar[list[str]] = [QMNIST_URL]

    def __init__(
        self, root: str | os.PathLike[str], what: str | None = None, compat: bool = True, train: bool = True, **kwargs: Any
    ) -> None:
        self.what = ("train" if train else "test") if what is None else what
        if self.what not in self.subsets:
            raise ValueError(f"QMNIST: unknown what {what!r}; valid are {', '.join(self.subsets)}")
        self.compat = compat
        self.resources = list(self.files[self.subsets[self.what]])  # type: ignore[misc] # only what was asked for is fetched
        super().__init__(root, train, **kwargs)
        part = {"test10k": slice(10000), "test50k": slice(10000, None)}.get(self.what, slice(None))
        self.data, self.targets = self.data[part], self.targets[part]

    def _file_names(self) -> tuple[str, str]:
        images, labels = (name.rpartition(".")[0] for name, _ in self.files[self.subsets[self.what]])
        return images, labels

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        numbers = self.targets[index]
        return self._transformed(Image.fromarray(self.data[index].numpy()), int(numbers[0]) if self.compat else numbers)

    def extra_repr(self) -> str:
        return f"Split: {self.what}"
