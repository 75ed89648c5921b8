"""Published data sets of faces: CelebA, Labeled Faces in the Wild and WIDER FACE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import tenfold
from tenfold import Tensor
from tenfold.vision.datasets.folder import default_loader
from tenfold.vision.datasets.published import Archive, Loader, Name, PublishedDataset, as_it_is, chosen, several
from tenfold.vision.datasets.utils import drive_url


class Table(NamedTuple):
    """A file of CelebA: the names of its columns, of its rows, and its numbers (rows, columns)."""

    header: list[str]
    rows: list[str]
    data: Tensor


class CelebA(PublishedDataset):
    """202,599 faces of 10,177 people: ``split`` is "train", "valid", "test" or "all".

    ``target_type`` is one or several of "attr" (40 attributes, 0 or 1), "identity" (the person's number), "bbox" (x, y, width,
    height in the picture before it was aligned) and "landmarks" (x and y of eyes, nose and corners of the mouth).

    Source: Z. Liu and others, Deep Learning Face Attributes in the Wild, arXiv:1411.7766.
    """

    place = "celeba"
    base_folder = "celeba"
    splits = ("train", "valid", "test", "all")
    kinds = ("attr", "identity", "bbox", "landmarks")
    file_list: ClassVar[list[tuple[str, str, str]]] = [
        ("0B7EVK8r0v71pZjFTYXZWM3FlRnM", "00d2c5bc6d35e252742224ab0c1e8fcb", "img_align_celeba.zip"),
        ("0B7EVK8r0v71pblRyaVFSWGxPY0U", "75e246fa4810816ffd6ee81facbd244c", "list_attr_celeba.txt"),
        ("1_ee_0u7vcNLOfNLegJRHmolfH5ICW-XS", "32bd1bd63d3c78cd57e08160ec5ed1e2", "identity_CelebA.txt"),
        ("0B7EVK8r0v71pbThiMVRxWXZ4dU0", "00566efa6fedff7a56946cd1c10f1c16", "list_bbox_celeba.txt"),
        ("0B7EVK8r0v71pd0FJY3Blby1HUTQ", "cc24ecafdb5b50baae59b03474781f8c", "list_landmarks_align_celeba.txt"),
        ("0B7EVK8r0v71pY0NSMzRuSXJEVkk", "d32c9cbf5e040fd4025c592c306e6668", "list_eval_partition.txt"),
    ]
    archives = tuple(Archive(drive_url(number), md5, name, name.endswith(".zip")) for number, md5, name in file_list)

    def __init__(self, root: Name, split: str = "train", target_type: Sequence[str] | str = "attr", transform: Any = None,
                 target_transform: Any = None, download: bool = False) -> None:  # fmt: skip
        self.split = chosen("CelebA", "split", split.lower(), self.splits)
        self.target_type = several("CelebA", "target_type", target_type, self.kinds)
        if not self.target_type and target_transform is not None:
            raise RuntimeError("CelebA: target_transform is specified but target_type is empty")
        needs = ["img_align_celeba", *(name for _, _, name in self.file_list[1:])]
        super().__init__(root, transform, target_transform, download, as_it_is, needs=needs)
        parts = self._table("list_eval_partition.txt", header=0)
        rows = [i for i, (part,) in enumerate(parts.data.tolist()) if split == "all" or part == self.splits.index(self.split)]
        attributes = self._table("list_attr_celeba.txt", header=2)
        self.filename = [parts.rows[row] for row in rows]
        self.attr_names = attributes.header
        self.attr = (attributes.data[rows] + 1) // 2  # they are written as -1 and 1
        self.identity = self._table("identity_CelebA.txt", header=0).data[rows]
        self.bbox = self._table("list_bbox_celeba.txt", header=2).data[rows]
        self.landmarks_align = self._table("list_landmarks_align_celeba.txt", header=2).data[rows]
        self.samples = [(self.folder / "img_align_celeba" / name, row) for row, name in enumerate(self.filename)]

    def _table(self, name: str, header: int) -> Table:
        """A file whose first ``header`` lines end with the columns' names."""
        lines = [line.split() for line in (self.folder / name).read_text().splitlines() if line.strip()]
        rows = lines[header:]
        numbers = tenfold.tensor([[int(cell) for cell in row[1:]] for row in rows], dtype=tenfold.int64)
        return Table(lines[header - 1] if header else [], [row[0] for row in rows], numbers)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, row = self.samples[index]
        known = {"attr": self.attr, "bbox": self.bbox, "landmarks": self.landmarks_align, "identity": self.identity[:, 0]}
        targets = [known[kind][row] for kind in self.target_type]
        return self._of_kinds(self.loader(str(path)), targets)

    def extra_repr(self) -> str:
        return f"Target type: {self.target_type}\nSplit: {self.split}"


