"""ShuffleNet v2, key for key with torchvision's checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.catalog.mobile import (
    ShuffleNet_V2_X0_5_Weights,
    ShuffleNet_V2_X1_0_Weights,
    ShuffleNet_V2_X1_5_Weights,
    ShuffleNet_V2_X2_0_Weights,
)
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import WeightsEnum, with_weights

REPEATS = (4, 8, 4)


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """Deal the channels out: the first of each group, then the second of each. Shape: (N, C, H, W) in and out."""
    return x.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)


class InvertedResidual(nn.Module):
    """Half of the channels pass untouched (at stride 2: through a branch of their own), half are convolved; then they are
    shuffled.
    """

    def __init__(self, inp: int, oup: int, stride: int) -> None:
        super().__init__()
        if not 1 <= stride <= 3:
            raise ValueError(f"illegal stride value: {stride}; 1, 2 or 3 expected")
        half = oup // 2
        if stride == 1 and inp != half << 1:
            raise ValueError(f"Invalid combination of stride {stride}, inp {inp} and oup {oup} values: at stride 1 widths agree")
        self.stride = stride
        aside = (*_depthwise(inp, stride), *_pointwise(inp, half)) if stride > 1 else ()
        self.branch1 = nn.Sequential(*aside)
        inputs = inp if stride > 1 else half
        self.branch2 = nn.Sequential(*_pointwise(inputs, half), *_depthwise(half, stride), *_pointwise(half, half))

    def forward(self, x: Tensor) -> Tensor:
        if self.stride == 1:
            untouched, rest = x.chunk(2, dim=1)
            both = [untouched, self.branch2(rest)]
        else:
            both = [self.branch1(x), self.branch2(x)]
        return channel_shuffle(tenfold.cat(both, dim=1), 2)


def _pointwise(inputs: int, outputs: int) -> tuple[nn.Module, ...]:
    return nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)


def _depthwise(channels: int, stride: int) -> tuple[nn.Module, ...]:
    return nn.Conv2d(channels, channels, 3, stride, padding=1, groups=channels, bias=False), nn.BatchNorm2d(channels)


class ShuffleNetV2(nn.Module):
    """Three stages of shuffled units.

    Shape: (N, 3, H, W) -> (N, num_classes).

    Raises:
        ValueError: not three repetitions or five widths.

    Source: N. Ma, X. Zhang, H.-T. Zheng, J. Sun, ShuffleNet V2, arXiv:1807.11164, table 5.
    """

    def __init__(
        self,
        stages_repeats: Sequence[int],
        stages_out_channels: Sequence[int],
        num_classes: int = 1000,
        inverted_residual: Callable[..., nn.Module] = InvertedResidual,
    ) -> None:
        super().__init__()
        if len(stages_repeats) != 3:
            raise ValueError("expected stages_repeats as list of 3 positive ints")
        if len(stages_out_channels) != 5:
            raise ValueError("expected stages_out_channels as list of 5 positive ints")
        first, *widths, last = stages_out_channels
        self.conv1 = nn.Sequential(nn.Conv2d(3, first, 3, 2, 1, bias=False), nn.BatchNorm2d(first), nn.ReLU(inplace=True))
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        inputs = first
        for number, (repeats, width) in enumerate(zip(stages_repeats, widths, strict=True), 2):
            blocks = [inverted_residual(inputs, width, 2)]
            blocks += [inverted_residual(width, width, 1) for _ in range(repeats - 1)]
            self.add_module(f"stage{number}", nn.Sequential(*blocks))
            inputs = width
        self.conv5 = nn.Sequential(*_pointwise(inputs, last))
        self.fc = nn.Linear(last, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.conv1(x))
        x = self.conv5(self.stage4(self.stage3(self.stage2(x))))
        result: Tensor = self.fc(x.mean([2, 3]))
        return result


def _build(
    widths: Sequence[int], catalog: type[WeightsEnum], weights: Any, progress: bool, options: dict[str, Any]
) -> ShuffleNetV2:
    return with_weights(partial(ShuffleNetV2, REPEATS, widths), catalog, weights, progress, options)


@model(ShuffleNet_V2_X0_5_Weights)
def shufflenet_v2_x0_5(
    *, weights: ShuffleNet_V2_X0_5_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> ShuffleNetV2:
    """ShuffleNet v2 of half the width, 1,366,792 parameters."""
    return _build((24, 48, 96, 192, 1024), ShuffleNet_V2_X0_5_Weights, weights, progress, kwargs)


@model(ShuffleNet_V2_X1_0_Weights)
def shufflenet_v2_x1_0(
    *, weights: ShuffleNet_V2_X1_0_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> ShuffleNetV2:
    """ShuffleNet v2, 2,278,604 parameters."""
    return _build((24, 116, 232, 464, 1024), ShuffleNet_V2_X1_0_Weights, weights, progress, kwargs)


@model(ShuffleNet_V2_X1_5_Weights)
def shufflenet_v2_x1_5(
    *, weights: ShuffleNet_V2_X1_5_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> ShuffleNetV2:
    """ShuffleNet v2 of 1.5 times the width, 3,503,624 parameters."""
    return _build((24, 176, 352, 704, 1024), ShuffleNet_V2_X1_5_Weights, weights, progress, kwargs)


@model(ShuffleNet_V2_X2_0_Weights)
def shufflenet_v2_x2_0(
    *, weights: ShuffleNet_V2_X2_0_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> ShuffleNetV2:
    """ShuffleNet v2 of twice the width, 7,393,996 parameters."""
    return _build((24, 244, 488, 976, 2048), ShuffleNet_V2_X2_0_Weights, weights, progress, kwargs)
