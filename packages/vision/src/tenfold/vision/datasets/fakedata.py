"""Noise in the form of an image dataset, to try a pipeline without any files."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold.vision.datasets.vision import Transform, VisionDataset
from tenfold.vision.transforms.conversion import to_pil_image


class FakeData(VisionDataset):
    """``size`` images of standard normal noise with random labels, the same at every visit of an index.

    Raises:
        IndexError: the index is not below ``size``.
    """

    def __init__(
        self,
        size: int = 1000,
        image_size: tuple[int, int, int] = (3, 224, 224),
        num_classes: int = 10,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        random_offset: int = 0,
    ) -> None:
        super().__init__(transform=transform, target_transform=target_transform)
        self.size = size
        self.image_size = image_size
        self.num_classes = num_classes
        self.random_offset = random_offset

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if index >= len(self):
            raise IndexError(f"FakeData: index {index} is out of range for {len(self)} images")
        state = tenfold.get_rng_state()
        tenfold.manual_seed(index + self.random_offset)
        image = tenfold.randn(*self.image_size)
        target = int(tenfold.randint(0, self.num_classes, size=(1,), dtype=tenfold.long)[0])
        tenfold.set_rng_state(state)
        return self._transformed(to_pil_image(image), target)

    def __len__(self) -> int:
        return self.size
