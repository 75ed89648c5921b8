"""Keypoint R-CNN: the points of each body as maps of where each most likely is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold import Tensor, nn
from tenfold.nn.functional import interpolate
from tenfold.vision.models.detection.rcnn import FasterRCNN, require_width
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
        *settings: Any,
        keypoint_roi_pool: nn.Module | None = None,
        keypoint_head: nn.Module | None = None,
        keypoint_predictor: nn.Module | None = None,
        num_keypoints: int | None = None,
        **kwargs: Any,
    ) -> None:
        if keypoint_predictor is not None and num_keypoints is not None:
            raise ValueError("num_keypoints should be None when keypoint_predictor is specified")
        width = require_width(backbone)
        pool = keypoint_roi_pool or MultiScaleRoIAlign(["0", "1", "2", "3"], 14, 2)
        head = keypoint_head or KeypointRCNNHeads(width, HEAD_WIDTHS)
        predictor = keypoint_predictor or KeypointRCNNPredictor(512, 17 if num_keypoints is None else num_keypoints)
        super().__init__(backbone, num_classes, MIN_SIZES if min_size is None else min_size, *settings, **kwargs)
        heads = self.roi_heads
        heads.keypoint_roi_pool, heads.keypoint_head, heads.keypoint_predictor = pool, head, predictor
