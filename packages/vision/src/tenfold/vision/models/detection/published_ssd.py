"""SSD300 on VGG-16 and SSDlite320 on MobileNet v3, key for key with torchvision's checkpoints."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import normalize
from tenfold.vision.models.catalog.convolutional import VGG16_Weights
from tenfold.vision.models.catalog.detection import SSD300_VGG16_Weights, SSDLite320_MobileNet_V3_Large_Weights
from tenfold.vision.models.catalog.mobile import MobileNet_V3_Large_Weights
from tenfold.vision.models.detection.backbones import trainable_layers
from tenfold.vision.models.detection.default_boxes import DefaultBoxGenerator
from tenfold.vision.models.detection.published_rcnn import checked, loaded
from tenfold.vision.models.detection.ssd import SSD, SSDScoringHead, even_convolutions, retrieve_out_channels
from tenfold.vision.models.mobilenetv3 import mobilenet_v3_large
from tenfold.vision.models.registry import model
from tenfold.vision.models.vgg import vgg16
from tenfold.vision.ops.misc import Conv2dNormActivation

Layer = Callable[..., nn.Module]
SSD300_SCALES = (0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05)
SSD300_STEPS = (8, 16, 32, 64, 100, 300)
SSD300_MEAN = (0.48235, 0.45882, 0.40784)  # of pictures as bytes, whose deviation is not divided by
LITE_WIDTHS = (512, 256, 256, 128)


class SSDFeatureExtractorVGG(nn.Module):
    """The fourth stage of a VGG-16, scaled to a length that is learnt, the fifth as convolutions with holes, and further halves.

    With ``highres`` there is a seventh level, for pictures of 512 pixels.

    Shape: (N, 3, 300, 300) -> levels "0" to "5" of sides 38, 19, 10, 5, 3 and 1.
    """

    def __init__(self, backbone: nn.Module, highres: bool) -> None:
        super().__init__()
        layers = list(backbone.features)
        halvings = [i for i, layer in enumerate(layers) if isinstance(layer, nn.MaxPool2d)]
        layers[halvings[2]].ceil_mode = True  # 75 pixels become 38
        self.scale_weight = nn.Parameter(tenfold.ones(512) * 20)
        self.features = nn.Sequential(*layers[: halvings[3]])
        wide = nn.Sequential(
            nn.MaxPool2d(3, stride=1, padding=1, ceil_mode=False),
            nn.Conv2d(512, 1024, 3, padding=6, dilation=6),
            nn.ReLU(inplace=True),
            nn.Conv2d(1024, 1024, 1),
            nn.ReLU(inplace=True),
        )
        extra = [_smaller(1024, 256, 512, 2), _smaller(512, 128, 256, 2), _smaller(256, 128, 256), _smaller(256, 128, 256)]
        if highres:
            extra.append(_smaller(256, 128, 256, kernel=4))
        for block in (wide, *extra):
            even_convolutions(block)
        self.extra = nn.ModuleList([nn.Sequential(*layers[halvings[3] : -1], wide), *extra])

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        x = self.features(x)
        levels = [self.scale_weight.view(1, -1, 1, 1) * normalize(x)]
        for block in self.extra:
            x = block(x)
            levels.append(x)
        return {str(i): level for i, level in enumerate(levels)}


def _smaller(inputs: int, between: int, outputs: int, stride: int = 1, kernel: int = 3) -> nn.Sequential:
    padding = 1 if stride == 2 else 0
    return nn.Sequential(
        nn.Conv2d(inputs, between, 1),
        nn.ReLU(inplace=True),
        nn.Conv2d(between, outputs, kernel, padding=padding, stride=stride),
        nn.ReLU(inplace=True),
    )


def _vgg_extractor(backbone: Any, highres: bool, layers: int) -> SSDFeatureExtractorVGG:
    features = backbone.features
    stages = [0, *(i for i, layer in enumerate(features) if isinstance(layer, nn.MaxPool2d))][:-1]
    _freeze(features, len(features) if layers == 0 else stages[len(stages) - layers])
    return SSDFeatureExtractorVGG(backbone, highres)


def _freeze(features: Any, first: int) -> None:
    """Layers before the first that learns do not."""
    for layer in list(features)[:first]:
        for parameter in layer.parameters():
            parameter.requires_grad_(False)


@model(SSD300_VGG16_Weights, VGG16_Weights.IMAGENET1K_FEATURES)
def ssd300_vgg16(
    *,
    weights: SSD300_VGG16_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    weights_backbone: VGG16_Weights | str | None = VGG16_Weights.IMAGENET1K_FEATURES,
    trainable_backbone_layers: int | None = None,
    **kwargs: Any,
) -> SSD:
    """SSD on a VGG-16, for pictures of 300 pixels, 35,641,826 parameters; ``weights_backbone=None`` starts from nothing."""
    if "size" in kwargs:
        raise ValueError("ssd300_vgg16: the size is 300 by 300; build SSD itself for another")
    chosen, first, classes = checked(SSD300_VGG16_Weights, weights, VGG16_Weights, weights_backbone, num_classes)
    layers = trainable_layers(chosen is not None or first is not None, trainable_backbone_layers, 5, 4)
    backbone = _vgg_extractor(vgg16(weights=first, progress=progress), False, layers)
    boxes = DefaultBoxGenerator([[2], [2, 3], [2, 3], [2, 3], [2], [2]], scales=SSD300_SCALES, steps=SSD300_STEPS)
    options = {"image_mean": SSD300_MEAN, "image_std": (1 / 255,) * 3, **kwargs}
    made: SSD = loaded(SSD(backbone, boxes, (300, 300), classes, **options), chosen, progress)
    return made


# SSDlite


class SSDLiteFeatureExtractorMobileNet(nn.Module):
    """A MobileNet up to the widening of its block ``c4_pos``, the rest, and four further halves.

    ``width_mult`` widens the further ones, which have ``min_depth`` channels at least.

    Source: M. Sandler and others, MobileNetV2, arXiv:1801.04381, section 6.2.
    """

    def __init__(self, backbone: nn.Module, c4_pos: int, norm_layer: Layer, width_mult: float = 1.0, min_depth: int = 16) -> None:
        super().__init__()
        blocks = list(backbone)
        split = blocks[c4_pos].block
        self.features = nn.Sequential(nn.Sequential(*blocks[:c4_pos], split[0]), nn.Sequential(split[1:], *blocks[c4_pos + 1 :]))
        widths = [blocks[-1].out_channels, *(max(min_depth, int(width * width_mult)) for width in LITE_WIDTHS)]
        self.extra = nn.ModuleList([_light_half(a, b, norm_layer) for a, b in itertools.pairwise(widths)])
        drawn_convolutions(self.extra)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        levels = []
        for block in (*self.features, *self.extra):
            x = block(x)
            levels.append(x)
        return {str(i): level for i, level in enumerate(levels)}


def _light_half(inputs: int, outputs: int, norm: Layer) -> nn.Sequential:
    between = outputs // 2
    unit = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=nn.ReLU6)
    return nn.Sequential(unit(inputs, between, 1), unit(between, between, 3, 2, groups=between), unit(between, outputs, 1))


def drawn_convolutions(network: nn.Module) -> None:
    """Convolutions start normally distributed with a deviation of 0.03, and without bias."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.normal_(module.weight, mean=0.0, std=0.03)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


