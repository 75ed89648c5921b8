"""Real handwritten digits without a download: the 8x8 images inside scikit-learn's wheel."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tenfold
from tenfold.vision.datasets.vision import Transform, VisionDataset

TEST_SHARE = 0.2
DARKEST = 16  # the source counts ink in 4x4 cells, from 0 to 16


class Digits(VisionDataset):
    """Handwritten digits, 8x8: 1,797 images of 43 writers, about a fifth of every class kept for testing.

    ``data`` is (N, 8, 8) uint8, stretched from the source's 0..16 to 0..255; ``targets`` is (N,) int64; a sample is a
    PIL image of mode "L" and an int. The split depends on ``split_seed`` alone. ``root`` is not used.

    Raises:
        ImportError: scikit-learn is not installed.

    Source: E. Alpaydin, C. Kaynak, Optical Recognition of Handwritten Digits, UCI repository, 1998 (its test part).
    """

    classes: list[str] = [str(digit) for digit in range(10)]  # noqa: RUF012

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        train: bool = True,
        split_seed: int = 0,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        images, labels = _load()
        tested = _held_out(labels, split_seed)
        chosen = np.flatnonzero(~tested if train else tested)
        self.data = tenfold.from_numpy(images[chosen])  # (N, 8, 8), uint8
        self.targets = tenfold.from_numpy(labels[chosen])  # (N,)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        from PIL import Image

        return self._transformed(Image.fromarray(self.data[index].numpy()), int(self.targets[index]))

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        return f"Split: {'Train' if self.train else 'Test'}"


def _load() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ImportError("Digits reads the images inside scikit-learn's wheel: pip install scikit-learn") from error
    bunch = load_digits()
    images = np.rint(bunch.images * (255 / DARKEST)).astype(np.uint8)
    return images, bunch.target.astype(np.int64)


def _held_out(labels: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
    """A mask of the test images: the same share of every class, chosen by the seed."""
    generator = np.random.default_rng(seed)
    tested = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        members = generator.permutation(np.flatnonzero(labels == label))
        tested[members[: round(len(members) * TEST_SHARE)]] = True
    return tested
