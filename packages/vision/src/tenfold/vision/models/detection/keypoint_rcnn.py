"""Keypoint R-CNN: the points of each body as maps of where each most likely is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import cross_entropy, interpolate
from tenfold.vision.models.detection.images import Target
from tenfold.vision.models.detection.rcnn import FasterRCNN
from tenfold.vision.models.detection.roi_heads import Features, RoIHeads
from tenfold.vision.ops.pyramid import MultiScaleRoIAlign

HEAD_WIDTHS = (512,) * 8
MIN_SIZES = (640, 672, 704, 736, 768, 800)


def _initialise(network: nn.Module) -> None:
    for name, parameter in network.named_parameters():
        if "weight" in name:
            nn.init.kaiming_normal_(parameter, mode="fan_out", nonlinearity="relu")
        else:
            nn.init.zeros_(parameter)


class KeypointRCNNHeads(nn.Sequential):
    """3x3 convolutions on a pooled box."""

    def __init__(self, in_channels: int, layers: Sequence[int]) -> None:
        parts: list[nn.Module] = []
        for a, b in zip((in_channels, *layers), layers, strict=False):
            parts += [nn.Conv2d(a, b, 3, stride=1, padding=1), nn.ReLU(inplace=True)]
        super().__init__(*parts)
        _initialise(self)


class KeypointRCNNPredictor(nn.Module):
    """A map of logits for each point, of four times the size."""

    def __init__(self, in_channels: int, num_keypoints: int) -> None:
        super().__init__()
        self.kps_score_lowres = nn.ConvTranspose2d(in_channels, num_keypoints, 4, stride=2, padding=1)
        _initialise(self)
        self.up_scale = 2
        self.out_channels = num_keypoints

    def forward(self, x: Tensor) -> Tensor:
        small = self.kps_score_lowres(x)
        return interpolate(small, scale_factor=float(self.up_scale), mode="bilinear", align_corners=False)


class KeypointRoIHeads(RoIHeads):
    """`RoIHeads` that also finds the points of what is in a box."""

    def __init__(self, *settings: Any, keypoint_roi_pool: Any, keypoint_head: nn.Module, keypoint_predictor: nn.Module) -> None:
        super().__init__(*settings)
        self.keypoint_roi_pool, self.keypoint_head = keypoint_roi_pool, keypoint_head
        self.keypoint_predictor = keypoint_predictor

    def has_keypoint(self) -> bool:
        """Whether points are found."""
        return True

    def _maps(self, features: Features, boxes: Any, shapes: Any) -> Any:
        return self.keypoint_predictor(self.keypoint_head(self.keypoint_roi_pool(features, boxes, shapes)))

    def _further_losses(
        self, features: Features, proposals: Any, shapes: Any, labels: Any, matches: Any, targets: Sequence[Target]
    ) -> dict[str, Tensor]:
        kept = [tenfold.where(label > 0)[0] for label in labels]
        boxes = [p[k] for p, k in zip(proposals, kept, strict=True)]
        logits: Tensor = self._maps(features, boxes, shapes)  # (K, points, M, M)
        side = logits.shape[-1]
        parts = zip(targets, matches, kept, boxes, strict=True)
        found = [map_places(target["keypoints"][match[k]].to(around.dtype), around, side) for target, match, k, around in parts]
        places, seen = (tenfold.cat(part).flatten() for part in zip(*found, strict=True))
        valid = tenfold.where(seen)[0]
        if logits.numel() == 0 or len(valid) == 0:
            return {"loss_keypoint": logits.sum() * 0}
        return {"loss_keypoint": cross_entropy(logits.flatten(0, 1).flatten(1)[valid], places[valid])}

    def _add_further(self, found: list[Target], features: Features, shapes: Any) -> None:
        boxes = [detection["boxes"] for detection in found]
        maps = self._maps(features, boxes, shapes)
        for detection, own in zip(found, maps.split([len(b) for b in boxes], 0), strict=True):
            points, scores = points_of_maps(own, detection["boxes"])
            detection["keypoints"], detection["keypoints_scores"] = points, scores


def map_places(keypoints: Tensor, boxes: Tensor, side: int) -> tuple[Tensor, Tensor]:
    """Where on its box's map of ``side`` squared each point is, and whether it is there: (K, P, 3), (K, 4) -> (K, P) each."""
    low, high = boxes[:, None, :2], boxes[:, None, 2:]
    places = keypoints[..., :2]
    cells = ((places - low) * (side / (high - low))).floor().to(tenfold.int64)
    cells = tenfold.where(places == high, side - 1, cells)
    inside = ((cells >= 0) & (cells < side)).all(-1) & (keypoints[..., 2] > 0)
    return (cells[..., 1] * side + cells[..., 0]) * inside, inside