class SSDLiteClassificationHead(SSDScoringHead):
    """`SSDClassificationHead` whose convolutions are of each channel by itself, then of each pixel by itself."""

    def __init__(self, in_channels: Sequence[int], num_anchors: Sequence[int], num_classes: int, norm_layer: Layer) -> None:
        sizes = zip(in_channels, num_anchors, strict=True)
        super().__init__(nn.ModuleList(_light_scores(c, a * num_classes, norm_layer) for c, a in sizes), num_classes)
        drawn_convolutions(self)


class SSDLiteRegressionHead(SSDScoringHead):
    """`SSDRegressionHead` whose convolutions are of each channel by itself, then of each pixel by itself."""

    def __init__(self, in_channels: Sequence[int], num_anchors: Sequence[int], norm_layer: Layer) -> None:
        sizes = zip(in_channels, num_anchors, strict=True)
        super().__init__(nn.ModuleList(_light_scores(c, a * 4, norm_layer) for c, a in sizes), 4)
        drawn_convolutions(self)


class SSDLiteHead(nn.Module):
    """`SSDHead` whose convolutions are of each channel by itself, then of each pixel by itself."""

    def __init__(self, in_channels: Sequence[int], num_anchors: Sequence[int], num_classes: int, norm_layer: Layer) -> None:
        super().__init__()
        self.classification_head: nn.Module = SSDLiteClassificationHead(in_channels, num_anchors, num_classes, norm_layer)
        self.regression_head: nn.Module = SSDLiteRegressionHead(in_channels, num_anchors, norm_layer)

    def forward(self, x: Sequence[Tensor]) -> dict[str, Tensor]:
        return {"bbox_regression": self.regression_head(x), "cls_logits": self.classification_head(x)}


