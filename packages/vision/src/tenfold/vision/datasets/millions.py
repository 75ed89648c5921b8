"""Published data sets of millions of photographs: ImageNet, Places365, iNaturalist and LSUN."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import tenfold
from tenfold.data.archive import extract_archive
from tenfold.data.download import alone_in, check_integrity
from tenfold.vision.datasets.arrays import read_mat
from tenfold.vision.datasets.folder import ImageFolder, default_loader
from tenfold.vision.datasets.published import Archive, Loader, Name, PublishedDataset, by_class, chosen, several

META_FILE = "meta.bin"
ARCHIVE_META = {
    "train": ("ILSVRC2012_img_train.tar", "1d675b47d978889d74fa0da5fadfb00e"),
    "val": ("ILSVRC2012_img_val.tar", "29b22e2961454d5413ddabcf34fc5622"),
    "devkit": ("ILSVRC2012_devkit_t12.tar.gz", "fa75699e90414af021442c21a62c3abf"),
}


class ImageNet(ImageFolder):
    """1.28 million photographs in a thousand classes: ``split`` is "train" or "val". A class is a tuple of names.

    Its publisher asks for an account: the archives that `ARCHIVE_META` names are put into ``root`` by hand; they are verified
    and unpacked the first time.

    Raises:
        RuntimeError: an archive that is needed is not there, or damaged.
        ImportError: SciPy, which reads the list of classes, is not installed.

    Source: O. Russakovsky and others, ImageNet Large Scale Visual Recognition Challenge, arXiv:1409.0575.
    """

    def __init__(self, root: Name, split: str = "train", **kwargs: Any) -> None:
        self.split = chosen("ImageNet", "split", split, ("train", "val"))
        folder = Path(os.path.expanduser(root))
        with alone_in(folder):
            if not (folder / META_FILE).is_file():
                parse_devkit_archive(folder)
            names, val_wnids = load_meta_file(folder)
            if not (folder / split).is_dir():
                if split == "train":
                    parse_train_archive(folder)
                else:
                    parse_val_archive(folder, wnids=val_wnids)
        super().__init__(str(folder / split), **kwargs)
        self.root = folder
        self.wnids = self.classes
        self.wnid_to_idx = self.class_to_idx
        self.classes = [names[wnid] for wnid in self.wnids]  # type: ignore[misc]
        self.class_to_idx = {name: number for number, alike in enumerate(self.classes) for name in alike}

    @property
    def split_folder(self) -> str:
        """Where the split's photographs are."""
        return os.path.join(str(self.root), self.split)

    def extra_repr(self) -> str:
        return f"Split: {self.split}"


def load_meta_file(root: Name, file: str | None = None) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """The names of every class, and the class of every photograph to validate with.

    Raises:
        RuntimeError: `parse_devkit_archive` has not written them.
    """
    path = Path(root) / (file or META_FILE)
    if not path.is_file():
        raise RuntimeError(f"ImageNet: the meta file {path} is not there; parse_devkit_archive makes it")
    names, val_wnids = tenfold.load(path, weights_only=True)
    return names, val_wnids


def _verified(root: Name, kind: str, file: str | None) -> Path:
    name, md5 = ARCHIVE_META[kind]
    path = Path(root) / (file or name)
    if not check_integrity(path, md5):
        raise RuntimeError(
            f"ImageNet: the archive {path.name} is not in {root}, or is damaged; fetch it from image-net.org and put it there"
        )
    return path


@contextmanager
def _appearing(folder: Path) -> Iterator[Path]:
    """A folder to fill, which gets its name when it is whole."""
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    yield partial
    os.replace(partial, folder)


def parse_devkit_archive(root: Name, file: str | None = None) -> None:
    """Write the meta file from the archive of lists.

    Raises:
        RuntimeError: the archive is not there, or damaged.
    """
    archive = _verified(root, "devkit", file)
    unpacked = Path(root) / ".devkit.partial"
    try:
        extract_archive(archive, unpacked)
        data = unpacked / "ILSVRC2012_devkit_t12" / "data"
        names, wnids = {}, {}
        for synset in read_mat("ImageNet", data / "meta.mat", squeeze_me=True)["synsets"]:
            if int(synset["num_children"]) == 0:
                names[str(synset["WNID"])] = tuple(str(synset["words"]).split(", "))
                wnids[int(synset["ILSVRC2012_ID"])] = str(synset["WNID"])
        numbers = (data / "ILSVRC2012_validation_ground_truth.txt").read_text().split()
        tenfold.save((names, [wnids[int(number)] for number in numbers]), Path(root) / META_FILE)
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)


