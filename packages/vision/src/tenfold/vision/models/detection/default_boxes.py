"""The boxes that single-shot detectors start from: of a few sizes and shapes around every pixel of every level."""

from __future__ import annotations

import math
from collections.abc import Sequence

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.detection.images import ImageList


class DefaultBoxGenerator(nn.Module):
    """Boxes whose sides are parts of the picture's: ``aspect_ratios`` has a list for each level.

    Level k has squares of side ``scales[k]`` and of the geometric mean of this and the next one, and for each ratio r a box
    of sides s sqrt(r) and s / sqrt(r), and the same lying. Without ``scales`` they are spread evenly from ``min_ratio`` to
    ``max_ratio``; ``steps`` are the pixels between the centres where the levels' sizes do not tell. ``clip`` keeps sides at
    most the picture's.

    >>> DefaultBoxGenerator([[2], [2, 3]]).num_anchors_per_location()
    [4, 6]

    Raises:
        ValueError: as many steps as levels are needed.

    Source: W. Liu and others, SSD: Single Shot MultiBox Detector, arXiv:1512.02325, section 2.2.
    """

    def __init__(
        self,
        aspect_ratios: Sequence[Sequence[float]],
        min_ratio: float = 0.15,
        max_ratio: float = 0.9,
        scales: Sequence[float] | None = None,
        steps: Sequence[int] | None = None,
        clip: bool = True,
    ) -> None:
        super().__init__()
        levels = len(aspect_ratios)
        if steps is not None and len(steps) != levels:
            raise ValueError(f"DefaultBoxGenerator: {len(steps)} steps for {levels} levels of aspect_ratios; give one for each")
        if scales is None:
            grown = [min_ratio + (max_ratio - min_ratio) * k / (levels - 1) for k in range(levels)] if levels > 1 else [min_ratio]
            scales = [*grown, 1.0 if levels > 1 else max_ratio]
        self.aspect_ratios, self.scales, self.steps, self.clip = aspect_ratios, list(scales), steps, clip
        self._sides = [self._level_sides(k) for k in range(levels)]

    def _level_sides(self, k: int) -> Tensor:
        side = self.scales[k]
        between = math.sqrt(side * self.scales[k + 1])
        pairs = [(side, side), (between, between)]
        for ratio in self.aspect_ratios[k]:
            wide, flat = side * math.sqrt(ratio), side / math.sqrt(ratio)
            pairs += [(wide, flat), (flat, wide)]
        return tenfold.tensor(pairs, dtype=tenfold.float32)

    def num_anchors_per_location(self) -> list[int]:
        """How many boxes a pixel has, for each level."""
        return [len(sides) for sides in self._sides]

    def forward(self, image_list: ImageList, feature_maps: Sequence[Tensor]) -> list[Tensor]:
        height, width = image_list.tensors.shape[-2:]
        like = feature_maps[0]
        levels = []
        for k, (maps, sides) in enumerate(zip(feature_maps, self._sides, strict=True)):
            rows, columns = maps.shape[-2:]
            down, across = (rows, columns) if self.steps is None else (height / self.steps[k], width / self.steps[k])
            y = (tenfold.arange(rows, dtype=tenfold.float32) + 0.5) / down
            x = (tenfold.arange(columns, dtype=tenfold.float32) + 0.5) / across
            at_y, at_x = (grid.flatten() for grid in tenfold.meshgrid(y, x, indexing="ij"))
            centres = tenfold.stack([at_x, at_y], dim=1)[:, None].expand(-1, len(sides), 2).to(like.dtype)
            half = ((sides.clamp(0, 1) if self.clip else sides) * 0.5)[None].expand(len(centres), -1, 2)
            levels.append(tenfold.cat([centres - half, centres + half], 2).reshape(-1, 4))
        boxes = tenfold.cat(levels).to(like.device)
        boxes = boxes * boxes.new_tensor([width, height, width, height])
        return [boxes for _ in image_list.image_sizes]
