"""Lite R-ASPP, key for key with torchvision's checkpoint."""

from __future__ import annotations

from collections import OrderedDict

from tenfold import Tensor, nn
from tenfold.nn.functional import interpolate
from tenfold.vision.models.catalog.mobile import MobileNet_V3_Large_Weights
from tenfold.vision.models.catalog.segmentation import LRASPP_MobileNet_V3_Large_Weights
from tenfold.vision.models.feature_extraction import IntermediateLayerGetter
from tenfold.vision.models.registry import model
from tenfold.vision.models.segmentation.network import checked, loaded, mobilenet_body


class LRASPPHead(nn.Module):
    """Coarse maps weighed by the picture's mean and enlarged, and fine ones beside them."""

    def __init__(self, low_channels: int, high_channels: int, num_classes: int, inter_channels: int) -> None:
        super().__init__()
        self.cbr = nn.Sequential(
            nn.Conv2d(high_channels, inter_channels, 1, bias=False), nn.BatchNorm2d(inter_channels), nn.ReLU(inplace=True)
        )
        self.scale = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(high_channels, inter_channels, 1, bias=False), nn.Sigmoid())
        self.low_classifier = nn.Conv2d(low_channels, num_classes, 1)
        self.high_classifier = nn.Conv2d(inter_channels, num_classes, 1)

    def forward(self, input: dict[str, Tensor]) -> Tensor:
        low, high = input["low"], input["high"]
        weighed = self.cbr(high) * self.scale(high)
        enlarged = interpolate(weighed, size=tuple(low.shape[-2:]), mode="bilinear", align_corners=False)
        result: Tensor = self.low_classifier(low) + self.high_classifier(enlarged)
        return result


class LRASPP(nn.Module):
    """Logits for every pixel, {"out": (N, num_classes, H, W)}, of two resolutions of a small network.

    Source: A. Howard and others, Searching for MobileNetV3, arXiv:1905.02244, section 6.4.
    """

    def __init__(
        self, backbone: nn.Module, low_channels: int, high_channels: int, num_classes: int, inter_channels: int = 128
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.classifier = LRASPPHead(low_channels, high_channels, num_classes, inter_channels)

    def forward(self, input: Tensor) -> dict[str, Tensor]:
        logits = self.classifier(self.backbone(input))
        return OrderedDict(out=interpolate(logits, size=tuple(input.shape[-2:]), mode="bilinear", align_corners=False))


@model(LRASPP_MobileNet_V3_Large_Weights, MobileNet_V3_Large_Weights.IMAGENET1K_V1)
def lraspp_mobilenet_v3_large(
    *,
    weights: LRASPP_MobileNet_V3_Large_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    weights_backbone: MobileNet_V3_Large_Weights | str | None = MobileNet_V3_Large_Weights.IMAGENET1K_V1,
) -> LRASPP:
    """Lite R-ASPP on MobileNet v3 large, 3,221,538 parameters; ``weights_backbone=None`` starts from nothing."""
    backbone = MobileNet_V3_Large_Weights.verify(weights_backbone)
    chosen, first, count, _ = checked(LRASPP_MobileNet_V3_Large_Weights, weights, backbone, num_classes, None)
    features, stages = mobilenet_body(first, progress)
    (low, low_width), (high, high_width) = stages[-4], stages[-1]
    body = IntermediateLayerGetter(features, {str(low): "low", str(high): "high"})
    made: LRASPP = loaded(LRASPP(body, low_width, high_width, count), chosen, progress)
    return made