LFW_SUMS = {
    "pairs.txt": "9f1ba174e4e1c508ff7cdf10ac338a7d",
    "pairsDevTest.txt": "5132f7440eb68cf58910c8a45a2ac10b",
    "pairsDevTrain.txt": "4f27cbf15b2da4a85c1907eb4181ad21",
    "people.txt": "450f0863dd89e85e73936a6d71a3474b",
    "peopleDevTest.txt": "e4bf5be0a43b5dcd9dc5ccfcb8fb19c5",
    "peopleDevTrain.txt": "54eaac34beb6d042ed3a7d883e247a21",
    "lfw-names.txt": "a6d0a479bd074669f656265a6e693f6d",
}


class _LFW(PublishedDataset):
    """What is common to Labeled Faces in the Wild's two kinds of samples."""

    place = "lfw-py"
    view = ""
    url = "http://vis-www.cs.umass.edu/lfw/"
    alignments: ClassVar[dict[str, tuple[str, str, str]]] = {
        "original": ("lfw", "lfw.tgz", "a17d05bd522c52d84eca14327a23d494"),
        "funneled": ("lfw_funneled", "lfw-funneled.tgz", "1b42dfed7d15c9b2dd63d5e5840c86ad"),
        "deepfunneled": ("lfw-deepfunneled", "lfw-deepfunneled.tgz", "68331da3eb755a505a502b5aacb3c201"),
    }
    parts: ClassVar[dict[str, str]] = {"10fold": "", "train": "DevTrain", "test": "DevTest"}

    def __init__(self, root: Name, split: str = "10fold", image_set: str = "funneled", transform: Any = None,
                 target_transform: Any = None, download: bool = False, loader: Loader = default_loader) -> None:  # fmt: skip
        own = type(self).__name__
        self.image_set = chosen(own, "image_set", image_set.lower(), list(self.alignments))
        self.split = chosen(own, "split", split.lower(), list(self.parts))
        inside, file, md5 = self.alignments[self.image_set]
        lists = [f"{self.view}{self.parts[self.split]}.txt", *(["lfw-names.txt"] if self.view == "people" else [])]
        archives = [Archive(self.url + file, md5), *(Archive(self.url + name, LFW_SUMS[name], packed=False) for name in lists)]
        super().__init__(root, transform, target_transform, download, loader, archives=archives, needs=[inside, *lists])
        self.images_dir = str(self.folder / inside)
        lines = (self.folder / lists[0]).read_text().splitlines()
        self._list([line.strip().split("\t") for line in lines])
        self.targets = [target for _, target in self.samples]

    def _list(self, rows: list[list[str]]) -> None:
        """Set ``samples`` from the rows of the list."""
        raise NotImplementedError

    def _path(self, person: str, number: str | int) -> str:
        return f"{self.images_dir}/{person}/{person}_{int(number):04d}.jpg"

    def extra_repr(self) -> str:
        return f"Alignment: {self.image_set}\nSplit: {self.split}"