def parse_train_archive(root: Name, file: str | None = None, folder: str = "train") -> None:
    """Unpack the archive of archives, one for each class.

    Raises:
        RuntimeError: the archive is not there, or damaged.
    """
    archive = _verified(root, "train", file)
    with _appearing(Path(root) / folder) as partial:
        extract_archive(archive, partial)
        for inner in sorted(partial.glob("*.tar")):
            extract_archive(inner, inner.with_suffix(""))
            inner.unlink()


def parse_val_archive(root: Name, file: str | None = None, wnids: list[str] | None = None, folder: str = "val") -> None:
    """Unpack the archive of photographs to validate with, each into its class's folder.

    Raises:
        RuntimeError: the archive is not there, or damaged.
    """
    archive = _verified(root, "val", file)
    of_each = load_meta_file(root)[1] if wnids is None else wnids
    with _appearing(Path(root) / folder) as partial:
        extract_archive(archive, partial)
        for wnid, image in zip(of_each, sorted(partial.iterdir()), strict=True):
            (partial / wnid).mkdir(exist_ok=True)
            image.rename(partial / wnid / image.name)


class Places365(PublishedDataset):
    """Photographs of 365 kinds of places: ``split`` is "train-standard", "train-challenge", "val" or "test" (without targets).

    With ``small`` they are 256x256, else at least 512 wide and high.

    Source: B. Zhou and others, Places: A 10 Million Image Database for Scene Recognition, 2017.
    """

    url = "http://data.csail.mit.edu/places/places365/"
    lists: ClassVar[dict[str, tuple[str, str]]] = {
        "challenge": ("filelist_places365-challenge.tar", "70a8307e459c3de41690a7c76c931734"),
        "standard": ("filelist_places365-standard.tar", "35a0585fee1fa656440f3ab298f8479c"),
    }
    photographs: ClassVar[dict[tuple[str, bool], tuple[str, str]]] = {
        ("test", False): ("test_large.tar", "41a4b6b724b1d2cd862fb3871ed59913"),
        ("test", True): ("test_256.tar", "f532f6ad7b582262a2ec8009075e186b"),
        ("train-challenge", False): ("train_large_places365challenge.tar", "605f18e68e510c82b958664ea134545f"),
        ("train-challenge", True): ("train_256_places365challenge.tar", "741915038a5e3471ec7332404dfb64ef"),
        ("train-standard", False): ("train_large_places365standard.tar", "67e186b496a84c929568076ed01a8aa1"),
        ("train-standard", True): ("train_256_places365standard.tar", "53ca1c756c3d1e7809517cc47c5561c5"),
        ("val", False): ("val_large.tar", "9b71c4993ad89d2d8bcbdc4aef38042f"),
        ("val", True): ("val_256.tar", "e27b17d8d44f4af9a78502beb927f808"),
    }

    def __init__(self, root: Name, split: str = "train-standard", small: bool = False, download: bool = False,
                 transform: Any = None, target_transform: Any = None, loader: Loader = default_loader) -> None:  # fmt: skip
        self.split = chosen("Places365", "split", split, ("train-standard", "train-challenge", "val", "test"))
        self.small = small
        self.variant = "challenge" if split == "train-challenge" else "standard"
        size = "256" if small else "large"
        self._inside = f"data_{size}_{self.variant}" if split.startswith("train") else f"{split}_{size}"
        listed = f"places365_{split.replace('-', '_')}.txt"
        archives = [Archive(self.url + name, md5) for name, md5 in (self.lists[self.variant], self.photographs[split, small])]
        needs = ["categories_places365.txt", listed, self._inside]
        super().__init__(root, transform, target_transform, download, loader, archives=archives, needs=needs)
        rows = [line.split() for line in (self.folder / needs[0]).read_text().splitlines() if line.strip()]
        self.class_to_idx = {name: int(number) for name, number in rows}
        self.classes = sorted(self.class_to_idx)
        for line in (self.folder / listed).read_text().splitlines():
            name, *number = line.split()
            self.samples.append((f"{self.images_dir}/{name.lstrip('/')}", int(number[0]) if number else None))
        self.imgs = self.samples
        self.targets = [target for _, target in self.samples]

    @property
    def images_dir(self) -> str:
        """Where the photographs are."""
        return str(self.folder / self._inside)

    def _fetch(self, archives: Sequence[Archive]) -> None:
        super()._fetch(archives)
        unpacked = (
            self.folder / self._inside.rpartition("_")[0]
        )  # of both training splits the archive says data_256 or data_large
        if self.split.startswith("train") and unpacked.is_dir():
            unpacked.rename(self.folder / self._inside)

    def extra_repr(self) -> str:
        return f"Split: {self.split}\nSmall: {self.small}"