def _light_scores(inputs: int, outputs: int, norm: Layer) -> nn.Sequential:
    each = Conv2dNormActivation(inputs, inputs, 3, groups=inputs, norm_layer=norm, activation_layer=nn.ReLU6)
    return nn.Sequential(each, nn.Conv2d(inputs, outputs, 1))


def _mobilenet_extractor(backbone: Any, layers: int, norm: Layer) -> SSDLiteFeatureExtractorMobileNet:
    features = backbone.features
    stages = [0, *(i for i, block in enumerate(features) if getattr(block, "_is_cn", False)), len(features) - 1]
    _freeze(features, len(features) if layers == 0 else stages[len(stages) - layers])
    return SSDLiteFeatureExtractorMobileNet(features, stages[-2], norm)


@model(SSDLite320_MobileNet_V3_Large_Weights, MobileNet_V3_Large_Weights.IMAGENET1K_V1)
def ssdlite320_mobilenet_v3_large(
    *,
    weights: SSDLite320_MobileNet_V3_Large_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    weights_backbone: MobileNet_V3_Large_Weights | str | None = MobileNet_V3_Large_Weights.IMAGENET1K_V1,
    trainable_backbone_layers: int | None = None,
    norm_layer: Layer | None = None,
    **kwargs: Any,
) -> SSD:
    """SSDlite on a MobileNet v3, for pictures of 320 pixels, 3,440,060 parameters; ``weights_backbone=None`` starts from
    nothing, and its last stage then has half the channels, as the published checkpoint's.
    """
    if "size" in kwargs:
        raise ValueError("ssdlite320_mobilenet_v3_large: the size is 320 by 320; build SSD itself for another")
    catalog, backbones = SSDLite320_MobileNet_V3_Large_Weights, MobileNet_V3_Large_Weights
    chosen, first, classes = checked(catalog, weights, backbones, weights_backbone, num_classes)
    layers = trainable_layers(chosen is not None or first is not None, trainable_backbone_layers, 6, 6)
    norm = partial(nn.BatchNorm2d, eps=0.001, momentum=0.03) if norm_layer is None else norm_layer
    network = mobilenet_v3_large(weights=first, progress=progress, norm_layer=norm, reduced_tail=first is None)
    if first is None:
        drawn_convolutions(network)
    backbone = _mobilenet_extractor(network, layers, norm)
    boxes = DefaultBoxGenerator([[2, 3]] * 6, min_ratio=0.2, max_ratio=0.95)
    head = SSDLiteHead(retrieve_out_channels(backbone, (320, 320)), boxes.num_anchors_per_location(), classes, norm)
    options: dict[str, Any] = {
        "score_thresh": 0.001, "nms_thresh": 0.55, "detections_per_img": 300, "topk_candidates": 300,
        "image_mean": (0.5, 0.5, 0.5), "image_std": (0.5, 0.5, 0.5), **kwargs,
    }  # fmt: skip
    made: SSD = loaded(SSD(backbone, boxes, (320, 320), classes, head=head, **options), chosen, progress)
    return made