class LFWPeople(_LFW):
    """13,233 faces of 5,749 people, whose numbers are the targets: ``split`` is "10fold", "train" or "test".

    ``image_set`` tells how faces were aligned: "original", "funneled" or "deepfunneled". The publisher's server is gone; copies
    of the files are put into ``root/lfw-py`` by hand.

    Source: G. Huang and others, Labeled Faces in the Wild, 2007.
    """

    view = "people"

    def _list(self, rows: list[list[str]]) -> None:
        names = (self.folder / "lfw-names.txt").read_text().splitlines()
        self.class_to_idx = {line.split()[0]: number for number, line in enumerate(names) if line.strip()}
        for row in rows:  # a row of one number counts the folds or the people of one
            if len(row) == 2:
                self.samples += [(self._path(row[0], i + 1), self.class_to_idx[row[0]]) for i in range(int(row[1]))]
        self.data = [path for path, _ in self.samples]

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}\nClasses (identities): {len(self.class_to_idx)}"


class LFWPairs(_LFW):
    """Pairs of faces, of one person (1) or of two (0): a sample is two pictures and this number; see `LFWPeople`.

    Source: G. Huang and others, Labeled Faces in the Wild, 2007.
    """

    view = "pairs"

    def _list(self, rows: list[list[str]]) -> None:
        for row in rows[1:]:  # the first counts folds and pairs
            if len(row) == 3:
                self.samples.append(((self._path(row[0], row[1]), self._path(row[0], row[2])), 1))
            elif len(row) == 4:
                self.samples.append(((self._path(row[0], row[1]), self._path(row[2], row[3])), 0))
        self.pair_names = [pair for pair, _ in self.samples]
        self.data = self.pair_names

    def __getitem__(self, index: int) -> Any:
        paths, same = self.samples[index]
        pictures = [self.loader(path) for path in paths]
        first, second = (self.transform(picture) if self.transform is not None else picture for picture in pictures)
        return first, second, same if self.target_transform is None else self.target_transform(same)


FACE = ("blur", "expression", "illumination", "occlusion", "pose", "invalid")


class WIDERFace(PublishedDataset):
    """32,203 photographs with 393,703 faces: ``split`` is "train", "val" or "test" (without targets: None).

    A target is a dictionary of "bbox" (N, 4: x, y, width, height), "blur", "expression", "illumination", "occlusion", "pose" and
    "invalid" (N each).

    Source: S. Yang and others, WIDER FACE, arXiv:1511.06523.
    """

    place = "widerface"
    archives = (
        Archive(drive_url("15hGDLhsx8bLgLcIRD5DhYt5iBxnjNF1M"), "3fedf70df600953d25982bcd13d91ba2", "WIDER_train.zip"),
        Archive(drive_url("1GUCogbp16PMGa39thoMMeWxp7Rp5oM8Q"), "dfa7d7e790efa35df3788964cf0bbaea", "WIDER_val.zip"),
        Archive(drive_url("1HIfDbVEWKmsYKJZm4lchTBDLW5N7dY5T"), "e5d8f4248ed24c334bbd12f49c29dd40", "WIDER_test.zip"),
        Archive("http://shuoyang1213.me/WIDERFACE/support/bbx_annotation/wider_face_split.zip",
                "0e3767bcf0e326556d407bf5bff5d27c"),
    )  # fmt: skip

    def __init__(self, root: Name, split: str = "train", transform: Any = None, target_transform: Any = None,
                 download: bool = False) -> None:  # fmt: skip
        self.split = chosen("WIDERFace", "split", split, ("train", "val", "test"))
        listed = f"wider_face_split/wider_face_{split}_{'filelist' if split == 'test' else 'bbx_gt'}.txt"
        super().__init__(root, transform, target_transform, download, needs=[f"WIDER_{split}", listed])
        lines = (self.folder / listed).read_text().splitlines()
        images = self.folder / f"WIDER_{split}" / "images"
        if split == "test":
            self.samples = [(images / line.strip(), None) for line in lines if line.strip()]
            return
        rest = iter(line.strip() for line in lines if line.strip())
        for name in rest:
            count = max(int(next(rest)), 1)  # a picture without faces has one row of zeros
            numbers = tenfold.tensor([[int(cell) for cell in next(rest).split()] for _ in range(count)], dtype=tenfold.int64)
            faces = {"bbox": numbers[:, :4], **{kind: numbers[:, 4 + i] for i, kind in enumerate(FACE)}}
            self.samples.append((images / name, faces))

    def extra_repr(self) -> str:
        return f"Split: {self.split}"