def points_of_maps(maps: Tensor, boxes: Tensor) -> tuple[Tensor, Tensor]:
    """The likeliest place of each point, from maps resized to whole pixels of their boxes.

    Shape: (K, P, M, M), (K, 4) -> (K, P, 3), each (x, y, 1), and their logits (K, P).
    """
    points = maps.new_zeros((len(maps), maps.shape[1], 3))
    scores = maps.new_zeros((len(maps), maps.shape[1]))
    sides = (boxes[:, 2:] - boxes[:, :2]).clamp(min=1)
    whole = sides.ceil()
    for i, (map_, (width, height)) in enumerate(zip(maps, whole.to(tenfold.int64).tolist(), strict=True)):
        large = interpolate(map_[None], size=(height, width), mode="bicubic", align_corners=False)[0]
        best, place = large.flatten(1).max(dim=1)
        cells = tenfold.stack([place % width, place // width], 1).to(boxes.dtype)
        points[i, :, :2] = (cells + 0.5) * (sides[i] / whole[i]) + boxes[i, :2]
        points[i, :, 2] = 1
        scores[i] = best
    return points, scores


class KeypointRCNN(FasterRCNN):
    """`FasterRCNN` that also finds the points of a body: "keypoints" (K, P, 3), each (x, y, 1), and "keypoints_scores" (K, P).

    While training the targets have "keypoints" (N, P, 3), each (x, y, whether it is seen).

    Raises:
        ValueError: both or neither of ``num_classes`` and ``box_predictor``, or several of ``num_keypoints`` and
            ``keypoint_predictor``, are given.

    Source: K. He, G. Gkioxari, P. Dollár, R. Girshick, Mask R-CNN, arXiv:1703.06870, section 5.
    """

    def __init__(
        self,
        backbone: nn.Module,
        num_classes: int | None = None,
        min_size: int | Sequence[int] | None = None,
        keypoint_roi_pool: nn.Module | None = None,
        keypoint_head: nn.Module | None = None,
        keypoint_predictor: nn.Module | None = None,
        num_keypoints: int | None = None,
        **kwargs: Any,
    ) -> None:
        if keypoint_predictor is not None and num_keypoints is not None:
            raise ValueError("num_keypoints should be None when keypoint_predictor is specified")
        width: Any = getattr(backbone, "out_channels", 0)
        points = 17 if num_keypoints is None else num_keypoints
        self._point_parts: dict[str, Any] = {  # in a dictionary, since modules are registered once the base is initialised
            "keypoint_roi_pool": keypoint_roi_pool or MultiScaleRoIAlign(["0", "1", "2", "3"], 14, 2),
            "keypoint_head": keypoint_head or KeypointRCNNHeads(width, HEAD_WIDTHS),
            "keypoint_predictor": keypoint_predictor or KeypointRCNNPredictor(512, points),
        }
        super().__init__(backbone, num_classes, MIN_SIZES if min_size is None else min_size, **kwargs)
        del self._point_parts

    def _heads(self, *settings: Any) -> RoIHeads:
        return KeypointRoIHeads(*settings, **self._point_parts)
