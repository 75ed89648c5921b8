"""EfficientNet, versions 1 and 2, key for key with torchvision's checkpoints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tenfold import Tensor, nn
from tenfold.vision.models.catalog.mobile import (
    EfficientNet_B0_Weights,
    EfficientNet_B1_Weights,
    EfficientNet_B2_Weights,
    EfficientNet_B3_Weights,
    EfficientNet_B4_Weights,
    EfficientNet_B5_Weights,
    EfficientNet_B6_Weights,
    EfficientNet_B7_Weights,
    EfficientNet_V2_L_Weights,
    EfficientNet_V2_M_Weights,
    EfficientNet_V2_S_Weights,
)
from tenfold.vision.models.registry import model
from tenfold.vision.models.sizes import make_divisible
from tenfold.vision.models.weights import WeightsEnum, with_weights
from tenfold.vision.ops.dropping import StochasticDepth
from tenfold.vision.ops.misc import Conv2dNormActivation, SqueezeExcitation

Layer = Callable[..., nn.Module]

# Version 1, table 1 of arXiv:1905.11946: expansion, kernel, stride, input and output width, repetitions
B0 = (
    (1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 2, 40, 80, 3),
    (6, 5, 1, 80, 112, 3), (6, 5, 2, 112, 192, 4), (6, 3, 1, 192, 320, 1),
)  # fmt: skip
# Version 2, table 4 of arXiv:2104.00298 and its larger kin; the first three stages are fused
FUSED_STAGES = 3
V2 = {
    "s": (
        (1, 3, 1, 24, 24, 2), (4, 3, 2, 24, 48, 4), (4, 3, 2, 48, 64, 4),
        (4, 3, 2, 64, 128, 6), (6, 3, 1, 128, 160, 9), (6, 3, 2, 160, 256, 15),
    ),
    "m": (
        (1, 3, 1, 24, 24, 3), (4, 3, 2, 24, 48, 5), (4, 3, 2, 48, 80, 5), (4, 3, 2, 80, 160, 7),
        (6, 3, 1, 160, 176, 14), (6, 3, 2, 176, 304, 18), (6, 3, 1, 304, 512, 5),
    ),
    "l": (
        (1, 3, 1, 32, 32, 4), (4, 3, 2, 32, 64, 7), (4, 3, 2, 64, 96, 7), (4, 3, 2, 96, 192, 10),
        (6, 3, 1, 192, 224, 19), (6, 3, 2, 224, 384, 25), (6, 3, 1, 384, 640, 7),
    ),
}  # fmt: skip


class MBConvConfig:
    """A stage of version 1's blocks; ``width_mult`` scales the widths, in eights, and ``depth_mult`` the repetitions, rounded
    up.
    """

    def __init__(
        self,
        expand_ratio: float,
        kernel: int,
        stride: int,
        input_channels: int,
        out_channels: int,
        num_layers: int,
        width_mult: float = 1.0,
        depth_mult: float = 1.0,
        block: Layer | None = None,
    ) -> None:
        self.expand_ratio, self.kernel, self.stride = expand_ratio, kernel, stride
        self.input_channels = self.adjust_channels(input_channels, width_mult)
        self.out_channels = self.adjust_channels(out_channels, width_mult)
        self.num_layers = math.ceil(num_layers * depth_mult)
        self.block: Layer = MBConv if block is None else block

    @staticmethod
    def adjust_channels(channels: int, width_mult: float, min_value: int | None = None) -> int:
        """A width scaled, in eights."""
        return make_divisible(channels * width_mult, 8, min_value)

    def at(self, place: int) -> tuple[int, int]:
        """The input width and the stride of the block at this place in the stage."""
        return (self.input_channels, self.stride) if place == 0 else (self.out_channels, 1)


class FusedMBConvConfig(MBConvConfig):
    """A stage of version 2's fused blocks, whose sizes are given as they are."""

    def __init__(
        self,
        expand_ratio: float,
        kernel: int,
        stride: int,
        input_channels: int,
        out_channels: int,
        num_layers: int,
        block: Layer | None = None,
    ) -> None:
        sizes = (expand_ratio, kernel, stride, input_channels, out_channels, num_layers)
        super().__init__(*sizes, block=FusedMBConv if block is None else block)
        self.input_channels, self.out_channels, self.num_layers = input_channels, out_channels, num_layers


