"""How detectors speak of boxes: anchors, codes relative to them, matches with the true ones, and samples of these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.detection.images import ImageList

LARGEST_GROWTH = math.log(1000.0 / 16)  # of a box against its anchor, as a logarithm
BELOW, BETWEEN = -1, -2  # matches of anchors that are background, and of those that count as neither


class AnchorGenerator(nn.Module):
    """Boxes of given sizes and shapes around every pixel of every level.

    ``sizes`` and ``aspect_ratios`` (height over width) have a tuple for each level.

    Source: S. Ren, K. He, R. Girshick, J. Sun, Faster R-CNN, arXiv:1506.01497, section 3.1.1.
    """

    def __init__(
        self,
        sizes: Sequence[Sequence[float]] = ((128, 256, 512),),
        aspect_ratios: Sequence[Sequence[float]] = ((0.5, 1.0, 2.0),),
    ) -> None:
        super().__init__()
        self.sizes, self.aspect_ratios = sizes, aspect_ratios
        self.cell_anchors = [self.generate_anchors(s, r) for s, r in zip(sizes, aspect_ratios, strict=True)]

    def generate_anchors(
        self,
        scales: Sequence[float],
        aspect_ratios: Sequence[float],
        dtype: tenfold.dtype = tenfold.float32,
        device: Any = "cpu",
    ) -> Tensor:
        """The boxes around the origin: (ratios * scales, 4), whole numbers."""
        sides = tenfold.as_tensor(scales, dtype=dtype, device=device)
        high = tenfold.as_tensor(aspect_ratios, dtype=dtype, device=device).sqrt()
        ws, hs = ((1 / high)[:, None] * sides).flatten(), (high[:, None] * sides).flatten()
        return (tenfold.stack([-ws, -hs, ws, hs], dim=1) / 2).round()

    def set_cell_anchors(self, dtype: tenfold.dtype, device: Any) -> None:
        """Bring the boxes around the origin to the maps' dtype and device."""
        self.cell_anchors = [cell.to(dtype=dtype, device=device) for cell in self.cell_anchors]

    def num_anchors_per_location(self) -> list[int]:
        """How many boxes a pixel has, for each level."""
        return [len(s) * len(r) for s, r in zip(self.sizes, self.aspect_ratios, strict=True)]

    def grid_anchors(self, grid_sizes: Sequence[Sequence[int]], strides: Sequence[Sequence[Any]]) -> list[Tensor]:
        """The boxes around every place of each level, of so many (rows, columns) so many pixels apart: (places * boxes, 4).

        Raises:
            ValueError: another number of levels than there are tuples of sizes.
        """
        if not len(grid_sizes) == len(strides) == len(self.cell_anchors):
            raise ValueError(
                f"AnchorGenerator: {len(self.cell_anchors)} tuples of sizes for {len(grid_sizes)} levels; give one for each"
            )
        levels = []
        for (rows, columns), (down, across), cell in zip(grid_sizes, strides, self.cell_anchors, strict=True):
            y = tenfold.arange(rows, dtype=tenfold.int32, device=cell.device) * down
            x = tenfold.arange(columns, dtype=tenfold.int32, device=cell.device) * across
            at_y, at_x = (grid.flatten() for grid in tenfold.meshgrid(y, x, indexing="ij"))
            places = tenfold.stack([at_x, at_y, at_x, at_y], dim=1)
            levels.append((places[:, None] + cell[None]).reshape(-1, 4))
        return levels

    def forward(self, image_list: ImageList, feature_maps: Sequence[Tensor]) -> list[Tensor]:
        height, width = image_list.tensors.shape[-2:]
        grids = [tuple(maps.shape[-2:]) for maps in feature_maps]
        self.set_cell_anchors(feature_maps[0].dtype, feature_maps[0].device)
        levels = self.grid_anchors(grids, [(height // rows, width // columns) for rows, columns in grids])
        return [tenfold.cat(levels) for _ in image_list.image_sizes]


class BoxCoder:
    """Boxes relative to others: shifts of the centre in their size, and logarithms of growth, times ``weights``.

    Source: R. Girshick and others, R-CNN, arXiv:1311.2524, appendix C.
    """

    def __init__(self, weights: Sequence[float], bbox_xform_clip: float = LARGEST_GROWTH) -> None:
        self.weights = tuple(weights)
        self.bbox_xform_clip = bbox_xform_clip

    def encode(self, reference_boxes: Sequence[Tensor], proposals: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """`encode_single` of several pictures' boxes."""
        counts = [len(boxes) for boxes in reference_boxes]
        codes = self.encode_single(tenfold.cat(list(reference_boxes)), tenfold.cat(list(proposals)))
        return tuple(codes.split(counts, 0))

    def encode_single(self, reference_boxes: Tensor, proposals: Tensor) -> Tensor:
        """The codes of boxes relative to proposals: (K, 4), (K, 4) -> (K, 4)."""
        (x, y, w, h), (px, py, pw, ph) = _centres(reference_boxes), _centres(proposals)
        codes = tenfold.stack([(x - px) / pw, (y - py) / ph, (w / pw).log(), (h / ph).log()], dim=1)
        return codes * codes.new_tensor(self.weights)

    def decode(self, rel_codes: Tensor, boxes: Sequence[Tensor]) -> Tensor:
        """The boxes of codes, (K, classes, 4), relative to those of several pictures."""
        together = tenfold.cat(list(boxes))
        return self.decode_single(rel_codes.reshape(len(together), -1), together).reshape(len(together), -1, 4)

    def decode_single(self, rel_codes: Tensor, boxes: Tensor) -> Tensor:
        """The boxes of codes relative to others: (K, 4 n), (K, 4) -> (K, 4 n)."""
        x, y, w, h = (part[:, None] for part in _centres(boxes.to(rel_codes.dtype)))
        dx, dy, dw, dh = (rel_codes[:, i::4] / weight for i, weight in enumerate(self.weights))
        wide, high = (dw.clamp(max=self.bbox_xform_clip).exp() * w, dh.clamp(max=self.bbox_xform_clip).exp() * h)
        at_x, at_y = dx * w + x, dy * h + y
        corners = [at_x - 0.5 * wide, at_y - 0.5 * high, at_x + 0.5 * wide, at_y + 0.5 * high]
        return tenfold.stack(corners, dim=2).flatten(1)


class BoxLinearCoder:
    """Boxes as the distances of their edges from the middles of others, in the sides of these with ``normalize_by_size``."""

    def __init__(self, normalize_by_size: bool = True) -> None:
        self.normalize_by_size = normalize_by_size

    def encode(self, reference_boxes: Tensor, proposals: Tensor) -> Tensor:
        """How far left, up, right and down the edges are: (..., 4), (..., 4) -> (..., 4)."""
        middle, sides = self._places(proposals)
        edges = tenfold.cat([middle - reference_boxes[..., :2], reference_boxes[..., 2:] - middle], -1)
        return edges / sides

    def decode(self, rel_codes: Tensor, boxes: Tensor) -> Tensor:
        """The boxes whose edges are so far away: (..., 4), (..., 4) -> (..., 4)."""
        middle, sides = self._places(boxes.to(rel_codes.dtype))
        edges = rel_codes * sides
        return tenfold.cat([middle - edges[..., :2], middle + edges[..., 2:]], -1)

    def _places(self, boxes: Tensor) -> tuple[Tensor, Any]:
        low, high = boxes[..., :2], boxes[..., 2:]
        return 0.5 * (low + high), tenfold.cat([high - low] * 2, -1) if self.normalize_by_size else 1


def _centres(boxes: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    w, h = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    return boxes[:, 0] + 0.5 * w, boxes[:, 1] + 0.5 * h, w, h


class Matcher:
    """Each predicted box's true one, by their overlap: from ``high_threshold`` on it is matched, below ``low_threshold``
    background (-1), between them neither (-2). With ``allow_low_quality_matches`` every true box also gets those that overlap
    it most.
    """

    def __init__(self, high_threshold: float, low_threshold: float, allow_low_quality_matches: bool = False) -> None:
        self.high_threshold, self.low_threshold = high_threshold, low_threshold
        self.allow_low_quality_matches = allow_low_quality_matches

    def __call__(self, match_quality_matrix: Tensor) -> Tensor:
        """(true, predicted) -> (predicted), int64.

        Raises:
            ValueError: there are no true, or no predicted boxes.
        """
        if match_quality_matrix.numel() == 0:
            missing = "ground-truth" if match_quality_matrix.shape[0] == 0 else "proposal"
            raise ValueError(f"No {missing} boxes available for one of the images during training")
        quality, best = match_quality_matrix.max(dim=0)
        between = tenfold.where(quality < self.high_threshold, BETWEEN, best)
        matches = tenfold.where(quality < self.low_threshold, BELOW, between)
        if self.allow_low_quality_matches:
            highest = match_quality_matrix.max(dim=1).values
            kept = (match_quality_matrix == highest[:, None]).any(dim=0)
            matches = tenfold.where(kept, best, matches)
        return matches


class BalancedPositiveNegativeSampler:
    """At most ``batch_size_per_image`` of each picture's boxes, at most ``positive_fraction`` of them matched ones, at random."""

    def __init__(self, batch_size_per_image: int, positive_fraction: float) -> None:
        self.batch_size_per_image, self.positive_fraction = batch_size_per_image, positive_fraction

    def __call__(self, matched_idxs: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """From labels (1 and more: matched, 0: background) two masks for each picture."""
        positives: list[Tensor] = []
        negatives: list[Tensor] = []
        for labels in matched_idxs:
            matched, background = tenfold.where(labels >= 1)[0], tenfold.where(labels == 0)[0]
            wanted = min(len(matched), int(self.batch_size_per_image * self.positive_fraction))
            rest = min(len(background), self.batch_size_per_image - wanted)
            for found, count, masks in ((matched, wanted, positives), (background, rest, negatives)):
                chosen = found[tenfold.randperm(len(found), device=found.device)[:count]]
                mask = tenfold.zeros_like(labels, dtype=tenfold.bool)
                mask[chosen] = True
                masks.append(mask)
        return positives, negatives
