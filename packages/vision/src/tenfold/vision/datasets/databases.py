"""Published photographs that lie in databases: LSUN (LMDB) and PatchCamelyon (HDF5)."""

from __future__ import annotations

import bisect
import importlib
import itertools
import os
from collections.abc import Sequence
from io import BytesIO
from typing import Any, ClassVar

from tenfold.vision.datasets.published import Archive, Name, PublishedDataset, chosen
from tenfold.vision.datasets.utils import drive_url
from tenfold.vision.datasets.vision import VisionDataset

READ_ONLY = {"max_readers": 1, "readonly": True, "lock": False, "readahead": False, "meminit": False}


class LSUNClass(VisionDataset):
    """The photographs of one of LSUN's databases; there are no targets (None).

    Raises:
        ImportError: lmdb, which reads the files, is not installed.

    Source: F. Yu and others, LSUN, arXiv:1506.03365.
    """

    def __init__(self, root: Name, transform: Any = None, target_transform: Any = None) -> None:
        super().__init__(str(root), transform=transform, target_transform=target_transform)
        with self._database().begin() as reading:
            self.keys = list(reading.cursor().iternext(keys=True, values=False))
        self.length = len(self.keys)

    def _database(self) -> Any:
        return _opened(os.path.realpath(os.path.expanduser(str(self.root))))

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        with self._database().begin() as reading:
            data = reading.get(self.keys[index])
        return self._transformed(Image.open(BytesIO(data)).convert("RGB"), None)

    def __len__(self) -> int:
        return self.length


_ENVIRONMENTS: dict[str, tuple[int, Any]] = {}  # of each path: the process that opened it, and what it opened


def _opened(path: str) -> Any:
    """A database, opened once in a process, as it has to be; a forked worker opens it anew, for its parent's is not its own."""
    process, environment = _ENVIRONMENTS.get(path, (0, None))
    if process != os.getpid():
        if environment is not None:
            environment.close()
        environment = _reader("lmdb", "LSUN").open(path, **READ_ONLY)
        _ENVIRONMENTS[path] = (os.getpid(), environment)
    return environment


def _reader(module: str, operator: str) -> Any:
    """A module that reads the files of a kind of database.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{operator}: its files are read by {module}; pip install {module}") from error


PLACES = ("bedroom", "bridge", "church_outdoor", "classroom", "conference_room",
          "dining_room", "kitchen", "living_room", "restaurant", "tower")  # fmt: skip


class LSUN(VisionDataset):
    """A million photographs each of ten kinds of places: ``classes`` is "train", "val" or "test", or a list such as
    ``["bedroom_train", "tower_val"]``; a target is the number in that list.

    ``root`` has a folder such as ``bedroom_train_lmdb`` for each.

    Raises:
        ValueError: a class or split that there is not.
        ImportError: lmdb, which reads the files, is not installed.

    Source: F. Yu and others, LSUN, arXiv:1506.03365.
    """

    def __init__(self, root: Name, classes: str | Sequence[str] = "train", transform: Any = None,
                 target_transform: Any = None) -> None:  # fmt: skip
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.classes = _databases(classes)
        self.dbs = [LSUNClass(f"{self.root}/{name}_lmdb") for name in self.classes]
        self.indices = list(itertools.accumulate(len(database) for database in self.dbs))
        self.length = self.indices[-1] if self.indices else 0

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if not -self.length <= index < self.length:
            raise IndexError(f"LSUN: index {index} is out of range for {self.length} photographs")
        place = index % self.length
        number = bisect.bisect_right(self.indices, place)
        before = self.indices[number - 1] if number else 0
        return self._transformed(self.dbs[number][place - before][0], number)

    def __len__(self) -> int:
        return self.length

    def extra_repr(self) -> str:
        return f"Classes: {self.classes}"


def _databases(classes: str | Sequence[str]) -> list[str]:
    if isinstance(classes, str):
        chosen("LSUN", "classes", classes, ("train", "val", "test"))
        return ["test"] if classes == "test" else [f"{place}_{classes}" for place in PLACES]
    known = [f"{place}_{split}" for place in PLACES for split in ("train", "val")] + ["test"]
    return [chosen("LSUN", "classes", name, known) for name in classes]


class PCAM(PublishedDataset):
    """Patches of lymph nodes, 96x96, with (1) or without (0) tumour in the middle: ``split`` is "train", "val" or "test".

    Raises:
        ImportError: h5py, which reads the files, is not installed.

    Source: B. Veeling and others, Rotation Equivariant CNNs for Digital Pathology, arXiv:1806.03962.
    """

    place = "pcam"
    files: ClassVar[dict[str, tuple[tuple[str, str, str], ...]]] = {  # split: pictures and labels, each with place and MD5
        "train": (
            ("camelyonpatch_level_2_split_train_x.h5", "1Ka0XfEMiwgCYPdTI-vv6eUElOBnKFKQ2", "1571f514728f59376b705fc836ff4b63"),
            ("camelyonpatch_level_2_split_train_y.h5", "1269yhu3pZDP8UYFQs-NYs3FPwuK-nGSG", "35c2d7259d906cfc8143347bb8e05be7"),
        ),
        "test": (
            ("camelyonpatch_level_2_split_test_x.h5", "1qV65ZqZvWzuIVthK8eVDhIwrbnsJdbg_", "d8c2d60d490dbd479f8199bdfa0cf6ec"),
            ("camelyonpatch_level_2_split_test_y.h5", "17BHrSrwWKjYsOgTMmoqrIjDy6Fa2o_gP", "60a7035772fbdb7f34eb86d4420cf66a"),
        ),
        "val": (
            ("camelyonpatch_level_2_split_valid_x.h5", "1hgshYGWK8V-eGRy8LToWJJgDU_rXWVJ3", "d5b63470df7cfa627aeec8b9dc0c066e"),
            ("camelyonpatch_level_2_split_valid_y.h5", "1bH8ZRbhSVAhScTS0p9-ZzGnX91cHT3uO", "2b85f58b927af9964a4c15b8f7e8f179"),
        ),
    }  # fmt: skip

    def __init__(self, root: Name, split: str = "train", transform: Any = None, target_transform: Any = None,
                 download: bool = False) -> None:  # fmt: skip
        self.split = chosen("PCAM", "split", split, list(self.files))
        archives = [Archive(drive_url(number), md5, f"{name}.gz") for name, number, md5 in self.files[split]]
        needs = [name for name, _, _ in self.files[split]]
        super().__init__(root, transform, target_transform, download, archives=archives, needs=needs)
        pictures, labels = (self.folder / name for name in needs)
        with _hdf5(labels) as file:
            self.targets = [int(label) for label in file["y"][:].reshape(-1)]
        self._pictures = pictures

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        with _hdf5(self._pictures) as file:  # opened anew, since workers must not share one
            picture = Image.fromarray(file["x"][index]).convert("RGB")
        return self._transformed(picture, self.targets[index])

    def __len__(self) -> int:
        return len(self.targets)


def _hdf5(path: Any) -> Any:
    return _reader("h5py", "PCAM").File(path, "r")
