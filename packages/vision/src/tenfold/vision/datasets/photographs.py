"""Published data sets of photographs that a list names."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tenfold.vision.datasets.arrays import read_mat
from tenfold.vision.datasets.folder import default_loader
from tenfold.vision.datasets.published import Archive, Loader, Name, PublishedDataset, as_it_is, by_class, chosen, several


class Photographs(PublishedDataset):
    """Photographs with the numbers of their classes."""

    splits: Sequence[str] = ("train", "test")

    def __init__(self, root: Name, split: str = "train", transform: Any = None, target_transform: Any = None,
                 download: bool = False, loader: Loader = default_loader) -> None:  # fmt: skip
        self.split = self._split = chosen(type(self).__name__, "split", split, self.splits)
        super().__init__(root, transform, target_transform, download, loader, needs=self._needs())
        self._list()

    def _needs(self) -> list[str]:
        """Files and folders without which there is nothing to list."""
        raise NotImplementedError

    def _list(self) -> None:
        """Set ``classes`` and ``samples``."""
        raise NotImplementedError

    def _number(self, classes: Sequence[str]) -> None:
        self.classes = list(classes)
        self.class_to_idx = {name: number for number, name in enumerate(classes)}

    def extra_repr(self) -> str:
        return f"split={self.split}"


class Food101(Photographs):
    """101,000 photographs of 101 dishes.

    Source: L. Bossard, M. Guillaumin, L. Van Gool, Food-101, ECCV 2014.
    """

    archives = (Archive("http://data.vision.ee.ethz.ch/cvl/food-101.tar.gz", "85eeb15f3717b99a5da872d97d918f87"),)

    def _needs(self) -> list[str]:
        return [f"food-101/meta/{self.split}.json", "food-101/images"]

    def _list(self) -> None:
        folder = self.folder / "food-101"
        named = json.loads((folder / "meta" / f"{self.split}.json").read_text())
        self._number(sorted(named))
        images = folder / "images"
        self.samples = [(images / f"{file}.jpg", self.class_to_idx[name]) for name, files in named.items() for file in files]


class DTD(Photographs):
    """Textures in 47 classes, in ten ``partition``\\ s into "train", "val" and "test".

    Source: M. Cimpoi and others, Describing Textures in the Wild, arXiv:1311.3618.
    """

    place = "dtd"
    archives = (
        Archive("https://www.robots.ox.ac.uk/~vgg/data/dtd/download/dtd-r1.0.1.tar.gz", "fff73e5086ae6bdbea199a49dfb8a4c1"),
    )
    splits = ("train", "val", "test")

    def __init__(self, root: Name, split: str = "train", partition: int = 1, transform: Any = None,
                 target_transform: Any = None, download: bool = False, loader: Loader = default_loader) -> None:  # fmt: skip
        if partition not in range(1, 11):
            raise ValueError(f"DTD: Parameter 'partition' should be an integer with `1 <= partition <= 10`, but got {partition}")
        self.partition = partition
        super().__init__(root, split, transform, target_transform, download, loader)

    def _needs(self) -> list[str]:
        return [f"dtd/labels/{self.split}{self.partition}.txt", "dtd/images"]

    def _list(self) -> None:
        folder = self.folder / "dtd"
        files = (folder / "labels" / f"{self.split}{self.partition}.txt").read_text().split()
        names = [file.partition("/")[0] for file in files]
        self._number(sorted(set(names)))
        self.samples = [(folder / "images" / file, self.class_to_idx[name]) for file, name in zip(files, names, strict=True)]

    def extra_repr(self) -> str:
        return f"split={self.split}, partition={self.partition}"


class FGVCAircraft(Photographs):
    """10,000 photographs of aircraft, by "variant", "family" or "manufacturer" (``annotation_level``).

    Source: S. Maji and others, Fine-Grained Visual Classification of Aircraft, arXiv:1306.5151.
    """

    archives = (Archive("https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/archives/fgvc-aircraft-2013b.tar.gz", None),)
    splits = ("train", "val", "trainval", "test")
    lists: ClassVar[dict[str, str]] = {"variant": "variants.txt", "family": "families.txt", "manufacturer": "manufacturers.txt"}

    def __init__(self, root: Name, split: str = "trainval", annotation_level: str = "variant", transform: Any = None,
                 target_transform: Any = None, download: bool = False, loader: Loader = default_loader) -> None:  # fmt: skip
        self.level = chosen("FGVCAircraft", "annotation_level", annotation_level, list(self.lists))
        super().__init__(root, split, transform, target_transform, download, loader)

    def _needs(self) -> list[str]:
        data = "fgvc-aircraft-2013b/data"
        return [f"{data}/{self.lists[self.level]}", f"{data}/images_{self.level}_{self.split}.txt", f"{data}/images"]

    def _list(self) -> None:
        data = self.folder / "fgvc-aircraft-2013b" / "data"
        self._number((data / self.lists[self.level]).read_text().splitlines())
        for line in (data / f"images_{self.level}_{self.split}.txt").read_text().splitlines():
            file, _, name = line.strip().partition(" ")
            self.samples.append((data / "images" / f"{file}.jpg", self.class_to_idx[name]))


class CLEVRClassification(Photographs):
    """Drawn scenes, by how many things are in them: "train", "val" and "test" (without targets: None).

    Source: J. Johnson and others, CLEVR, arXiv:1612.06890.
    """

    place = "clevr"
    archives = (Archive("https://dl.fbaipublicfiles.com/clevr/CLEVR_v1.0.zip", "b11922020e72d0cd9154779b2d3d07d2"),)
    splits = ("train", "val", "test")

    def _needs(self) -> list[str]:
        return [f"CLEVR_v1.0/images/{self.split}"]

    def _list(self) -> None:
        folder = self.folder / "CLEVR_v1.0"
        counts: dict[str, int] = {}
        if self.split != "test":
            scenes = json.loads((folder / "scenes" / f"CLEVR_{self.split}_scenes.json").read_text())["scenes"]
            counts = {scene["image_filename"]: len(scene["objects"]) for scene in scenes}
        self.samples = [(path, counts.get(path.name)) for path in sorted((folder / "images" / self.split).glob("*"))]


class Flowers102(Photographs):
    """8,189 photographs of 102 flowers, numbered from 0: "train", "val" and "test".

    Raises:
        ImportError: SciPy, which reads the lists, is not installed.

    Source: M.-E. Nilsback, A. Zisserman, Automated Flower Classification over a Large Number of Classes, 2008.
    """

    place = "flowers-102"
    archives = (
        Archive("https://www.robots.ox.ac.uk/~vgg/data/flowers/102/102flowers.tgz", "52808999861908f626f3c1f4e79d11fa"),
        Archive("https://www.robots.ox.ac.uk/~vgg/data/flowers/102/imagelabels.mat", "e0620be6f572b9609742df49c70aed4d",
                packed=False),
        Archive("https://www.robots.ox.ac.uk/~vgg/data/flowers/102/setid.mat", "a5357ecc9cb78c4bef273ce3793fc85c", packed=False),
    )  # fmt: skip
    splits = ("train", "val", "test")

    def _needs(self) -> list[str]:
        return ["jpg", "imagelabels.mat", "setid.mat"]

    def _list(self) -> None:
        part = {"train": "trnid", "val": "valid", "test": "tstid"}[self.split]
        numbers = read_mat("Flowers102", self.folder / "setid.mat")[part].ravel().tolist()
        labels = read_mat("Flowers102", self.folder / "imagelabels.mat")["labels"].ravel().tolist()
        self.samples = [(self.folder / "jpg" / f"image_{number:05d}.jpg", labels[number - 1] - 1) for number in numbers]


class OxfordIIITPet(PublishedDataset):
    """Photographs of 37 breeds of cats and dogs, "trainval" and "test".

    ``target_types`` is one or several of "category" (the breed's number), "binary-category" (0 cat, 1 dog) and
    "segmentation" (a picture of 1 animal, 2 around it, 3 its edge).

    Source: O. Parkhi and others, Cats and Dogs, CVPR 2012.
    """

    place = "oxford-iiit-pet"
    archives = (
        Archive("https://www.robots.ox.ac.uk/~vgg/data/pets/data/images.tar.gz", "5c4f3ee8e5d25df40f4fd59a7f44e54c"),
        Archive("https://www.robots.ox.ac.uk/~vgg/data/pets/data/annotations.tar.gz", "95a8c909bbe2e81eed6a22bccdf3f68f"),
    )
    kinds = ("category", "binary-category", "segmentation")

    def __init__(self, root: Name, split: str = "trainval", target_types: Sequence[str] | str = "category",
                 transforms: Any = None, transform: Any = None, target_transform: Any = None,
                 download: bool = False) -> None:  # fmt: skip
        self.split = chosen("OxfordIIITPet", "split", split, ("trainval", "test"))
        self.target_types = several("OxfordIIITPet", "target_types", target_types, self.kinds)
        needs = ["images", f"annotations/{split}.txt"]
        super().__init__(root, transform, target_transform, download, transforms=transforms, needs=needs)
        self.bin_classes = ["Cat", "Dog"]
        names: dict[int, str] = {}
        for line in (self.folder / "annotations" / f"{split}.txt").read_text().splitlines():
            image, label, binary, _ = line.split()
            names[int(label)] = image.rpartition("_")[0].replace("_", " ").title()
            known = {"category": int(label) - 1, "binary-category": int(binary) - 1}
            self.samples.append((self.folder / "images" / f"{image}.jpg", known))
        self.classes = [names[label] for label in sorted(names)]
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, known = self.samples[index]
        targets = [self._trimap(path) if kind == "segmentation" else known[kind] for kind in self.target_types]
        return self._of_kinds(self.loader(str(path)), targets)

    def _trimap(self, path: Path) -> Any:
        return as_it_is(self.folder / "annotations" / "trimaps" / f"{path.stem}.png")


class GTSRB(Photographs):
    """German traffic signs in 43 classes.

    Source: J. Stallkamp and others, The German Traffic Sign Recognition Benchmark, 2011.
    """

    place = "gtsrb"
    url = "https://sid.erda.dk/public/archives/daaeac0d7ce1152aea9b61d9f1e19370/"
    archives = (
        Archive(url + "GTSRB-Training_fixed.zip", "513f3c79a4c5141765e10e952eaa2478"),
        Archive(url + "GTSRB_Final_Test_Images.zip", "c7e4e6327067d32654124b0fe9e82185"),
        Archive(url + "GTSRB_Final_Test_GT.zip", "fe31e9c9270bbcd7b84b7f21a9d9d9e5"),
    )

    def _needs(self) -> list[str]:
        return ["GTSRB/Training"] if self.split == "train" else ["GTSRB/Final_Test/Images", "GT-final_test.csv"]

    def _list(self) -> None:
        if self.split == "train":
            _, self.samples = by_class(self.folder / "GTSRB" / "Training", "*.ppm")
            return
        with open(self.folder / "GT-final_test.csv", newline="") as file:
            rows = list(csv.DictReader(file, delimiter=";", skipinitialspace=True))
        images = self.folder / "GTSRB" / "Final_Test" / "Images"
        self.samples = [(images / row["Filename"], int(row["ClassId"])) for row in rows]


class StanfordCars(Photographs):
    """16,185 photographs of 196 models of cars.

    Its publisher's server is gone: copies of the files are put into ``root/stanford_cars`` by hand, which are
    ``devkit/cars_meta.mat``, ``cars_train`` with ``devkit/cars_train_annos.mat``, and ``cars_test`` with
    ``cars_test_annos_withlabels.mat``.

    Raises:
        ImportError: SciPy, which reads the files, is not installed.

    Source: J. Krause and others, 3D Object Representations for Fine-Grained Categorization, 2013.
    """

    place = "stanford_cars"

    def _needs(self) -> list[str]:
        lists = "devkit/cars_train_annos.mat" if self.split == "train" else "cars_test_annos_withlabels.mat"
        return ["devkit/cars_meta.mat", f"cars_{self.split}", lists]

    def _list(self) -> None:
        meta, images, lists = self._needs()
        self._number(np.atleast_1d(read_mat("StanfordCars", self.folder / meta, squeeze_me=True)["class_names"]).tolist())
        rows = np.atleast_1d(read_mat("StanfordCars", self.folder / lists, squeeze_me=True)["annotations"])
        self.samples = [(self.folder / images / str(row["fname"]), int(row["class"]) - 1) for row in rows]
