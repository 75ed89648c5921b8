"""The loader beside PyTorch's, in one run: a tensor dataset, a folder of images with augmentation, a tar of the same.

    python benchmarks/data.py [--images N] [--repeats N] [--only rows] [--json results.json]

Each side loads every batch and throws it away; passes alternate, medians count. The images are drawn here (JPEG, about
400x300). In the first two cases of images both sides augment by the same functions of PIL, so that only loaders differ: a random
crop resized to 224, a flip, conversion to a tensor. In the third tenfold.vision's and torchvision's ImageFolder and transforms do
it, where torchvision can be imported. "cpu" is the ratio of processor time of all processes, which a busy machine changes less.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import statistics
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

Case = tuple[str, Iterable[Any], Iterable[Any]]  # a title, our loader and PyTorch's


def seconds(loader: Iterable[Any]) -> tuple[float, float]:
    """How long a pass took, and the processor time of it, that of the workers that ended with it too."""
    start, spent = time.perf_counter(), sum(os.times()[:4])
    for _ in loader:
        pass
    return time.perf_counter() - start, sum(os.times()[:4]) - spent


def compared(own: Iterable[Any], peer: Iterable[Any], repeats: int) -> tuple[list[float], list[float]]:
    """Median seconds, and seconds of processors, of an epoch of both, their passes alternating; the first of each warms up."""
    passes = [[seconds(loader) for loader in (own, peer)] for _ in range(repeats + 1)][1:]
    figures = [[statistics.median(figure) for figure in zip(*side, strict=True)] for side in zip(*passes, strict=True)]
    return figures[0], figures[1]


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


def cases_of_rows() -> list[Case]:
    """Epochs over a dataset of tensors."""
    import torch
    import torch.utils.data as theirs

    import tenfold
    import tenfold.data as ours

    x, y = np.random.default_rng(0).standard_normal((20_000, 32)).astype(np.float32), np.arange(20_000)
    tensors = ours.TensorDataset(tenfold.from_numpy(x), tenfold.from_numpy(y))
    their_tensors = theirs.TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
    found: list[Case] = []
    for title, workers, kept in (("0 workers", 0, False), ("2 workers kept", 2, True), ("2 workers started anew", 2, False)):
        own = ours.DataLoader(tensors, 256, shuffle=True, num_workers=workers, persistent_workers=kept)
        peer = theirs.DataLoader(their_tensors, 256, shuffle=True, num_workers=workers, persistent_workers=kept)
        found.append((f"20,000 rows, {title}", own, peer))
    return found


def cases_of_images(folder: Path, count: int) -> list[Case]:
    """Epochs over images in a folder, and over a tar of them."""
    import torch
    import torch.utils.data as theirs

    import tenfold
    import tenfold.data as ours
    from tenfold.data.pipes import FromIterable
    from tenfold.data.readers import TarReader

    (folder / "all" / "one").mkdir(parents=True)
    paths = draw_images(folder / "all" / "one", count)
    own = ours.DataLoader(Folder(paths, tenfold.from_numpy), 64, num_workers=2)
    peer = theirs.DataLoader(Folder(paths, torch.from_numpy), 64, num_workers=2)
    tar = folder / "images.tar"
    with tarfile.open(tar, "w") as archive:
        for path in paths:
            archive.add(path, path.name)

    def sample(numbered: tuple[int, tuple[str, bytes]]) -> tuple[Any, int]:
        number, (_, content) = numbered
        return tenfold.from_numpy(augmented(Image.open(io.BytesIO(content)).convert("RGB"), number)), number % 10

    class Stream(theirs.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Any:
            return iter(members(tar, torch.from_numpy, theirs.get_worker_info))

    pipe = FromIterable(Numbered(TarReader(tar))).shard().map(sample)
    own_tar, peer_tar = ours.DataLoader(pipe, 64, num_workers=2), theirs.DataLoader(Stream(), 64, num_workers=2)
    found: list[Case] = [(f"{count:,} JPEG, 2 workers", own, peer), (f"a tar of {count:,} JPEG, 2 workers", own_tar, peer_tar)]
    try:
        import torchvision
    except (ImportError, RuntimeError):
        print("torchvision cannot be imported: its transforms are not compared")
        return found
    import tenfold.vision

    sides = []
    for library, loaders in ((tenfold.vision, ours), (torchvision, theirs)):
        T = library.transforms
        steps = [T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4), T.ToTensor()]
        augment = T.Compose([*steps, T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
        sides.append(loaders.DataLoader(library.datasets.ImageFolder(folder / "all", augment), 64, shuffle=True, num_workers=2))
    return [*found, (f"{count:,} JPEG by vision's transforms, 2 workers", *sides)]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--images", type=int, default=2000)
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--only", default="", help="cases whose titles contain this")
    arguments.add_argument("--json", type=Path, help="where the figures are written; cases that it has already are kept")
    given = arguments.parse_args()

    import torch

    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    print(f"{'an epoch of':45} {'tenfold s':>10} {'torch s':>10} {'ratio':>6} {'cpu':>6}")
    with tempfile.TemporaryDirectory() as name:
        cases = [] if "JPEG" in given.only else cases_of_rows()
        cases += [] if "rows" in given.only else cases_of_images(Path(name), given.images)
        for title, own, peer in cases:
            if given.only in title:
                (mine, ours), (other, theirs) = compared(own, peer, given.repeats)
                row = {"case": title, "tenfold_s": mine, "torch_s": other, "ratio": mine / other, "cpu_ratio": ours / theirs}
                rows.append(row)
                print(f"{title:45} {mine:10.4f} {other:10.4f} {row['ratio']:6.2f} {row['cpu_ratio']:6.2f}", flush=True)
    if given.json:
        former = json.loads(given.json.read_text())["rows"] if given.json.exists() else []
        known = {row["case"]: row for row in former} | {row["case"]: row for row in rows}
        versions = {"python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__, "threads": "1"}
        given.json.write_text(json.dumps({"machine": versions, "rows": list(known.values())}, indent=1) + "\n")


class Numbered:
    """The items of a pipe with their numbers, again at each pass."""

    def __init__(self, source: Iterable[Any]) -> None:
        self.source = source

    def __iter__(self) -> Any:
        return enumerate(self.source)


if __name__ == "__main__":
    main()
