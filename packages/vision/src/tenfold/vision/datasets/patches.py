"""Published pairs of patches of photographs: Photo Tourism."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.data.archive import extract_archive
from tenfold.data.download import download_url
from tenfold.vision.datasets.published import Archive, Name, PublishedDataset, as_it_is, chosen

SIDE = 64
ICVL, BROWN = "http://icvl.ee.ic.ac.uk/vbalnt/", "http://matthewalunbrown.com/patchdata/"


class PhotoTour(PublishedDataset):
    """Patches, 64x64 in grey, around points that several photographs show.

    ``name`` is "liberty", "notredame", "yosemite" or one of these with "_harris". With ``train`` a sample is a patch, else two
    patches and whether (1) they show the same point.

    Source: M. Brown, G. Hua, S. Winder, Discriminative Learning of Local Image Descriptors, 2011.
    """

    urls: ClassVar[dict[str, tuple[str, str, str]]] = {
        "notredame_harris": (BROWN + "notredame_harris.zip", "notredame_harris.zip", "69f8c90f78e171349abdf0307afefe4d"),
        "yosemite_harris": (BROWN + "yosemite_harris.zip", "yosemite_harris.zip", "a73253d1c6fbd3ba2613c45065c00d46"),
        "liberty_harris": (BROWN + "liberty_harris.zip", "liberty_harris.zip", "c731fcfb3abb4091110d0ae8c7ba182c"),
        "notredame": (ICVL + "notredame.zip", "notredame.zip", "509eda8535847b8c0a90bbb210c83484"),
        "yosemite": (ICVL + "yosemite.zip", "yosemite.zip", "533b2e8eb7ede31be40abc317b2fd4f0"),
        "liberty": (ICVL + "liberty.zip", "liberty.zip", "fdd9152f138ea5ef2091746689176414"),
    }
    means: ClassVar[dict[str, float]] = {
        name: mean for place, mean in (("notredame", 0.4854), ("yosemite", 0.4844), ("liberty", 0.4437))
        for name in (place, f"{place}_harris")
    }  # fmt: skip
    stds: ClassVar[dict[str, float]] = {
        name: std for place, std in (("notredame", 0.1864), ("yosemite", 0.1818), ("liberty", 0.2019))
        for name in (place, f"{place}_harris")
    }  # fmt: skip
    lens: ClassVar[dict[str, int]] = {
        "notredame": 468159, "yosemite": 633587, "liberty": 450092,
        "liberty_harris": 379587, "yosemite_harris": 450912, "notredame_harris": 325295,
    }  # fmt: skip
    info_file, matches_files, image_ext = "info.txt", "m50_100000_100000_0.txt", "bmp"

    def __init__(self, root: Name, name: str, train: bool = True, transform: Any = None, download: bool = False) -> None:
        url, file, md5 = self.urls[chosen("PhotoTour", "name", name, list(self.urls))]
        self.name, self.train = name, train
        needs = [f"{name}/{each}" for each in (self.info_file, self.matches_files)]
        super().__init__(root, transform, download=download, archives=[Archive(url, md5, file)], needs=needs)
        self.mean, self.std = self.means[name], self.stds[name]
        self.data_dir = str(self.folder / name)
        self.data = read_image_file(self.data_dir, self.image_ext, self.lens[name])
        self.labels = read_info_file(self.data_dir, self.info_file)
        self.matches = read_matches_files(self.data_dir, self.matches_files)

    def _fetch(self, archives: Any) -> None:
        for archive in archives:  # which holds files without a folder
            download_url(archive.url, self.folder, archive.name, archive.md5)
            partial = self.folder / f".{self.name}.partial"
            extract_archive(self.folder / archive.name, partial)
            partial.rename(self.folder / self.name)

    def __getitem__(self, index: int) -> Any:
        if self.train:
            return self._changed(self.data[index])
        first, second, same = self.matches[index]
        return self._changed(self.data[first]), self._changed(self.data[second]), same

    def _changed(self, patch: Tensor) -> Any:
        return patch if self.transform is None else self.transform(patch)

    def __len__(self) -> int:
        return len(self.data if self.train else self.matches)

    def extra_repr(self) -> str:
        return f"Split: {'Train' if self.train else 'Test'}"


def read_image_file(data_dir: Name, image_ext: str, n: int) -> Tensor:
    """The first ``n`` patches of the sheets in a folder, row by row: (n, 64, 64), uint8."""
    patches = [np.zeros((0, SIDE, SIDE), dtype=np.uint8)]
    for path in sorted(Path(data_dir).glob(f"*{image_ext}")):
        sheet = np.asarray(as_it_is(path).convert("L"))
        rows, columns = sheet.shape[0] // SIDE, sheet.shape[1] // SIDE
        cut = sheet[: rows * SIDE, : columns * SIDE].reshape(rows, SIDE, columns, SIDE)
        patches.append(cut.transpose(0, 2, 1, 3).reshape(-1, SIDE, SIDE))
    return tenfold.from_numpy(np.concatenate(patches)[:n])


def read_info_file(data_dir: Name, info_file: str) -> Tensor:
    """The point that each patch shows."""
    lines = (Path(data_dir) / info_file).read_text().splitlines()
    return tenfold.tensor([int(line.split()[0]) for line in lines], dtype=tenfold.int64)


def read_matches_files(data_dir: Name, matches_file: str) -> Tensor:
    """Pairs of patches and whether they show one point: (N, 3)."""
    rows = [line.split() for line in (Path(data_dir) / matches_file).read_text().splitlines()]
    found = [[int(row[0]), int(row[3]), int(row[1] == row[4])] for row in rows]
    return tenfold.tensor(found, dtype=tenfold.int64).reshape(-1, 3)