class _Block(nn.Module):
    """What both kinds share: a shortcut where sizes agree, dropped at random while training."""

    def __init__(self, parts: list[nn.Module], inputs: int, outputs: int, stride: int, stochastic_depth_prob: float) -> None:
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"illegal stride value: {stride}; 1 or 2 expected")
        self.use_res_connect = stride == 1 and inputs == outputs
        self.block = nn.Sequential(*parts)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.out_channels = outputs

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = self.block(input)
        if self.use_res_connect:
            result = self.stochastic_depth(result)
            result += input
        return result


class MBConv(_Block):
    """Widen, convolve each channel by itself, weigh the channels, narrow."""

    def __init__(
        self,
        cnf: MBConvConfig,
        stochastic_depth_prob: float,
        norm_layer: Layer,
        se_layer: Layer = SqueezeExcitation,
        place: int = 0,
    ) -> None:
        inputs, stride = cnf.at(place)
        wide = cnf.adjust_channels(inputs, cnf.expand_ratio)
        unit = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.SiLU)
        parts: list[nn.Module] = [unit(inputs, wide, 1)] if wide != inputs else []
        parts.append(unit(wide, wide, cnf.kernel, stride, groups=wide))
        parts.append(se_layer(wide, max(1, inputs // 4), activation=partial(nn.SiLU, inplace=True)))
        parts.append(Conv2dNormActivation(wide, cnf.out_channels, 1, norm_layer=norm_layer, activation_layer=None))
        super().__init__(parts, inputs, cnf.out_channels, stride, stochastic_depth_prob)


class FusedMBConv(_Block):
    """Widen by a full convolution, narrow; one convolution where the width is not to grow."""

    def __init__(self, cnf: FusedMBConvConfig, stochastic_depth_prob: float, norm_layer: Layer, place: int = 0) -> None:
        inputs, stride = cnf.at(place)
        wide = cnf.adjust_channels(inputs, cnf.expand_ratio)
        unit = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.SiLU)
        if wide != inputs:
            narrow = Conv2dNormActivation(wide, cnf.out_channels, 1, norm_layer=norm_layer, activation_layer=None)
            parts: list[nn.Module] = [unit(inputs, wide, cnf.kernel, stride), narrow]
        else:
            parts = [unit(inputs, cnf.out_channels, cnf.kernel, stride)]
        super().__init__(parts, inputs, cnf.out_channels, stride, stochastic_depth_prob)


class EfficientNet(nn.Module):
    """Stages of inverted residuals whose depth, width and resolution are scaled together.

    Shape: (N, 3, H, W) -> (N, num_classes).

    Raises:
        ValueError: there are no stages.
        TypeError: a stage is no `MBConvConfig`.

    Source: M. Tan, Q. V. Le, EfficientNet, arXiv:1905.11946; EfficientNetV2, arXiv:2104.00298.
    """

    def __init__(
        self,
        inverted_residual_setting: Sequence[MBConvConfig],
        dropout: float,
        stochastic_depth_prob: float = 0.2,
        num_classes: int = 1000,
        norm_layer: Layer | None = None,
        last_channel: int | None = None,
    ) -> None:
        super().__init__()
        if not inverted_residual_setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not all(isinstance(stage, MBConvConfig) for stage in inverted_residual_setting):
            raise TypeError("The inverted_residual_setting should be a list of MBConvConfig")
        norm = nn.BatchNorm2d if norm_layer is None else norm_layer
        unit = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=nn.SiLU)
        parts: list[nn.Module] = [unit(3, inverted_residual_setting[0].input_channels, 3, 2)]
        total = sum(stage.num_layers for stage in inverted_residual_setting)
        count = 0
        for stage in inverted_residual_setting:
            blocks = []
            for place in range(stage.num_layers):
                blocks.append(stage.block(stage, stochastic_depth_prob * count / total, norm, place=place))
                count += 1
            parts.append(nn.Sequential(*blocks))
        final = inverted_residual_setting[-1].out_channels
        last = 4 * final if last_channel is None else last_channel
        self.features = nn.Sequential(*parts, unit(final, last, 1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(dropout, inplace=True), nn.Linear(last, num_classes))
        _initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.classifier(self.avgpool(self.features(x)).flatten(1))
        return result


def _initialise(network: nn.Module) -> None:
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out")
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.BatchNorm2d | nn.GroupNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Linear):
            bound = 1.0 / math.sqrt(module.out_features)
            nn.init.uniform_(module.weight, -bound, bound)
            nn.init.zeros_(module.bias)


FINE_NORM = partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)  # of the larger networks of version 1
V2_NORM = partial(nn.BatchNorm2d, eps=0.001)


