"""DeepLab v3, key for key with torchvision's checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import interpolate
from tenfold.vision.models.catalog.convolutional import ResNet50_Weights, ResNet101_Weights
from tenfold.vision.models.catalog.mobile import MobileNet_V3_Large_Weights
from tenfold.vision.models.catalog.segmentation import (
    DeepLabV3_MobileNet_V3_Large_Weights,
    DeepLabV3_ResNet50_Weights,
    DeepLabV3_ResNet101_Weights,
)
from tenfold.vision.models.feature_extraction import IntermediateLayerGetter
from tenfold.vision.models.registry import model
from tenfold.vision.models.segmentation.network import (
    FCNHead,
    SimpleSegmentation,
    checked,
    loaded,
    mobilenet_body,
    resnet_body,
)


class DeepLabV3(SimpleSegmentation):
    """Logits for every pixel from dilated convolutions of several rates.

    Source: L.-C. Chen and others, Rethinking Atrous Convolution for Semantic Image Segmentation, arXiv:1706.05587.
    """


class ASPPConv(nn.Sequential):
    """A dilated 3x3 convolution."""

    def __init__(self, in_channels: int, out_channels: int, dilation: int) -> None:
        convolution = nn.Conv2d(in_channels, out_channels, 3, padding=dilation, dilation=dilation, bias=False)
        super().__init__(convolution, nn.BatchNorm2d(out_channels), nn.ReLU())


class ASPPPooling(nn.Sequential):
    """The mean of the whole picture, at every pixel."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        convolution = nn.Conv2d(in_channels, out_channels, 1, bias=False)
        super().__init__(nn.AdaptiveAvgPool2d(1), convolution, nn.BatchNorm2d(out_channels), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        return interpolate(super().forward(x), size=tuple(x.shape[-2:]), mode="bilinear", align_corners=False)


class ASPP(nn.Module):
    """1x1, dilated 3x3 at several rates, and the picture's mean, beside each other."""

    def __init__(self, in_channels: int, atrous_rates: Sequence[int], out_channels: int = 256) -> None:
        super().__init__()
        plain = nn.Sequential(nn.Conv2d(in_channels, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU())
        dilated = [ASPPConv(in_channels, out_channels, rate) for rate in atrous_rates]
        self.convs = nn.ModuleList([plain, *dilated, ASPPPooling(in_channels, out_channels)])
        wide = len(self.convs) * out_channels
        self.project = nn.Sequential(
            nn.Conv2d(wide, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU(), nn.Dropout(0.5)
        )

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.project(tenfold.cat([branch(x) for branch in self.convs], dim=1))
        return result


class DeepLabHead(nn.Sequential):
    """`ASPP`, 3x3, and 1x1 to the classes."""

    def __init__(self, in_channels: int, num_classes: int, atrous_rates: Sequence[int] = (12, 24, 36)) -> None:
        convolution = nn.Conv2d(256, 256, 3, padding=1, bias=False)
        last = nn.Conv2d(256, num_classes, 1)
        super().__init__(ASPP(in_channels, atrous_rates), convolution, nn.BatchNorm2d(256), nn.ReLU(), last)


def _on_resnet(
    name: str, catalog: Any, weights: Any, backbone: Any, progress: bool, classes: int | None, aux: bool | None
) -> DeepLabV3:
    chosen, first, count, with_aux = checked(catalog, weights, backbone, classes, aux)
    body = resnet_body(name, first, progress, with_aux)
    network = DeepLabV3(body, DeepLabHead(2048, count), FCNHead(1024, count) if with_aux else None)
    made: DeepLabV3 = loaded(network, chosen, progress)
    return made


@model(DeepLabV3_ResNet50_Weights, ResNet50_Weights.IMAGENET1K_V1)
def deeplabv3_resnet50(
    *,
    weights: DeepLabV3_ResNet50_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    aux_loss: bool | None = None,
    weights_backbone: ResNet50_Weights | str | None = ResNet50_Weights.IMAGENET1K_V1,
) -> DeepLabV3:
    """DeepLab v3 on ResNet-50; ``weights_backbone=None`` starts from nothing."""
    backbone = ResNet50_Weights.verify(weights_backbone)
    return _on_resnet("resnet50", DeepLabV3_ResNet50_Weights, weights, backbone, progress, num_classes, aux_loss)


@model(DeepLabV3_ResNet101_Weights, ResNet101_Weights.IMAGENET1K_V1)
def deeplabv3_resnet101(
    *,
    weights: DeepLabV3_ResNet101_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    aux_loss: bool | None = None,
    weights_backbone: ResNet101_Weights | str | None = ResNet101_Weights.IMAGENET1K_V1,
) -> DeepLabV3:
    """DeepLab v3 on ResNet-101; ``weights_backbone=None`` starts from nothing."""
    backbone = ResNet101_Weights.verify(weights_backbone)
    return _on_resnet("resnet101", DeepLabV3_ResNet101_Weights, weights, backbone, progress, num_classes, aux_loss)


@model(DeepLabV3_MobileNet_V3_Large_Weights, MobileNet_V3_Large_Weights.IMAGENET1K_V1)
def deeplabv3_mobilenet_v3_large(
    *,
    weights: DeepLabV3_MobileNet_V3_Large_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    aux_loss: bool | None = None,
    weights_backbone: MobileNet_V3_Large_Weights | str | None = MobileNet_V3_Large_Weights.IMAGENET1K_V1,
) -> DeepLabV3:
    """DeepLab v3 on MobileNet v3 large; ``weights_backbone=None`` starts from nothing."""
    backbone = MobileNet_V3_Large_Weights.verify(weights_backbone)
    chosen, first, count, with_aux = checked(DeepLabV3_MobileNet_V3_Large_Weights, weights, backbone, num_classes, aux_loss)
    features, stages = mobilenet_body(first, progress)
    (aux_place, aux_width), (place, width) = stages[-4], stages[-1]
    layers = {str(place): "out", **({str(aux_place): "aux"} if with_aux else {})}
    auxiliary = FCNHead(aux_width, count) if with_aux else None
    network = DeepLabV3(IntermediateLayerGetter(features, layers), DeepLabHead(width, count), auxiliary)
    made: DeepLabV3 = loaded(network, chosen, progress)
    return made
