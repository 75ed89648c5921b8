"""Published data sets that are read whole: SVHN, STL-10, USPS, SEMEION, FER2013 and moving digits."""

from __future__ import annotations

import bz2
import csv
from typing import Any, ClassVar

import numpy as np

import tenfold
from tenfold.vision.datasets.published import Archive, ArrayDataset, Name, PublishedDataset, chosen


class SVHN(ArrayDataset):
    """House numbers photographed in the street, 32x32: ``split`` is "train", "test" or "extra".

    ``data`` is (N, 3, 32, 32) uint8, ``labels`` N digits.

    Raises:
        ValueError: another split.
        ImportError: SciPy, which reads the files, is not installed.

    Source: Y. Netzer and others, Reading Digits in Natural Images with Unsupervised Feature Learning, 2011.
    """

    split_list: ClassVar[dict[str, list[str]]] = {
        "train": [
            "http://ufldl.stanford.edu/housenumbers/train_32x32.mat",
            "train_32x32.mat",
            "e26dedcc434d2e4c54c9b2d4a06d8373",
        ],
        "test": ["http://ufldl.stanford.edu/housenumbers/test_32x32.mat", "test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3"],
        "extra": [
            "http://ufldl.stanford.edu/housenumbers/extra_32x32.mat",
            "extra_32x32.mat",
            "a93ce644f1a588dc4d68dda5feec44a7",
        ],
    }

    def __init__(self, root: Name, split: str = "train", transform: Any = None, target_transform: Any = None,
                 download: bool = False) -> None:  # fmt: skip
        self.split = chosen("SVHN", "split", split, list(self.split_list))
        url, name, md5 = self.split_list[split]
        archives = [Archive(url, md5, name, packed=False)]
        super().__init__(root, transform, target_transform, download, archives=archives, needs=[name])
        matrices = read_mat("SVHN", self.folder / name)
        self.labels = matrices["y"].astype(np.int64).squeeze(1) % 10  # 0 is written as 10
        self.data = np.ascontiguousarray(matrices["X"].transpose(3, 2, 0, 1))  # (N, 3, 32, 32)
        self.targets = self.labels

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        picture = Image.fromarray(self.data[index].transpose(1, 2, 0))
        return self._transformed(picture, int(self.labels[index]))

    def extra_repr(self) -> str:
        return f"Split: {self.split.capitalize()}"


def read_mat(operator: str, path: Any, **options: Any) -> Any:
    """The matrices of a MATLAB file by name; options are those of SciPy's ``loadmat``.

    Raises:
        ImportError: SciPy is not installed.
    """
    try:
        from scipy.io import loadmat  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError(f"{operator}: MATLAB's files are read by SciPy; pip install 'tenfold-vision[matlab]'") from error
    return loadmat(path, **options)


class STL10(ArrayDataset):
    """Photographs, 96x96, in ten classes, and many without a class (-1): ``split`` is "train", "test", "unlabeled" or
    "train+unlabeled"; ``folds`` is one of ten parts of the training split.

    Source: A. Coates, H. Lee, A. Ng, An Analysis of Single-Layer Networks in Unsupervised Feature Learning, 2011.
    """

    base_folder = "stl10_binary"
    archives = (Archive("http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz", "91f7769df0f17e558f3565bffb0c7dfb"),)
    splits = ("train", "train+unlabeled", "unlabeled", "test")

    def __init__(self, root: Name, split: str = "train", folds: int | None = None, transform: Any = None,
                 target_transform: Any = None, download: bool = False) -> None:  # fmt: skip
        self.split = chosen("STL10", "split", split, self.splits)
        if folds is not None:
            chosen("STL10", "folds", folds, range(10))
        self.folds = folds
        parts = split.split("+")
        needs = [f"{self.base_folder}/{part}_X.bin" for part in parts]
        super().__init__(root, transform, target_transform, download, needs=needs)
        pictures, labels = zip(*(self._part(part) for part in parts), strict=True)
        self.data, self.labels = np.concatenate(pictures), np.concatenate(labels)
        self.targets = self.labels
        names = self.folder / self.base_folder / "class_names.txt"
        self.classes = names.read_text().splitlines() if names.is_file() else []

    def _part(self, name: str) -> tuple[Any, Any]:
        folder = self.folder / self.base_folder
        pictures = np.fromfile(folder / f"{name}_X.bin", dtype=np.uint8).reshape(-1, 3, 96, 96).transpose(0, 1, 3, 2)
        if name == "unlabeled":
            return pictures, np.full(len(pictures), -1, dtype=np.int64)
        labels = np.fromfile(folder / f"{name}_y.bin", dtype=np.uint8).astype(np.int64) - 1
        if name == "train" and self.folds is not None:
            lines = (folder / "fold_indices.txt").read_text().splitlines()
            rows = np.array(lines[self.folds].split(), dtype=np.int64)
            pictures, labels = pictures[rows], labels[rows]
        return pictures, labels

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        picture = Image.fromarray(np.ascontiguousarray(self.data[index].transpose(1, 2, 0)))
        return self._transformed(picture, int(self.labels[index]))

    def extra_repr(self) -> str:
        return f"Split: {self.split}"


