"""Classifiers' features as levels of a pyramid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenfold import Tensor, nn
from tenfold.vision.models.feature_extraction import IntermediateLayerGetter
from tenfold.vision.models.mobilenetv3 import mobilenet_v3_large
from tenfold.vision.models.resnet import resnet50
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


def resnet_pyramid(
    weights: Any,
    progress: bool,
    layers: int,
    frozen_norm: bool,
    returned: Sequence[int] = (1, 2, 3, 4),
    extra: ExtraFPNBlock | None = None,
    norm_layer: Layer | None = None,
) -> BackboneWithFPN:
    """A ResNet-50 whose stages ``returned`` are a pyramid of width 256; stages but the last ``layers`` do not learn."""
    network = resnet50(weights=weights, progress=progress, norm_layer=FrozenBatchNorm2d if frozen_norm else nn.BatchNorm2d)
    learning = ["layer4", "layer3", "layer2", "layer1", "conv1"][:layers] + (["bn1"] if layers == 5 else [])
    for name, parameter in network.named_parameters():
        if not name.startswith(tuple(learning)):
            parameter.requires_grad_(False)
    names = {f"layer{stage}": str(i) for i, stage in enumerate(returned)}
    widths = [256 * 2 ** (stage - 1) for stage in returned]
    return BackboneWithFPN(network, names, widths, 256, extra, norm_layer)


def mobilenet_pyramid(weights: Any, progress: bool, layers: int, frozen_norm: bool) -> BackboneWithFPN:
    """A MobileNet v3 whose last two resolutions are a pyramid of width 256."""
    norm = FrozenBatchNorm2d if frozen_norm else nn.BatchNorm2d
    features: Any = mobilenet_v3_large(weights=weights, progress=progress, norm_layer=norm).features
    stages = [0] + [i for i, block in enumerate(features) if getattr(block, "_is_cn", False)] + [len(features) - 1]
    first = len(features) if layers == 0 else stages[len(stages) - layers]
    for block in list(features)[:first]:
        for parameter in block.parameters():
            parameter.requires_grad_(False)
    chosen = [stages[-2], stages[-1]]
    widths = [features[i].out_channels for i in chosen]
    return BackboneWithFPN(features, {str(i): str(n) for n, i in enumerate(chosen)}, widths, 256)
