"""Transforms of pictures beside torchvision's on PyTorch, in one run and one thread.

    python benchmarks/transforms.py [--seconds S] [--only WORD] [--json results.json]

Both sides see the same pixels under the same seed: a picture of 400x300 as a PIL image or as bytes (3, 300, 400). A figure is the
median of alternating rounds; the ratio is that of the medians.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
import torchvision.transforms as theirs
from PIL import Image
from torchvision.transforms import v2 as their_v2

import tenfold
from tenfold.vision import transforms as ours
from tenfold.vision.transforms import v2 as our_v2

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
Side = tuple[Any, Any, Any]  # a tensor library, its transforms and their second version


def picture() -> Image.Image:
    small = np.random.default_rng(0).integers(0, 256, (30, 40, 3), np.uint8)
    return Image.fromarray(small).resize((400, 300), Image.Resampling.BICUBIC)


def tensor_first(library: Any, v1: Any, v2: Any) -> Any:
    return v2.Compose(
        [
            v2.ToImage(),
            v2.RandomResizedCrop(224, antialias=True),
            v2.RandomHorizontalFlip(),
            v2.ToDtype(library.float32, scale=True),
            v2.Normalize(MEAN, DEVIATION),
        ]
    )


def classic(library: Any, v1: Any, v2: Any) -> Any:
    return v1.Compose([v1.RandomResizedCrop(224), v1.RandomHorizontalFlip(), v1.ToTensor(), v1.Normalize(MEAN, DEVIATION)])


def evaluation(library: Any, v1: Any, v2: Any) -> Any:
    return v2.Compose(
        [v2.Resize(256), v2.CenterCrop(224), v2.ToDtype(library.float32, scale=True), v2.Normalize(MEAN, DEVIATION)]
    )


# a title: what it starts from ("pil", "bytes" or "floats") and how either side builds it
CASES: dict[str, tuple[str, Callable[[Any, Any, Any], Any]]] = {
    "PIL, v2, tensor first": ("pil", tensor_first),
    "PIL, v1, crop first": ("pil", classic),
    "bytes, v2, evaluation": ("bytes", evaluation),
    "PIL, PILToTensor": ("pil", lambda library, v1, v2: v1.PILToTensor()),
    "PIL, ToTensor": ("pil", lambda library, v1, v2: v1.ToTensor()),
    "PIL, RandAugment": ("pil", lambda library, v1, v2: v1.RandAugment()),
    "PIL, ColorJitter": ("pil", lambda library, v1, v2: v1.ColorJitter(0.4, 0.4, 0.4, 0.1)),
    "bytes, Resize(100)": ("bytes", lambda library, v1, v2: v2.Resize(100)),
    "bytes, Resize(256)": ("bytes", lambda library, v1, v2: v2.Resize(256)),
    "bytes, Resize(512)": ("bytes", lambda library, v1, v2: v2.Resize(512)),
    "bytes, Resize(224), bicubic": ("bytes", lambda library, v1, v2: v2.Resize(224, interpolation=3)),
    "bytes, Resize(224), no antialias": ("bytes", lambda library, v1, v2: v2.Resize(224, antialias=False)),
    "bytes, Resize(224), nearest": ("bytes", lambda library, v1, v2: v2.Resize(224, interpolation=0)),
    "bytes, RandomResizedCrop(224)": ("bytes", lambda library, v1, v2: v2.RandomResizedCrop(224)),
    "bytes, RandomCrop(224)": ("bytes", lambda library, v1, v2: v2.RandomCrop(224)),
    "bytes, RandomCrop(300, 8)": ("bytes", lambda library, v1, v2: v2.RandomCrop(300, padding=8)),
    "bytes, v1, RandomCrop(224)": ("bytes", lambda library, v1, v2: v1.RandomCrop(224)),
    "bytes, flip": ("bytes", lambda library, v1, v2: v2.RandomHorizontalFlip(1.0)),
    "bytes, ToDtype": ("bytes", lambda library, v1, v2: v2.ToDtype(library.float32, scale=True)),
    "bytes, RandAugment": ("bytes", lambda library, v1, v2: v2.RandAugment()),
    "bytes, TrivialAugmentWide": ("bytes", lambda library, v1, v2: v2.TrivialAugmentWide()),
    "bytes, ColorJitter": ("bytes", lambda library, v1, v2: v2.ColorJitter(0.4, 0.4, 0.4, 0.1)),
    "bytes, RandomRotation": ("bytes", lambda library, v1, v2: v2.RandomRotation(10)),
    "bytes, GaussianBlur(5)": ("bytes", lambda library, v1, v2: v2.GaussianBlur(5)),
    "bytes, RandomPerspective": ("bytes", lambda library, v1, v2: v2.RandomPerspective(p=1.0)),
    "bytes, RandomEqualize": ("bytes", lambda library, v1, v2: v2.RandomEqualize(1.0)),
    "floats, Resize(224)": ("floats", lambda library, v1, v2: v2.Resize(224)),
    "floats, Normalize": ("floats", lambda library, v1, v2: v2.Normalize(MEAN, DEVIATION)),
    "floats, RandomErasing": ("floats", lambda library, v1, v2: v2.RandomErasing(1.0)),
}


def started(kind: str, library: Any) -> Any:
    if kind == "pil":
        return picture()
    pixels = library.from_numpy(np.ascontiguousarray(np.asarray(picture()).transpose(2, 0, 1)))
    return pixels if kind == "bytes" else pixels.to(library.float32) / 255


def seconds(transform: Any, given: Any, library: Any, count: int) -> float:
    library.manual_seed(0)
    start = time.perf_counter()
    for _ in range(count):
        transform(given)
    return (time.perf_counter() - start) / count


def compared(title: str, limit_s: float) -> tuple[float, float]:
    """Median seconds of a call of both sides, in as many rounds as the time allows."""
    kind, build = CASES[title]
    sides: list[Side] = [(tenfold, ours, our_v2), (torch, theirs, their_v2)]
    runs = [(build(*side), started(kind, side[0]), side[0]) for side in sides]
    once = max(seconds(*run, 2) for run in runs)
    count = max(1, min(50, int(limit_s / once / 18)))
    end, rounds = time.perf_counter() + limit_s, []
    while len(rounds) < 3 or time.perf_counter() < end:
        rounds.append([seconds(*run, count) for run in runs])
    own, peer = (statistics.median(side) for side in zip(*rounds, strict=True))
    return own, peer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each row")
    parser.add_argument("--only", default="", help="rows whose title has this word")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    print(f"{'a call of':36} {'tenfold us':>11} {'torch us':>10} {'ratio':>6}")
    for title in CASES:
        if options.only in title:
            own, peer = compared(title, options.seconds)
            rows.append({"case": title, "tenfold_us": own * 1e6, "torchvision_us": peer * 1e6, "ratio": own / peer})
            print(f"{title:36} {own * 1e6:11.0f} {peer * 1e6:10.0f} {own / peer:6.2f}", flush=True)
    if options.json:
        machine = {"python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__, "threads": 1}
        with open(options.json, "w") as file:
            json.dump({"machine": machine, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
