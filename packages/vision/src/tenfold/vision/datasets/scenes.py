"""Published data sets with boxes, masks and captions: Pascal VOC, COCO and KITTI."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

from tenfold.vision.datasets.folder import default_loader
from tenfold.vision.datasets.published import Archive, Name, PublishedDataset, as_it_is, chosen
from tenfold.vision.datasets.vision import VisionDataset

VOC = "https://thor.robots.ox.ac.uk/pascal/VOC/"
VOC_ARCHIVES = {  # year: file, MD5, folder inside
    "2012": ("voc2012/VOCtrainval_11-May-2012.tar", "6cd6e144f989b92b3379bac3b3de84fd", "VOCdevkit/VOC2012"),
    "2011": ("voc2011/VOCtrainval_25-May-2011.tar", "6c3384ef61512963050cb5d687e5bf1e", "TrainVal/VOCdevkit/VOC2011"),
    "2010": ("voc2010/VOCtrainval_03-May-2010.tar", "da459979d0c395079b5c75ee67908abb", "VOCdevkit/VOC2010"),
    "2009": ("voc2009/VOCtrainval_11-May-2009.tar", "a3e00b113cfcfebf17e343f59da3caa1", "VOCdevkit/VOC2009"),
    "2008": ("voc2008/VOCtrainval_14-Jul-2008.tar", "2629fa636546599198acfcfbfcf1904a", "VOCdevkit/VOC2008"),
    "2007": ("voc2007/VOCtrainval_06-Nov-2007.tar", "c52e279531787c972589f7e41ab4ae64", "VOCdevkit/VOC2007"),
    "2007-test": ("voc2007/VOCtest_06-Nov-2007.tar", "b6e924de25625d8de591ea690078ad9f", "VOCdevkit/VOC2007"),
}


class _VOC(PublishedDataset):
    """What is common to Pascal VOC's two kinds of targets."""

    lists = targets_in = suffix = ""

    def __init__(self, root: Name, year: str = "2012", image_set: str = "train", download: bool = False,
                 transform: Any = None, target_transform: Any = None, transforms: Any = None) -> None:  # fmt: skip
        own = type(self).__name__
        self.year = chosen(own, "year", year, [str(number) for number in range(2007, 2013)])
        sets = ("train", "trainval", "val", *(("test",) if year == "2007" else ()))
        self.image_set = chosen(own, "image_set", image_set, sets)
        file, md5, inside = VOC_ARCHIVES["2007-test" if (year, image_set) == ("2007", "test") else year]
        names = f"{inside}/ImageSets/{self.lists}/{image_set}.txt"
        archives = [Archive(VOC + file, md5)]
        super().__init__(root, transform, target_transform, download, transforms=transforms, archives=archives, needs=[names])
        base = self.folder / inside
        for name in (self.folder / names).read_text().split():
            self.samples.append((base / "JPEGImages" / f"{name}.jpg", base / self.targets_in / f"{name}{self.suffix}"))
        self.images = [str(image) for image, _ in self.samples]
        self.targets = [str(target) for _, target in self.samples]

    def _target(self, path: Path) -> Any:
        raise NotImplementedError

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        image, target = self.samples[index]
        return self._transformed(self.loader(str(image)), self._target(target))


class VOCSegmentation(_VOC):
    """Pascal VOC's pictures of one ``year`` ("2007" to "2012") and ``image_set`` ("train", "val", "trainval", of 2007 "test").

    A target is a picture of the classes' numbers, 255 at edges.

    Source: M. Everingham and others, The Pascal Visual Object Classes Challenge, 2010.
    """

    lists, targets_in, suffix = "Segmentation", "SegmentationClass", ".png"

    def _target(self, path: Path) -> Any:
        return as_it_is(path)

    @property
    def masks(self) -> list[str]:
        """The files of the targets."""
        return self.targets


