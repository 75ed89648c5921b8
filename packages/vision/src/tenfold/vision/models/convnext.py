"""ConvNeXt, key for key with torchvision's checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.catalog.convolutional import (
    ConvNeXt_Base_Weights,
    ConvNeXt_Large_Weights,
    ConvNeXt_Small_Weights,
    ConvNeXt_Tiny_Weights,
)
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import WeightsEnum, with_weights
from tenfold.vision.ops.dropping import StochasticDepth
from tenfold.vision.ops.misc import Conv2dNormActivation, Permute

Layer = Callable[..., nn.Module]


class LayerNorm2d(nn.LayerNorm):
    """Layer normalization over the channels of (N, C, H, W)."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class CNBlockConfig(NamedTuple):
    """A stage: its width, the next one's (None after the last), and its number of blocks."""

    input_channels: int
    out_channels: int | None
    num_layers: int


class CNBlock(nn.Module):
    """7x7 of each channel by itself, norm, and two linear layers over the channels, scaled by a learned factor."""

    def __init__(self, dim: int, layer_scale: float, stochastic_depth_prob: float, norm_layer: Layer | None = None) -> None:
        super().__init__()
        norm = partial(nn.LayerNorm, eps=1e-6) if norm_layer is None else norm_layer
        self.block = nn.Sequential(
            nn.Conv2d(dim, dim, 7, padding=3, groups=dim, bias=True),
            Permute([0, 2, 3, 1]),
            norm(dim),
            nn.Linear(dim, 4 * dim),
            nn.GELU(),
            nn.Linear(4 * dim, dim),
            Permute([0, 3, 1, 2]),
        )
        self.layer_scale = nn.Parameter(tenfold.ones(dim, 1, 1) * layer_scale)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = self.stochastic_depth(self.layer_scale * self.block(input))
        return result + input


class ConvNeXt(nn.Module):
    """A residual network with a transformer's proportions.

    Shape: (N, 3, H, W) -> (N, num_classes), pictures of 32 pixels at least.

    Raises:
        ValueError: there are no stages.
        TypeError: a stage is no `CNBlockConfig`.

    Source: Z. Liu and others, A ConvNet for the 2020s, arXiv:2201.03545.
    """

    def __init__(
        self,
        block_setting: Sequence[CNBlockConfig],
        stochastic_depth_prob: float = 0.0,
        layer_scale: float = 1e-6,
        num_classes: int = 1000,
        block: Layer | None = None,
        norm_layer: Layer | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if not block_setting:
            raise ValueError("The block_setting should not be empty")
        if not all(isinstance(stage, CNBlockConfig) for stage in block_setting):
            raise TypeError("The block_setting should be a list of CNBlockConfig")
        make = CNBlock if block is None else block
        norm = partial(LayerNorm2d, eps=1e-6) if norm_layer is None else norm_layer
        first = block_setting[0].input_channels
        parts: list[nn.Module] = [
            Conv2dNormActivation(3, first, 4, stride=4, padding=0, norm_layer=norm, activation_layer=None, bias=True)
        ]
        total = sum(stage.num_layers for stage in block_setting)
        count = 0
        for width, following, layers in block_setting:
            shares = [stochastic_depth_prob * (count + i) / max(total - 1, 1) for i in range(layers)]
            parts.append(nn.Sequential(*(make(width, layer_scale, share) for share in shares)))
            count += layers
            if following is not None:
                parts.append(nn.Sequential(norm(width), nn.Conv2d(width, following, 2, stride=2)))
        self.features = nn.Sequential(*parts)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        final = block_setting[-1].out_channels or block_setting[-1].input_channels
        self.classifier = nn.Sequential(norm(final), nn.Flatten(1), nn.Linear(final, num_classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.classifier(self.avgpool(self.features(x)))
        return result


def _build(
    widths: Sequence[int],
    depths: Sequence[int],
    depth_prob: float,
    catalog: type[WeightsEnum],
    weights: Any,
    progress: bool,
    options: dict[str, Any],
) -> ConvNeXt:
    stages = [CNBlockConfig(*row) for row in zip(widths, [*widths[1:], None], depths, strict=True)]
    share = options.pop("stochastic_depth_prob", depth_prob)
    return with_weights(partial(ConvNeXt, stages, share), catalog, weights, progress, options)


@model(ConvNeXt_Tiny_Weights)
def convnext_tiny(*, weights: ConvNeXt_Tiny_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ConvNeXt:
    """ConvNeXt-T, 28,589,128 parameters."""
    return _build((96, 192, 384, 768), (3, 3, 9, 3), 0.1, ConvNeXt_Tiny_Weights, weights, progress, kwargs)


@model(ConvNeXt_Small_Weights)
def convnext_small(*, weights: ConvNeXt_Small_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ConvNeXt:
    """ConvNeXt-S, 50,223,688 parameters."""
    return _build((96, 192, 384, 768), (3, 3, 27, 3), 0.4, ConvNeXt_Small_Weights, weights, progress, kwargs)


@model(ConvNeXt_Base_Weights)
def convnext_base(*, weights: ConvNeXt_Base_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ConvNeXt:
    """ConvNeXt-B, 88,591,464 parameters."""
    return _build((128, 256, 512, 1024), (3, 3, 27, 3), 0.5, ConvNeXt_Base_Weights, weights, progress, kwargs)


@model(ConvNeXt_Large_Weights)
def convnext_large(*, weights: ConvNeXt_Large_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ConvNeXt:
    """ConvNeXt-L, 197,767,336 parameters."""
    return _build((192, 384, 768, 1536), (3, 3, 27, 3), 0.5, ConvNeXt_Large_Weights, weights, progress, kwargs)
