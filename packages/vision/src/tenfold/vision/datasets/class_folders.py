"""Published data sets of photographs that lie in a folder for each class."""

from __future__ import annotations

from typing import Any, ClassVar

from tenfold.vision.datasets.folder import default_loader
from tenfold.vision.datasets.photographs import Photographs
from tenfold.vision.datasets.published import Archive, Loader, Name, PublishedDataset, by_class, chosen


class Country211(Photographs):
    """Photographs by the country in which they were taken: "train", "valid" and "test".

    Source: A. Radford and others, Learning Transferable Visual Models From Natural Language, arXiv:2103.00020.
    """

    archives = (Archive("https://openaipublic.azureedge.net/clip/data/country211.tgz", "84988d7644798601126c29e9877aab6a"),)
    splits = ("train", "valid", "test")

    def _needs(self) -> list[str]:
        return [f"country211/{self.split}"]

    def _list(self) -> None:
        classes, self.samples = by_class(self.folder / "country211" / self.split)
        self._number(classes)


class RenderedSST2(Photographs):
    """Sentences of film reviews as pictures, "negative" or "positive": "train", "val" and "test".

    Source: A. Radford and others, Learning Transferable Visual Models From Natural Language, arXiv:2103.00020.
    """

    archives = (Archive("https://openaipublic.azureedge.net/clip/data/rendered-sst2.tgz", "2384d08e9dcfa4bd55b324e610496ee5"),)
    splits = ("train", "val", "test")

    def _needs(self) -> list[str]:
        return [f"rendered-sst2/{'valid' if self.split == 'val' else self.split}"]

    def _list(self) -> None:
        classes, self.samples = by_class(self.folder / self._needs()[0], "*.png")
        self._number(classes)


class EuroSAT(Photographs):
    """27,000 pictures of Europe from a satellite, 64x64, in ten classes; there is one split.

    Source: P. Helber and others, EuroSAT, arXiv:1709.00029.
    """

    place = "eurosat"
    archives = (
        Archive("https://huggingface.co/datasets/torchgeo/eurosat/resolve/c877bcd43f099cd0196738f714544e355477f3fd/EuroSAT.zip",
                "c8fa014336c82ac7804f0398fcb19387"),
    )  # fmt: skip

    def __init__(self, root: Name, transform: Any = None, target_transform: Any = None, download: bool = False,
                 loader: Loader = default_loader) -> None:  # fmt: skip
        super().__init__(root, "train", transform, target_transform, download, loader)

    def _needs(self) -> list[str]:
        return ["2750"]

    def _list(self) -> None:
        classes, self.samples = by_class(self.folder / "2750")
        self._number(classes)

    def extra_repr(self) -> str:
        return ""


class SUN397(PublishedDataset):
    """108,754 photographs of 397 kinds of scenes.

    Source: J. Xiao and others, SUN Database, CVPR 2010.
    """

    archives = (Archive("http://vision.princeton.edu/projects/2010/SUN/SUN397.tar.gz", "8ca2778205c41d23104230ba66911c7a"),)

    def __init__(self, root: Name, transform: Any = None, target_transform: Any = None, download: bool = False,
                 loader: Loader = default_loader) -> None:  # fmt: skip
        super().__init__(root, transform, target_transform, download, loader, needs=["SUN397/ClassName.txt"])
        folder = self.folder / "SUN397"
        self.classes = [line.strip()[3:] for line in (folder / "ClassName.txt").read_text().splitlines()]
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        for path in sorted(folder.rglob("sun_*.jpg")):
            self.samples.append((path, self.class_to_idx["/".join(path.relative_to(folder).parts[1:-1])]))


class Caltech256(PublishedDataset):
    """30,607 photographs of 257 kinds of things.

    Source: G. Griffin, A. Holub, P. Perona, Caltech-256 Object Category Dataset, 2007.
    """

    place = "caltech256"
    archives = (
        Archive(
            "https://data.caltech.edu/records/nyy15-4j048/files/256_ObjectCategories.tar", "67b4f42ca05d46448c6bb8ecd2220f6d"
        ),
    )

    def __init__(self, root: Name, transform: Any = None, target_transform: Any = None, download: bool = False) -> None:
        super().__init__(root, transform, target_transform, download, needs=["256_ObjectCategories"])
        self.categories, found = by_class(self.folder / "256_ObjectCategories", "*.jpg")
        self.samples = list(found)
        self.y = [target for _, target in found]


