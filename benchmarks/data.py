"""The loader beside PyTorch's, in one run: a tensor dataset, a folder of images with augmentation, a tar of the same.

    python benchmarks/data.py [--images N] [--repeats N] [--only rows] [--json results.json]

Each side loads every batch and throws it away; passes alternate, medians count. Each is a process of its own, which imports its
own library alone, as its users' programs do: a fork copies the page tables of all that is loaded, so that workers of a process
that has PyTorch's libraries, too, start and end ten times as slowly. The images are drawn here (JPEG, about 400x300). In the
first two cases of images both sides augment by the same functions of PIL, so that only loaders differ: a random crop resized to
224, a flip, conversion to a tensor. In the third tenfold.vision's and torchvision's ImageFolder and transforms do it, where
torchvision can be imported. "cpu" is the ratio of processor time of all processes, which a busy machine changes less.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import os
import platform
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

Cases = dict[str, Iterable[Any]]  # a loader for each title
SIDES = ("tenfold", "torch")


def seconds(loader: Iterable[Any]) -> tuple[float, float]:
    """How long a pass took, and the processor time of it, that of the workers that ended with it too."""
    start, spent = time.perf_counter(), sum(os.times()[:4])
    for _ in loader:
        pass
    return time.perf_counter() - start, sum(os.times()[:4]) - spent


class Side:
    """One library's loaders in a process of their own."""

    def __init__(self, library: str, folder: Path) -> None:
        command = [sys.executable, __file__, "--serve", library, str(folder)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.titles: list[str] = self._answer()
        self.version: str = self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None, "asked for"
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a side has ended; see its message above")
        return json.loads(line)

    def seconds(self, title: str) -> list[float]:
        """Those of one pass over a case, and those of processors."""
        print(title, file=self._process.stdin, flush=True)
        found: list[float] = self._answer()
        return found

    def end(self) -> None:
        """Let the process end."""
        self._process.communicate()


def serve(library: str, folder: Path) -> None:
    """Be a side: tell the titles and the version, then make the passes whose titles come."""
    cases = cases_of_rows(library) | (cases_of_images(library, folder) if (folder / "all").exists() else {})
    print(json.dumps(list(cases)), flush=True)
    print(json.dumps(importlib.import_module(library).__version__), flush=True)
    for line in sys.stdin:
        print(json.dumps(seconds(cases[line.rstrip("\n")])), flush=True)


def compared(sides: list[Side], title: str, repeats: int) -> list[list[float]]:
    """Median seconds, and seconds of processors, of an epoch of both, their passes alternating; the first of each warms up."""
    passes = [[side.seconds(title) for side in sides] for _ in range(repeats + 1)][1:]
    return [[statistics.median(figure) for figure in zip(*side, strict=True)] for side in zip(*passes, strict=True)]


class Folder:
    """Images of a folder, augmented with PIL and NumPy alone: one definition that both frameworks' loaders load."""

    def __init__(self, paths: list[Path], as_tensor: Callable[[Any], Any]) -> None:
        self.paths, self.as_tensor = paths, as_tensor

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        with Image.open(self.paths[index]) as image:
            return self.as_tensor(augmented(image.convert("RGB"), index)), index % 10


def augmented(image: Image.Image, seed: int) -> np.ndarray[Any, Any]:
    draw = np.random.default_rng(seed)
    width, height = image.size
    side = int(min(width, height) * draw.uniform(0.5, 1.0))
    left, top = int(draw.integers(0, width - side + 1)), int(draw.integers(0, height - side + 1))
    image = image.resize((224, 224), Image.Resampling.BILINEAR, (left, top, left + side, top + side))
    if draw.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return np.ascontiguousarray(np.asarray(image, np.float32).transpose(2, 0, 1) / 255.0)


def draw_images(folder: Path, count: int) -> list[Path]:
    generator = np.random.default_rng(0)
    paths = []
    for number in range(count):
        small = generator.integers(0, 256, (30, 40, 3), np.uint8)
        path = folder / f"{number:05}.jpg"
        Image.fromarray(small).resize((400, 300), Image.Resampling.BICUBIC).save(path, quality=85)
        paths.append(path)
    return paths


def members(path: Path, as_tensor: Callable[[Any], Any], worker: Callable[[], Any]) -> Iterable[Any]:
    """The augmented images of a tar, this worker's share of them, as programs for PyTorch write it by hand."""
    info = worker()
    index, count = (0, 1) if info is None else (info.id, info.num_workers)
    with tarfile.open(path) as archive:
        for number, member in enumerate(archive):
            if number % count == index:
                image = Image.open(io.BytesIO(archive.extractfile(member).read()))  # type: ignore[union-attr]
                yield as_tensor(augmented(image.convert("RGB"), number)), number % 10


def libraries(library: str) -> tuple[Any, Any]:
    """The library and its loaders, on one thread."""
    found = importlib.import_module(library)
    found.set_num_threads(1)
    return found, importlib.import_module({"tenfold": "tenfold.data", "torch": "torch.utils.data"}[library])


def cases_of_rows(library: str) -> Cases:
    """Epochs over a dataset of tensors."""
    tensors, loaders = libraries(library)
    x, y = np.random.default_rng(0).standard_normal((20_000, 32)).astype(np.float32), np.arange(20_000)
    rows = loaders.TensorDataset(tensors.from_numpy(x), tensors.from_numpy(y))
    kinds = (("0 workers", 0, False), ("2 workers kept", 2, True), ("2 workers started anew", 2, False))
    return {
        f"20,000 rows, {title}": loaders.DataLoader(rows, 256, shuffle=True, num_workers=workers, persistent_workers=kept)
        for title, workers, kept in kinds
    }


def cases_of_images(library: str, folder: Path) -> Cases:
    """Epochs over images in a folder, and over a tar of them."""
    tensors, loaders = libraries(library)
    paths, tar = sorted((folder / "all" / "one").iterdir()), folder / "images.tar"
    count = f"{len(paths):,} JPEG"
    stream = own_stream(tar) if library == "tenfold" else peer_stream(tar)
    return {
        f"{count}, 2 workers": loaders.DataLoader(Folder(paths, tensors.from_numpy), 64, num_workers=2),
        f"a tar of {count}, 2 workers": loaders.DataLoader(stream, 64, num_workers=2),
    } | cases_of_vision(library, folder, f"{count} by vision's transforms, 2 workers")


def own_stream(tar: Path) -> Iterable[Any]:
    """The images of a tar by Tenfold's pipes."""
    import tenfold
    from tenfold.data.pipes import FromIterable
    from tenfold.data.readers import TarReader

    def sample(numbered: tuple[int, tuple[str, bytes]]) -> tuple[Any, int]:
        number, (_, content) = numbered
        return tenfold.from_numpy(augmented(Image.open(io.BytesIO(content)).convert("RGB"), number)), number % 10

    return FromIterable(Numbered(TarReader(tar))).shard().map(sample)


def peer_stream(tar: Path) -> Iterable[Any]:
    """The images of a tar by a dataset as programs for PyTorch write it."""
    import torch
    from torch.utils.data import IterableDataset, get_worker_info

    class Stream(IterableDataset):  # type: ignore[misc,type-arg]
        def __iter__(self) -> Any:
            return iter(members(tar, torch.from_numpy, get_worker_info))

    return Stream()


def cases_of_vision(library: str, folder: Path, title: str) -> Cases:
    """An epoch over the folder by the transforms that go with the library, where they can be imported."""
    try:
        vision = importlib.import_module({"tenfold": "tenfold.vision", "torch": "torchvision"}[library])
    except (ImportError, RuntimeError):
        print("torchvision cannot be imported: its transforms are not compared", file=sys.stderr)
        return {}
    T = vision.transforms
    steps = [T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4), T.ToTensor()]
    augment = T.Compose([*steps, T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    _, loaders = libraries(library)
    images = vision.datasets.ImageFolder(folder / "all", augment)
    return {title: loaders.DataLoader(images, 64, shuffle=True, num_workers=2)}


def prepare(folder: Path, count: int) -> None:
    """Draw the images, into a folder and a tar."""
    (folder / "all" / "one").mkdir(parents=True)
    with tarfile.open(folder / "images.tar", "w") as archive:
        for path in draw_images(folder / "all" / "one", count):
            archive.add(path, path.name)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--images", type=int, default=2000)
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--only", default="", help="cases whose titles contain this")
    arguments.add_argument("--json", type=Path, help="where the figures are written; cases that it has already are kept")
    arguments.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)  # a library and a folder: what a side runs
    given = arguments.parse_args()
    if given.serve:
        return serve(given.serve[0], Path(given.serve[1]))

    rows: list[dict[str, Any]] = []
    print(f"{'an epoch of':45} {'tenfold s':>10} {'torch s':>10} {'ratio':>6} {'cpu':>6}")
    with tempfile.TemporaryDirectory() as name:
        if "rows" not in given.only:
            prepare(Path(name), given.images)
        sides = [Side(library, Path(name)) for library in SIDES]
        for title in sides[0].titles:
            if given.only in title and title in sides[1].titles:
                (mine, ours), (other, theirs) = compared(sides, title, given.repeats)
                row = {"case": title, "tenfold_s": mine, "torch_s": other, "ratio": mine / other, "cpu_ratio": ours / theirs}
                rows.append(row)
                print(f"{title:45} {mine:10.4f} {other:10.4f} {row['ratio']:6.2f} {row['cpu_ratio']:6.2f}", flush=True)
        for side in sides:
            side.end()
    if given.json:
        keep(given.json, rows, sides[1].version)
    return None


def keep(path: Path, rows: list[dict[str, Any]], peer_version: str) -> None:
    """Write the figures, those of other runs that a former file has kept."""
    former = json.loads(path.read_text())["rows"] if path.exists() else []
    known = {row["case"]: row for row in former} | {row["case"]: row for row in rows}
    versions = {"python": platform.python_version(), "numpy": np.__version__, "torch": peer_version, "threads": "1"}
    path.write_text(json.dumps({"machine": versions, "rows": list(known.values())}, indent=1) + "\n")


class Numbered:
    """The items of a pipe with their numbers, again at each pass."""

    def __init__(self, source: Iterable[Any]) -> None:
        self.source = source

    def __iter__(self) -> Any:
        return enumerate(self.source)


if __name__ == "__main__":
    main()