class VOCDetection(_VOC):
    """Pascal VOC's pictures of one ``year`` ("2007" to "2012") and ``image_set`` ("train", "val", "trainval", of 2007 "test").

    A target is the annotation as nested dictionaries, its objects a list.

    Source: M. Everingham and others, The Pascal Visual Object Classes Challenge, 2010.
    """

    lists, targets_in, suffix = "Main", "Annotations", ".xml"

    def _target(self, path: Path) -> Any:
        return self.parse_voc_xml(ElementTree.parse(path).getroot())

    @property
    def annotations(self) -> list[str]:
        """The files of the targets."""
        return self.targets

    @staticmethod
    def parse_voc_xml(node: ElementTree.Element) -> dict[str, Any]:
        """An element as a dictionary: of its children, those of one name as a list, or of its text."""
        if not len(node):
            return {node.tag: node.text.strip() if node.text else None}
        children: dict[str, list[Any]] = defaultdict(list)
        for child in node:
            children[child.tag].append(VOCDetection.parse_voc_xml(child)[child.tag])
        several = {"object"} if node.tag == "annotation" else set()
        return {node.tag: {tag: found if len(found) > 1 or tag in several else found[0] for tag, found in children.items()}}


class CocoDetection(VisionDataset):
    """Pictures with the annotations of a file in COCO's format: a target is the list of a picture's annotations.

    Pictures come in the order of their numbers, ``ids``.

    Source: T.-Y. Lin and others, Microsoft COCO, arXiv:1405.0312.
    """

    def __init__(self, root: Name, annFile: Name, transform: Any = None, target_transform: Any = None,
                 transforms: Any = None) -> None:  # fmt: skip
        super().__init__(root, transforms, transform, target_transform)
        known = json.loads(Path(annFile).read_text(encoding="utf-8"))
        self._files: dict[int, str] = {image["id"]: image["file_name"] for image in known["images"]}
        self._annotations: dict[int, list[Any]] = defaultdict(list)
        for annotation in known.get("annotations", ()):
            self._annotations[annotation["image_id"]].append(annotation)
        self.ids = sorted(self._files)

    def _target(self, annotations: list[Any]) -> Any:
        return annotations

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if not isinstance(index, int):
            raise ValueError(f"Index must be of type integer, got {type(index)} instead.")
        number = self.ids[index]
        picture = default_loader(str(Path(str(self.root)) / self._files[number]))
        return self._transformed(picture, self._target(self._annotations.get(number, [])))

    def __len__(self) -> int:
        return len(self.ids)


class CocoCaptions(CocoDetection):
    """`CocoDetection` whose targets are the pictures' captions, lists of text."""

    def _target(self, annotations: list[Any]) -> Any:
        return [annotation["caption"] for annotation in annotations]


class Kitti(PublishedDataset):
    """Photographs from a car with boxes of what is on the street; the test split has no targets (None).

    A target is a list of dictionaries: "type", "truncated", "occluded", "alpha", "bbox", "dimensions", "location", "rotation_y".

    Source: A. Geiger, P. Lenz, R. Urtasun, Are we ready for autonomous driving?, CVPR 2012.
    """

    place = "Kitti/raw"
    resources: ClassVar[tuple[str, ...]] = ("data_object_image_2.zip", "data_object_label_2.zip")
    archives = tuple(Archive(f"https://s3.eu-central-1.amazonaws.com/avg-kitti/{name}", None) for name in resources)

    def __init__(self, root: Name, train: bool = True, transform: Any = None, target_transform: Any = None,
                 transforms: Any = None, download: bool = False) -> None:  # fmt: skip
        self.train = train
        part = "training" if train else "testing"
        needs = [f"{part}/image_2", *((f"{part}/label_2",) if train else ())]
        super().__init__(root, transform, target_transform, download, transforms=transforms, needs=needs)
        for path in sorted((self.folder / part / "image_2").iterdir()):
            self.samples.append((path, self.folder / part / "label_2" / f"{path.stem}.txt" if train else None))

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, labels = self.samples[index]
        target = None if labels is None else [_kitti_row(line.split()) for line in labels.read_text().splitlines()]
        return self._transformed(self.loader(str(path)), target)


def _kitti_row(cells: list[str]) -> dict[str, Any]:
    numbers = [float(cell) for cell in cells[3:15]]
    return {
        "type": cells[0], "truncated": float(cells[1]), "occluded": int(cells[2]), "alpha": numbers[0],
        "bbox": numbers[1:5], "dimensions": numbers[5:8], "location": numbers[8:11], "rotation_y": numbers[11],
    }  # fmt: skip
