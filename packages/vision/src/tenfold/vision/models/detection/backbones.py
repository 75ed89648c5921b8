"""Classifiers' features as levels of a pyramid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenfold import Tensor, nn
from tenfold.vision.models.feature_extraction import IntermediateLayerGetter
from tenfold.vision.models.registry import get_model
from tenfold.vision.ops.misc import FrozenBatchNorm2d
from tenfold.vision.ops.pyramid import ExtraFPNBlock, FeaturePyramidNetwork, LastLevelMaxPool

Layer = Callable[..., nn.Module]


class BackboneWithFPN(nn.Module):
    """The maps of named children of a network, through a feature pyramid."""

    def __init__(
        self,
        backbone: nn.Module,
        return_layers: dict[str, str],
        in_channels_list: Sequence[int],
        out_channels: int,
        extra_blocks: ExtraFPNBlock | None = None,
        norm_layer: Layer | None = None,
    ) -> None:
        super().__init__()
        extra = LastLevelMaxPool() if extra_blocks is None else extra_blocks
        self.body = IntermediateLayerGetter(backbone, return_layers)
        self.fpn = FeaturePyramidNetwork(in_channels_list, out_channels, extra, norm_layer)
        self.out_channels = out_channels

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        levels: dict[str, Tensor] = self.fpn(self.body(x))
        return levels


def trainable_layers(pretrained: bool, chosen: int | None, most: int, usual: int) -> int:
    """How many of the last stages learn: all without a checkpoint, else as chosen.

    Raises:
        ValueError: more than there are.
    """
    count = most if not pretrained else usual if chosen is None else chosen
    if not 0 <= count <= most:
        raise ValueError(f"Trainable layers should be in the range [0,{most}], got {count}")
    return count


def resnet50_pyramid(
    weights: Any,
    progress: bool,
    layers: int,
    frozen_norm: bool,
    returned: Sequence[int] | None = None,
    extra: ExtraFPNBlock | None = None,
    norm_layer: Layer | None = None,
) -> BackboneWithFPN:
    """A new ResNet-50 as `resnet_pyramid` makes it; its own norms do not learn with ``frozen_norm``."""
    norm = FrozenBatchNorm2d if frozen_norm else nn.BatchNorm2d
    network = get_model("resnet50", weights=weights, progress=progress, norm_layer=norm)
    return resnet_pyramid(network, layers, returned, extra, norm_layer)


def resnet_fpn_backbone(
    *,
    backbone_name: str,
    weights: Any,
    norm_layer: Layer = FrozenBatchNorm2d,
    trainable_layers: int = 3,
    returned_layers: Sequence[int] | None = None,
    extra_blocks: ExtraFPNBlock | None = None,
) -> BackboneWithFPN:
    """The ResNet of this name, whose stages ``returned_layers`` (of 1 to 4, all if None) are a pyramid of width 256.

    Of its five stages the last ``trainable_layers`` learn.

    >>> import tenfold
    >>> network = resnet_fpn_backbone(backbone_name="resnet18", weights=None)
    >>> {name: tuple(level.shape) for name, level in network(tenfold.zeros(1, 3, 64, 64)).items()}["pool"]
    (1, 256, 1, 1)

    Raises:
        ValueError: a stage that there is not, or more learning ones than there are.
    """
    network = get_model(backbone_name, weights=weights, norm_layer=norm_layer)
    return resnet_pyramid(network, trainable_layers, returned_layers, extra_blocks)


def resnet_pyramid(
    network: Any,
    trainable_layers: int,
    returned_layers: Sequence[int] | None = None,
    extra_blocks: ExtraFPNBlock | None = None,
    norm_layer: Layer | None = None,
) -> BackboneWithFPN:
    """`resnet_fpn_backbone` of a ResNet that is there already."""
    _require("trainable_layers", [trainable_layers], 5)
    returned = list(returned_layers or (1, 2, 3, 4))
    _require("returned_layers", returned, 4, 1)
    learning = ["layer4", "layer3", "layer2", "layer1", "conv1"][:trainable_layers] + (["bn1"] if trainable_layers == 5 else [])
    for name, parameter in network.named_parameters():
        if not name.startswith(tuple(learning)):
            parameter.requires_grad_(False)
    names = {f"layer{stage}": str(i) for i, stage in enumerate(returned)}
    widths = [network.inplanes // 8 * 2 ** (stage - 1) for stage in returned]
    return BackboneWithFPN(network, names, widths, 256, extra_blocks, norm_layer)


def mobilenet_backbone(
    *,
    backbone_name: str,
    weights: Any,
    fpn: bool,
    norm_layer: Layer = FrozenBatchNorm2d,
    trainable_layers: int = 2,
    returned_layers: Sequence[int] | None = None,
    extra_blocks: ExtraFPNBlock | None = None,
) -> nn.Module:
    """The MobileNet of this name; with ``fpn`` its stages ``returned_layers`` (the last two if None) are a pyramid of width 256,
    else a convolution makes one map of that width.

    Of its stages, which begin where the resolution halves, the last ``trainable_layers`` learn.

    Raises:
        ValueError: a stage that there is not, or more learning ones than there are.
    """
    network = get_model(backbone_name, weights=weights, norm_layer=norm_layer)
    return mobilenet_pyramid(network, fpn, trainable_layers, returned_layers, extra_blocks)


def mobilenet_pyramid(
    network: Any,
    fpn: bool,
    trainable_layers: int,
    returned_layers: Sequence[int] | None = None,
    extra_blocks: ExtraFPNBlock | None = None,
    norm_layer: Layer | None = None,
) -> Any:
    """`mobilenet_backbone` of a MobileNet that is there already."""
    features = network.features
    stages = [0] + [i for i, block in enumerate(features) if getattr(block, "_is_cn", False)] + [len(features) - 1]
    _require("trainable_layers", [trainable_layers], len(stages))
    first = len(features) if trainable_layers == 0 else stages[len(stages) - trainable_layers]
    for block in list(features)[:first]:
        for parameter in block.parameters():
            parameter.requires_grad_(False)
    if not fpn:
        single = nn.Sequential(features, nn.Conv2d(features[-1].out_channels, 256, 1))
        single.out_channels = 256
        return single
    returned = list(returned_layers or (len(stages) - 2, len(stages) - 1))
    _require("returned_layers", returned, len(stages) - 1)
    chosen = [stages[stage] for stage in returned]
    widths = [features[i].out_channels for i in chosen]
    names = {str(i): str(n) for n, i in enumerate(chosen)}
    return BackboneWithFPN(features, names, widths, 256, extra_blocks, norm_layer)


def _require(argument: str, stages: Sequence[int], last: int, first: int = 0) -> None:
    if not all(first <= stage <= last for stage in stages):
        raise ValueError(f"Each {argument} should be in the range [{first},{last}], got {list(stages)}")
