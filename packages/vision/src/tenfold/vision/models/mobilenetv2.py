"""MobileNet v2, key for key with torchvision's checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenfold import Tensor, nn
from tenfold.vision.models.catalog.mobile import MobileNet_V2_Weights
from tenfold.vision.models.registry import model
from tenfold.vision.models.sizes import make_divisible
from tenfold.vision.models.weights import with_weights
from tenfold.vision.ops.misc import Conv2dNormActivation

Layer = Callable[..., nn.Module]

# Table 2 of the paper: expansion, width, repetitions, stride of the first
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class InvertedResidual(nn.Module):
    """Widen by ``expand_ratio``, convolve each channel by itself, narrow without activation, around a shortcut where sizes
    agree.
    """

    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: int, norm_layer: Layer | None = None) -> None:
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        norm = nn.BatchNorm2d if norm_layer is None else norm_layer
        hidden = round(inp * expand_ratio)
        parts: list[nn.Module] = []
        if expand_ratio != 1:
            parts.append(Conv2dNormActivation(inp, hidden, 1, norm_layer=norm, activation_layer=nn.ReLU6))
        parts.append(Conv2dNormActivation(hidden, hidden, 3, stride, groups=hidden, norm_layer=norm, activation_layer=nn.ReLU6))
        parts += [nn.Conv2d(hidden, oup, 1, bias=False), norm(oup)]
        self.conv = nn.Sequential(*parts)
        self.stride = stride
        self.use_res_connect = stride == 1 and inp == oup
        self.out_channels = oup

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.conv(x)
        return x + result if self.use_res_connect else result


class MobileNetV2(nn.Module):
    """Inverted residuals between a 3x3 convolution and a 1x1 one.

    Shape: (N, 3, H, W) -> (N, num_classes).

    Raises:
        ValueError: ``inverted_residual_setting`` has not four numbers in each row.

    Source: M. Sandler and others, MobileNetV2: Inverted Residuals and Linear Bottlenecks, arXiv:1801.04381.
    """

    def __init__(
        self,
        num_classes: int = 1000,
        width_mult: float = 1.0,
        inverted_residual_setting: Sequence[Sequence[int]] | None = None,
        round_nearest: int = 8,
        block: Layer | None = None,
        norm_layer: Layer | None = None,
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        block = InvertedResidual if block is None else block
        norm = nn.BatchNorm2d if norm_layer is None else norm_layer
        stages = STAGES if inverted_residual_setting is None else inverted_residual_setting
        if not stages or any(len(row) != 4 for row in stages):
            raise ValueError(f"inverted_residual_setting should be non-empty or a 4-element list, got {stages}")
        width = make_divisible(32 * width_mult, round_nearest)
        self.last_channel = make_divisible(1280 * max(1.0, width_mult), round_nearest)
        parts: list[nn.Module] = [Conv2dNormActivation(3, width, stride=2, norm_layer=norm, activation_layer=nn.ReLU6)]
        for expansion, channels, count, stride in stages:
            outputs = make_divisible(channels * width_mult, round_nearest)
            for i in range(count):
                parts.append(block(width, outputs, stride if i == 0 else 1, expand_ratio=expansion, norm_layer=norm))
                width = outputs
        parts.append(Conv2dNormActivation(width, self.last_channel, 1, norm_layer=norm, activation_layer=nn.ReLU6))
        self.features = nn.Sequential(*parts)
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(self.last_channel, num_classes))
        initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        maps = nn.functional.adaptive_avg_pool2d(self.features(x), (1, 1))
        result: Tensor = self.classifier(maps.flatten(1))
        return result


def initialise(network: nn.Module) -> None:
    """He's initialization by fan-out; norms start as the identity, linear layers small."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out")
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, 0, 0.01)
        elif isinstance(module, nn.BatchNorm2d | nn.GroupNorm):
            nn.init.ones_(module.weight)
        if isinstance(module, nn.Conv2d | nn.Linear | nn.BatchNorm2d | nn.GroupNorm) and module.bias is not None:
            nn.init.zeros_(module.bias)


@model(MobileNet_V2_Weights)
def mobilenet_v2(*, weights: MobileNet_V2_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> MobileNetV2:
    """MobileNet v2, 3,504,872 parameters."""
    return with_weights(MobileNetV2, MobileNet_V2_Weights, weights, progress, kwargs)
