"""Published photographs with outlines and masks: Caltech101, the Semantic Boundaries Dataset and Cityscapes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tenfold.data.archive import extract_archive
from tenfold.vision.datasets.arrays import read_mat
from tenfold.vision.datasets.folder import default_loader
from tenfold.vision.datasets.published import Archive, Name, PublishedDataset, as_it_is, by_class, chosen, several
from tenfold.vision.datasets.vision import VisionDataset


class Caltech101(PublishedDataset):
    """9,146 photographs of 101 kinds of things.

    ``target_type`` is one or several of "category" (its number) and "annotation" (the outline, an array of points (2, N)).

    Raises:
        ImportError: SciPy, which reads the outlines, is not installed.

    Source: L. Fei-Fei, R. Fergus, P. Perona, Learning generative visual models from few training examples, 2004.
    """

    place = "caltech101"
    archives = (
        Archive("https://data.caltech.edu/records/mzrjq-6wc02/files/caltech-101.zip", "3138e1922a9193bfa496528edbbc45d0"),
    )
    outlines_of: ClassVar[dict[str, str]] = {  # folders of outlines that are called otherwise
        "Faces": "Faces_2", "Faces_easy": "Faces_3", "Motorbikes": "Motorbikes_16", "airplanes": "Airplanes_Side_2",
    }  # fmt: skip

    def __init__(self, root: Name, target_type: Sequence[str] | str = "category", transform: Any = None,
                 target_transform: Any = None, download: bool = False) -> None:  # fmt: skip
        self.target_type = several("Caltech101", "target_type", target_type, ("category", "annotation"))
        super().__init__(root, transform, target_transform, download, as_it_is, needs=["101_ObjectCategories"])
        folders, _ = by_class(self.folder / "101_ObjectCategories", "image_*.jpg")
        self.categories = [name for name in folders if name != "BACKGROUND_Google"]
        self.annotation_categories = [self.outlines_of.get(name, name) for name in self.categories]
        for number, name in enumerate(self.categories):
            found = sorted((self.folder / "101_ObjectCategories" / name).glob("image_*.jpg"))
            self.samples += [(path, number) for path in found]
        self.y = [number for _, number in self.samples]
        self.index = [int(path.stem.rpartition("_")[2]) for path, _ in self.samples]

    def _fetch(self, archives: Sequence[Archive]) -> None:
        super()._fetch(archives)
        for inner in sorted((self.folder / "caltech-101").glob("*.tar*")):
            extract_archive(inner, self.folder)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, number = self.samples[index]
        targets = [number if kind == "category" else self._outline(index) for kind in self.target_type]
        return self._of_kinds(self.loader(str(path)), targets)

    def _outline(self, index: int) -> Any:
        folder = self.folder / "Annotations" / self.annotation_categories[self.y[index]]
        return read_mat("Caltech101", folder / f"annotation_{self.index[index]:04d}.mat")["obj_contour"]

    def extra_repr(self) -> str:
        return f"Target type: {self.target_type}"


class SBDataset(PublishedDataset):
    """11,355 of Pascal VOC's photographs with the edges of things: ``image_set`` is "train", "val" or "train_noval" (those of
    both that are not in VOC 2012's validation set).

    With ``mode`` "boundaries" a target is an array (20, H, W) of 0 and 1, with "segmentation" a picture of the classes' numbers.

    Raises:
        ImportError: SciPy, which reads the files, is not installed.

    Source: B. Hariharan and others, Semantic Contours from Inverse Detectors, ICCV 2011.
    """

    archives = (
        Archive("https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/semantic_contours/benchmark.tgz",
                "82b4d87ceb2ed10f6038a1cba92111cb"),
    )  # fmt: skip
    num_classes = 20

    def __init__(self, root: Name, image_set: str = "train", mode: str = "boundaries", download: bool = False,
                 transforms: Any = None) -> None:  # fmt: skip
        self.image_set = chosen("SBDataset", "image_set", image_set, ("train", "val", "train_noval"))
        self.mode = chosen("SBDataset", "mode", mode, ("segmentation", "boundaries"))
        noval = Archive("https://www.cs.cornell.edu/~bharathh/train_noval.txt", "79bff800c5f0b1ec6b21080a3c066722", packed=False)
        archives = [*self.archives, *([noval] if image_set == "train_noval" else [])]
        needs = ["img", "cls", f"{image_set}.txt"]
        super().__init__(root, download=download, transforms=transforms, archives=archives, needs=needs)
        for name in (self.folder / f"{image_set}.txt").read_text().split():
            self.samples.append((self.folder / "img" / f"{name}.jpg", self.folder / "cls" / f"{name}.mat"))
        self.images = [str(image) for image, _ in self.samples]
        self.masks = [str(mask) for _, mask in self.samples]

    def _fetch(self, archives: Sequence[Archive]) -> None:
        super()._fetch(archives)
        for path in sorted((self.folder / "benchmark_RELEASE" / "dataset").iterdir()):
            if not (self.folder / path.name).exists():
                path.rename(self.folder / path.name)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        image, mask = self.samples[index]
        truth = read_mat("SBDataset", mask)["GTcls"][0]
        if self.mode == "segmentation":
            target: Any = Image.fromarray(truth["Segmentation"][0])
        else:
            edges = truth["Boundaries"][0]
            target = np.stack([edges[number][0].toarray() for number in range(self.num_classes)])
        return self._transformed(self.loader(str(image)), target)

    def extra_repr(self) -> str:
        return f"Image set: {self.image_set}\nMode: {self.mode}"


class CityscapesClass(NamedTuple):
    """A kind of thing in a street: its number in the files, that to train with, its group, and the colour it is drawn with."""

    name: str
    id: int
    train_id: int
    category: str
    category_id: int
    has_instances: bool
    ignore_in_eval: bool
    color: tuple[int, int, int]


GROUPS = ("void", "flat", "construction", "object", "nature", "sky", "human", "vehicle")
# name, group, number to train with (255: none), red, green, blue; in the order of the numbers in the files
KINDS = """
unlabeled 0 255 0 0 0|ego vehicle 0 255 0 0 0|rectification border 0 255 0 0 0|out of roi 0 255 0 0 0|static 0 255 0 0 0
dynamic 0 255 111 74 0|ground 0 255 81 0 81|road 1 0 128 64 128|sidewalk 1 1 244 35 232|parking 1 255 250 170 160
rail track 1 255 230 150 140|building 2 2 70 70 70|wall 2 3 102 102 156|fence 2 4 190 153 153|guard rail 2 255 180 165 180
bridge 2 255 150 100 100|tunnel 2 255 150 120 90|pole 3 5 153 153 153|polegroup 3 255 153 153 153|traffic light 3 6 250 170 30
traffic sign 3 7 220 220 0|vegetation 4 8 107 142 35|terrain 4 9 152 251 152|sky 5 10 70 130 180|person 6 11 220 20 60
rider 6 12 255 0 0|car 7 13 0 0 142|truck 7 14 0 0 70|bus 7 15 0 60 100|caravan 7 255 0 0 90|trailer 7 255 0 0 110
train 7 16 0 80 100|motorcycle 7 17 0 0 230|bicycle 7 18 119 11 32|license plate 7 -1 0 0 142
"""
SINGLE = ("person", "rider", "car", "truck", "bus", "caravan", "trailer", "train", "motorcycle", "bicycle")  # told one by one


def _kinds() -> list[CityscapesClass]:
    found = []
    for number, row in enumerate(KINDS.strip().replace("\n", "|").split("|")):
        name, *cells = row.rsplit(" ", 5)
        group, trained, red, green, blue = map(int, cells)
        given = number if trained != -1 else -1  # a plate's number is no class of a picture
        kind = (GROUPS[group], group, name in SINGLE, trained in (255, -1))
        found.append(CityscapesClass(name, given, trained, *kind, (red, green, blue)))
    return found


class Cityscapes(VisionDataset):
    """Streets of fifty cities: ``split`` is "train", "val" or "test" with ``mode`` "fine", "train", "train_extra" or "val" with
    "coarse".

    ``target_type`` is one or several of "instance", "semantic" and "color" (pictures) and "polygon" (a dictionary). Its publisher
    asks for an account: the archives are put into ``root`` by hand and unpacked the first time.

    Raises:
        RuntimeError: neither the folders nor the archives are there.

    Source: M. Cordts and others, The Cityscapes Dataset for Semantic Urban Scene Understanding, arXiv:1604.01685.
    """

    classes: ClassVar[list[CityscapesClass]] = _kinds()
    endings: ClassVar[dict[str, str]] = {
        "instance": "instanceIds.png", "semantic": "labelIds.png", "color": "color.png", "polygon": "polygons.json",
    }  # fmt: skip

    def __init__(self, root: Name, split: str = "train", mode: str = "fine", target_type: Sequence[str] | str = "instance",
                 transform: Any = None, target_transform: Any = None, transforms: Any = None) -> None:  # fmt: skip
        super().__init__(str(root), transforms, transform, target_transform)
        self.mode = {"fine": "gtFine", "coarse": "gtCoarse"}[chosen("Cityscapes", "mode", mode, ("fine", "coarse"))]
        splits = ("train", "test", "val") if mode == "fine" else ("train", "train_extra", "val")
        self.split = chosen("Cityscapes", "split", split, splits)
        self.target_type = several("Cityscapes", "target_type", target_type, list(self.endings))
        folder = Path(str(self.root))
        self.images_dir, self.targets_dir = str(folder / "leftImg8bit" / split), str(folder / self.mode / split)
        if not (Path(self.images_dir).is_dir() and Path(self.targets_dir).is_dir()):
            self._unpack(folder)
        self.images: list[str] = []
        self.targets: list[list[str]] = []
        for image in sorted(Path(self.images_dir).glob("*/*")):
            scene = image.name.split("_leftImg8bit")[0]
            names = [f"{scene}_{self.mode}_{self.endings[kind]}" for kind in self.target_type]
            self.images.append(str(image))
            self.targets.append([f"{self.targets_dir}/{image.parent.name}/{name}" for name in names])

    def _unpack(self, folder: Path) -> None:
        part = "trainextra" if self.split == "train_extra" else "trainvaltest"
        needed = [f"leftImg8bit_{part}.zip", "gtFine_trainvaltest.zip" if self.mode == "gtFine" else "gtCoarse.zip"]
        missing = [name for name in needed if not (folder / name).is_file()]
        if missing:
            raise RuntimeError(
                f"Cityscapes: dataset not found or incomplete; {folder} has neither {self.images_dir} and {self.targets_dir} "
                f"nor {', '.join(missing)}; fetch them from cityscapes-dataset.com and put them there"
            )
        for name in needed:
            extract_archive(folder / name, folder)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        pairs = zip(self.target_type, self.targets[index], strict=True)
        targets = [json.loads(Path(path).read_text()) if kind == "polygon" else as_it_is(path) for kind, path in pairs]
        return self._transformed(default_loader(self.images[index]), targets[0] if len(targets) == 1 else tuple(targets))

    def __len__(self) -> int:
        return len(self.images)

    def extra_repr(self) -> str:
        return f"Split: {self.split}\nMode: {self.mode}\nType: {self.target_type}"