INATURALIST_URL = "https://ml-inat-competition-datasets.s3.amazonaws.com/"
RANKS = ("kingdom", "phylum", "class", "order", "family", "genus")
INATURALIST = {  # version: what the archive is called below its year, MD5, folder inside
    "2017": ("train_val_images", "7c784ea5e424efaec655bd392f87301f"),
    "2018": ("train_val2018", "b1c6952ce38f31868cc50ea72d066cc3"),
    "2019": ("train_val2019", "c60a6e2962c9b8ccbd458d12c8582644"),
    "2021_train": ("train", "e0526d53c7f7b2e3167b2b43bb2690ed"),
    "2021_train_mini": ("train_mini", "db6ed8330e634445efc8fec83ae81442"),
    "2021_valid": ("val", "f6f6e0e242e3d4c9569ba56400938afc"),
}


class INaturalist(PublishedDataset):
    """Photographs of living things: ``version`` is "2017", "2018", "2019", "2021_train", "2021_train_mini" or "2021_valid".

    ``target_type`` is one or several of "full" (the number of the species) and, of 2021, "kingdom", "phylum", "class", "order",
    "family" and "genus"; of earlier years, "super".

    Source: G. Van Horn and others, The iNaturalist Species Classification and Detection Dataset, arXiv:1707.06642.
    """

    def __init__(self, root: Name, version: str = "2021_train", target_type: Sequence[str] | str = "full", transform: Any = None,
                 target_transform: Any = None, download: bool = False, loader: Loader | None = None) -> None:  # fmt: skip
        self.version = chosen("INaturalist", "version", version, list(INATURALIST))
        name, md5 = INATURALIST[version]
        url = f"{INATURALIST_URL}{version[:4]}/{name}.tar.gz"
        ranks = RANKS if version.startswith("2021") else ("super",)
        self.target_type = several("INaturalist", "target_type", target_type, ("full", *ranks))
        archives = [Archive(url, md5, f"{version}.tgz")]
        super().__init__(
            root, transform, target_transform, download, loader or default_loader, archives=archives, needs=[version]
        )
        self.root = self._below = self.folder / version
        self.categories_index: dict[str, dict[str, int]] = {rank: {} for rank in ranks}
        self.all_categories = self._species() if version.startswith("2021") else self._species_below()
        self.categories_map = [self._ranks_of(category) for category in self.all_categories]
        for number, category in enumerate(self.all_categories):
            self.samples += [(str(path), number) for path in sorted((self._below / category).iterdir())]
        self.index = [(number, os.path.basename(path)) for path, number in self.samples]

    def _fetch(self, archives: Sequence[Archive]) -> None:
        super()._fetch(archives)
        (self.folder / INATURALIST[self.version][0]).rename(self.folder / self.version)

    def _species(self) -> list[str]:
        """2021's folders: number, six ranks and species, joined by underscores."""
        names = sorted(path.name for path in self._below.iterdir() if path.is_dir())
        for number, name in enumerate(names):
            if len(name.split("_")) != 8 or name.split("_")[0] != f"{number:05d}":
                raise RuntimeError(f"INaturalist: {name} is no folder of 2021's; expected {number:05d} and seven names")
        return names

    def _species_below(self) -> list[str]:
        """Earlier years' folders: within that of a group, that of a species, whose name is its number from 2018 on."""
        names = [f"{group}/{name}" for group in by_class(self._below)[0] for name in by_class(self._below / group)[0]]
        if self.version == "2017":
            return names
        try:
            numbered = {int(name.partition("/")[2]): name for name in names}
        except ValueError as error:
            raise RuntimeError(f"INaturalist: a folder of {self.version} is a number, but {error}") from None
        if sorted(numbered) != list(range(len(names))):
            raise RuntimeError(f"INaturalist: of the {len(names)} folders of species some have no number, or another's")
        return [numbered[number] for number in range(len(names))]

    def _ranks_of(self, category: str) -> dict[str, int]:
        names = category.split("_")[1:7] if self.version.startswith("2021") else [category.partition("/")[0]]
        known = self.categories_index
        if "super" in known and not known["super"]:
            known["super"].update({group: number for number, group in enumerate(by_class(self._below)[0])})
        return {rank: known[rank].setdefault(name, len(known[rank])) for rank, name in zip(known, names, strict=True)}

    def category_name(self, category_type: str, category_id: int) -> str:
        """The name of a species ("full") or of a group of another rank by its number.

        Raises:
            ValueError: there is no such rank or number.
        """
        if category_type == "full":
            return self.all_categories[category_id]
        chosen("INaturalist", "category_type", category_type, list(self.categories_index))
        for name, number in self.categories_index[category_type].items():
            if number == category_id:
                return name
        raise ValueError(f"INaturalist: Invalid category id {category_id} for {category_type}")

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, number = self.samples[index]
        targets = [number if kind == "full" else self.categories_map[number][kind] for kind in self.target_type]
        return self._of_kinds(self.loader(path), targets)