class Omniglot(PublishedDataset):
    """1,623 handwritten characters of 50 alphabets, each by 20 people; ``background`` are the 30 alphabets to train on.

    A target is the character's number among all of the split.

    Source: B. Lake, R. Salakhutdinov, J. Tenenbaum, Human-level concept learning, 2015.
    """

    place = "omniglot-py"
    url = "https://raw.githubusercontent.com/brendenlake/omniglot/master/python"
    zips_md5: ClassVar[dict[str, str]] = {
        "images_background": "68d2efa1b9178cc56df9314c21c6e718",
        "images_evaluation": "6b91aef0f799c5bb55b94e3f2daec811",
    }

    def __init__(self, root: Name, background: bool = True, transform: Any = None, target_transform: Any = None,
                 download: bool = False, loader: Loader | None = None) -> None:  # fmt: skip
        self.background = background
        name = "images_background" if background else "images_evaluation"
        archives = [Archive(f"{self.url}/{name}.zip", self.zips_md5[name])]
        read = _grey if loader is None else loader
        super().__init__(root, transform, target_transform, download, read, archives=archives, needs=[name])
        folder = self.folder / name
        characters = [c for alphabet in sorted(folder.iterdir()) if alphabet.is_dir() for c in sorted(alphabet.iterdir())]
        self._characters = [f"{c.parent.name}/{c.name}" for c in characters]
        self.samples = [(file, number) for number, c in enumerate(characters) for file in sorted(c.glob("*.png"))]


def _grey(path: str) -> Any:
    from PIL import Image

    with Image.open(path) as image:
        return image.convert("L")


class Imagenette(PublishedDataset):
    """ImageNet's ten easiest classes, "train" and "val", in the size "full", "320px" or "160px"; a class is a tuple of names.

    Source: J. Howard, Imagenette, 2019.
    """

    sizes: ClassVar[dict[str, tuple[str, str]]] = {
        "full": ("imagenette2", "fe2fc210e6bb7c5664d602c3cd71e612"),
        "320px": ("imagenette2-320", "3df6f0d01a2c9592104656642f5e78a3"),
        "160px": ("imagenette2-160", "e793b78cc4c9e9a4ccc0c1155377a412"),
    }
    url = "https://s3.amazonaws.com/fast-ai-imageclas/"
    names: ClassVar[dict[str, tuple[str, ...]]] = {
        "n01440764": ("tench", "Tinca tinca"),
        "n02102040": ("English springer", "English springer spaniel"),
        "n02979186": ("cassette player",),
        "n03000684": ("chain saw", "chainsaw"),
        "n03028079": ("church", "church building"),
        "n03394916": ("French horn", "horn"),
        "n03417042": ("garbage truck", "dustcart"),
        "n03425413": ("gas pump", "gasoline pump", "petrol pump", "island dispenser"),
        "n03445777": ("golf ball",),
        "n03888257": ("parachute", "chute"),
    }

    def __init__(self, root: Name, split: str = "train", size: str = "full", download: bool = False, transform: Any = None,
                 target_transform: Any = None, loader: Loader = default_loader) -> None:  # fmt: skip
        self.split = chosen("Imagenette", "split", split, ("train", "val"))
        self.size = chosen("Imagenette", "size", size, list(self.sizes))
        name, md5 = self.sizes[size]
        archives, needs = [Archive(f"{self.url}{name}.tgz", md5)], [f"{name}/{split}"]
        super().__init__(root, transform, target_transform, download, loader, archives=archives, needs=needs)
        self.wnids, found = by_class(self.folder / name / split, "*.JPEG")
        self.samples = list(found)
        self.classes = [self.names[wnid] for wnid in self.wnids]
        self.wnid_to_idx = {wnid: number for number, wnid in enumerate(self.wnids)}
        self.class_to_idx = {each: number for number, several in enumerate(self.classes) for each in several}