class USPS(ArrayDataset):
    """Digits of American postcodes, 16x16: 7,291 to train on, 2,007 to test.

    Source: J. Hull, A Database for Handwritten Text Recognition Research, 1994, in LIBSVM's format.
    """

    split_list: ClassVar[dict[str, list[str]]] = {
        "train": ["https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/usps.bz2", "usps.bz2",
                  "ec16c51db3855ca6c91edd34d0e9b197"],
        "test": ["https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/usps.t.bz2", "usps.t.bz2",
                 "8ea070ee2aca1ac39742fdd1ef5ed118"],
    }  # fmt: skip

    def __init__(self, root: Name, train: bool = True, transform: Any = None, target_transform: Any = None,
                 download: bool = False) -> None:  # fmt: skip
        url, name, md5 = self.split_list["train" if train else "test"]
        archives = [Archive(url, md5, name, packed=False)]
        super().__init__(root, transform, target_transform, download, archives=archives, needs=[name])
        with bz2.open(self.folder / name, "rt") as file:
            rows = [line.split() for line in file]
        values = np.array([[float(cell.partition(":")[2]) for cell in row[1:]] for row in rows], dtype=np.float64)
        self.data = ((values.reshape(-1, 16, 16) + 1) / 2 * 255).astype(np.uint8)
        self.targets = [int(row[0]) - 1 for row in rows]


class SEMEION(ArrayDataset):
    """1,593 handwritten digits, 16x16 in black and white.

    Source: Semeion Research Center of Sciences of Communication, UCI Machine Learning Repository, 1998.
    """

    archives = (
        Archive("http://archive.ics.uci.edu/ml/machine-learning-databases/semeion/semeion.data",
                "cb545d371d2ce14ec121470795a77432", packed=False),
    )  # fmt: skip

    def __init__(self, root: Name, transform: Any = None, target_transform: Any = None, download: bool = True) -> None:
        super().__init__(root, transform, target_transform, download, needs=["semeion.data"])
        rows = np.loadtxt(self.folder / "semeion.data", ndmin=2)
        self.data = (rows[:, :256] * 255).astype(np.uint8).reshape(-1, 16, 16)
        self.labels = rows[:, 256:].argmax(1)
        self.targets = [int(label) for label in self.labels]


class FER2013(PublishedDataset):
    """Faces, 48x48 in grey, with one of seven expressions: ``split`` is "train" or "test" (without targets: None).

    Its publisher asks for an account: ``train.csv`` and ``test.csv`` are put into ``root/fer2013`` by hand.

    Source: I. Goodfellow and others, Challenges in Representation Learning, arXiv:1307.0414.
    """

    place = "fer2013"

    def __init__(self, root: Name, split: str = "train", transform: Any = None, target_transform: Any = None) -> None:
        self.split = chosen("FER2013", "split", split, ("train", "test"))
        super().__init__(root, transform, target_transform, needs=[f"{split}.csv"])
        with open(self.folder / f"{split}.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            pixels = np.array(row["pixels"].split(), dtype=np.uint8).reshape(48, 48)
            self.samples.append((pixels, int(row["emotion"]) if "emotion" in row else None))

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        pixels, target = self.samples[index]
        return self._transformed(Image.fromarray(pixels), target)

    def extra_repr(self) -> str:
        return f"split={self.split}"


class MovingMNIST(PublishedDataset):
    """10,000 films of two digits that move, 20 frames of 64x64 each: a sample is (T, 1, 64, 64), uint8.

    ``split`` "train" gives the first ``split_ratio`` frames, "test" the others, None all.

    Source: N. Srivastava, E. Mansimov, R. Salakhutdinov, Unsupervised Learning of Video Representations, arXiv:1502.04681.
    """

    place = "MovingMNIST"
    archives = (
        Archive("http://www.cs.toronto.edu/~nitish/unsupervised_video/mnist_test_seq.npy",
                "be083ec986bfe91a449d63653c411eb2", packed=False),
    )  # fmt: skip

    def __init__(self, root: Name, split: str | None = None, split_ratio: int = 10, download: bool = False,
                 transform: Any = None) -> None:  # fmt: skip
        if split is not None:
            chosen("MovingMNIST", "split", split, ("train", "test"))
        if not isinstance(split_ratio, int):
            raise TypeError(f"MovingMNIST: `split_ratio` should be an integer, but got {type(split_ratio).__name__}")
        chosen("MovingMNIST", "split_ratio", split_ratio, range(1, 20))
        self.split = split
        super().__init__(root, transform, download=download, needs=["mnist_test_seq.npy"])
        frames = np.load(self.folder / "mnist_test_seq.npy").transpose(1, 0, 2, 3)[:, :, None]  # (N, 20, 1, 64, 64)
        part = {None: slice(None), "train": slice(split_ratio), "test": slice(split_ratio, None)}[split]
        self.data = tenfold.from_numpy(np.ascontiguousarray(frames[:, part]))

    def __getitem__(self, index: int) -> Any:
        film = self.data[index]
        return film if self.transform is None else self.transform(film)

    def __len__(self) -> int:
        return len(self.data)