def _version1(
    width: float,
    depth: float,
    dropout: float,
    norm: Layer | None,
    catalog: type[WeightsEnum],
    weights: Any,
    progress: bool,
    options: dict[str, Any],
) -> EfficientNet:
    stages = [MBConvConfig(*row, width_mult=width, depth_mult=depth) for row in B0]
    share = options.pop("dropout", dropout)
    make = partial(EfficientNet, stages, share, norm_layer=options.pop("norm_layer", norm))
    return with_weights(make, catalog, weights, progress, options)


def _version2(
    size: str, dropout: float, catalog: type[WeightsEnum], weights: Any, progress: bool, options: dict[str, Any]
) -> EfficientNet:
    rows = V2[size]
    stages = [*(FusedMBConvConfig(*row) for row in rows[:FUSED_STAGES]), *(MBConvConfig(*row) for row in rows[FUSED_STAGES:])]
    share = options.pop("dropout", dropout)
    last = options.pop("last_channel", 1280)
    make = partial(EfficientNet, stages, share, norm_layer=options.pop("norm_layer", V2_NORM), last_channel=last)
    return with_weights(make, catalog, weights, progress, options)


@model(EfficientNet_B0_Weights)
def efficientnet_b0(
    *, weights: EfficientNet_B0_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> EfficientNet:
    """EfficientNet B0, 5,288,548 parameters."""
    return _version1(1.0, 1.0, 0.2, None, EfficientNet_B0_Weights, weights, progress, kwargs)


@model(EfficientNet_B1_Weights)
def efficientnet_b1(
    *, weights: EfficientNet_B1_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> EfficientNet:
    """EfficientNet B1, 7,794,184 parameters."""
    return _version1(1.0, 1.1, 0.2, None, EfficientNet_B1_Weights, weights, progress, kwargs)


@model(EfficientNet_B2_Weights)
def efficientnet_b2(
    *, weights: EfficientNet_B2_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> EfficientNet:
    """EfficientNet B2, 9,109,994 parameters."""
    return _version1(1.1, 1.2, 0.3, None, EfficientNet_B2_Weights, weights, progress, kwargs)


@model(EfficientNet_B3_Weights)
def efficientnet_b3(
    *, weights: EfficientNet_B3_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> EfficientNet:
    """EfficientNet B3, 12,233,232 parameters."""
    return _version1(1.2, 1.4, 0.3, None, EfficientNet_B3_Weights, weights, progress, kwargs)


@model(EfficientNet_B4_Weights)
def efficientnet_b4(
    *, weights: EfficientNet_B4_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> EfficientNet:
    """EfficientNet B4, 19,341,616 parameters."""
    return _version1(1.4, 1.8, 0.4, None, EfficientNet_B4_Weights, weights, progress, kwargs)


@model(EfficientNet_B5_Weights)
def efficientnet_b5(
    *, weights: EfficientNet_B5_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> EfficientNet:
    """EfficientNet B5, 30,389,784 parameters."""
    return _version1(1.6, 2.2, 0.4, FINE_NORM, EfficientNet_B5_Weights, weights, progress, kwargs)


@model(EfficientNet_B6_Weights)
def efficientnet_b6(
    *, weights: EfficientNet_B6_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> EfficientNet:
    """EfficientNet B6, 43,040,704 parameters."""
    return _version1(1.8, 2.6, 0.5, FINE_NORM, EfficientNet_B6_Weights, weights, progress, kwargs)


@model(EfficientNet_B7_Weights)
def efficientnet_b7(
    *, weights: EfficientNet_B7_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> EfficientNet:
    """EfficientNet B7, 66,347,960 parameters."""
    return _version1(2.0, 3.1, 0.5, FINE_NORM, EfficientNet_B7_Weights, weights, progress, kwargs)


@model(EfficientNet_V2_S_Weights)
def efficientnet_v2_s(
    *, weights: EfficientNet_V2_S_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> EfficientNet:
    """EfficientNet v2 S, 21,458,488 parameters."""
    return _version2("s", 0.2, EfficientNet_V2_S_Weights, weights, progress, kwargs)


@model(EfficientNet_V2_M_Weights)
def efficientnet_v2_m(
    *, weights: EfficientNet_V2_M_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> EfficientNet:
    """EfficientNet v2 M, 54,139,356 parameters."""
    return _version2("m", 0.3, EfficientNet_V2_M_Weights, weights, progress, kwargs)


@model(EfficientNet_V2_L_Weights)
def efficientnet_v2_l(
    *, weights: EfficientNet_V2_L_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> EfficientNet:
    """EfficientNet v2 L, 118,515,272 parameters."""
    return _version2("l", 0.4, EfficientNet_V2_L_Weights, weights, progress, kwargs)
