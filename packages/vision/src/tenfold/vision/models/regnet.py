"""RegNet X and Y, key for key with torchvision's checkpoints."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from tenfold import Tensor, nn
from tenfold.vision.models.catalog import regnet as catalog
from tenfold.vision.models.catalog.regnet import (
    RegNet_X_1_6GF_Weights,
    RegNet_X_3_2GF_Weights,
    RegNet_X_8GF_Weights,
    RegNet_X_16GF_Weights,
    RegNet_X_32GF_Weights,
    RegNet_X_400MF_Weights,
    RegNet_X_800MF_Weights,
    RegNet_Y_1_6GF_Weights,
    RegNet_Y_3_2GF_Weights,
    RegNet_Y_8GF_Weights,
    RegNet_Y_16GF_Weights,
    RegNet_Y_32GF_Weights,
    RegNet_Y_128GF_Weights,
    RegNet_Y_400MF_Weights,
    RegNet_Y_800MF_Weights,
)
from tenfold.vision.models.registry import model
from tenfold.vision.models.sizes import make_divisible
from tenfold.vision.models.weights import with_weights
from tenfold.vision.ops.misc import Conv2dNormActivation, SqueezeExcitation

Layer = Callable[..., nn.Module]
QUANTUM = 8  # widths are its multiples

# Tables 8 to 10 of the paper: depth, first width, its slope, its growth, width of a group; Y has squeeze and excitation
PLANS: dict[str, tuple[int, int, float, float, int]] = {
    "y_400mf": (16, 48, 27.89, 2.09, 8), "y_800mf": (14, 56, 38.84, 2.4, 16), "y_1_6gf": (27, 48, 20.71, 2.65, 24),
    "y_3_2gf": (21, 80, 42.63, 2.66, 24), "y_8gf": (17, 192, 76.82, 2.19, 56), "y_16gf": (18, 200, 106.23, 2.48, 112),
    "y_32gf": (20, 232, 115.89, 2.53, 232), "y_128gf": (27, 456, 160.83, 2.52, 264),
    "x_400mf": (22, 24, 24.48, 2.54, 16), "x_800mf": (16, 56, 35.73, 2.28, 16), "x_1_6gf": (18, 80, 34.01, 2.25, 24),
    "x_3_2gf": (25, 88, 26.31, 2.25, 48), "x_8gf": (23, 80, 49.56, 2.88, 120), "x_16gf": (22, 216, 55.59, 2.1, 128),
    "x_32gf": (23, 320, 69.86, 2.0, 168),
}  # fmt: skip


@dataclass
class BlockParams:
    """The sizes of the stages: repetitions, widths, widths of groups, bottleneck ratios, strides."""

    depths: list[int]
    widths: list[int]
    group_widths: list[int]
    bottleneck_multipliers: list[float]
    strides: list[int]
    se_ratio: float | None = None

    @classmethod
    def from_init_params(
        cls,
        depth: int,
        w_0: int,
        w_a: float,
        w_m: float,
        group_width: int,
        bottleneck_multiplier: float = 1.0,
        se_ratio: float | None = None,
        **_: Any,
    ) -> Self:
        """Block j wants the width u = w_0 + w_a j; it gets w_0 w_m^round(log(u / w_0) / log(w_m)), in eights. Blocks alike
        make a stage.

        Raises:
            ValueError: the parameters give no growing widths.

        Source: equations 2 to 4 of the paper.
        """
        if w_a < 0 or w_0 <= 0 or w_m <= 1 or w_0 % QUANTUM:
            raise ValueError(f"Invalid RegNet settings: w_a={w_a}, w_0={w_0}, w_m={w_m}")
        powers = [round(math.log((w_0 + w_a * j) / w_0) / math.log(w_m)) for j in range(depth)]
        blocks = [round(w_0 * w_m**power / QUANTUM) * QUANTUM for power in powers]
        widths = sorted(set(blocks))
        inner = [round(width * bottleneck_multiplier) for width in widths]
        groups = [min(group_width, width) for width in inner]
        widths = [round(make_divisible(width, group) / bottleneck_multiplier) for width, group in zip(inner, groups, strict=True)]
        depths = [blocks.count(width) for width in sorted(set(blocks))]
        count = len(widths)
        return cls(depths, widths, groups, [bottleneck_multiplier] * count, [2] * count, se_ratio)

    def stages(self) -> Iterator[tuple[int, int, int, int, float]]:
        """Width, stride, repetitions, width of a group, bottleneck ratio of each stage."""
        return zip(self.widths, self.strides, self.depths, self.group_widths, self.bottleneck_multipliers, strict=True)


class SimpleStemIN(Conv2dNormActivation):
    """The first convolution: 3x3, stride 2."""

    def __init__(self, width_in: int, width_out: int, norm_layer: Layer, activation_layer: Layer) -> None:
        super().__init__(width_in, width_out, 3, stride=2, norm_layer=norm_layer, activation_layer=activation_layer)


def _transform(
    inputs: int, outputs: int, stride: int, norm: Layer, activation: Layer, group: int, ratio: float, se_ratio: float | None
) -> nn.Sequential:
    """1x1, grouped 3x3, squeeze and excitation, 1x1."""
    inner = round(outputs * ratio)
    unit = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=activation)
    parts: OrderedDict[str, nn.Module] = OrderedDict()
    parts["a"] = unit(inputs, inner, 1)
    parts["b"] = unit(inner, inner, 3, stride=stride, groups=inner // group)
    if se_ratio:
        parts["se"] = SqueezeExcitation(inner, round(se_ratio * inputs), activation=activation)
    parts["c"] = Conv2dNormActivation(inner, outputs, 1, norm_layer=norm, activation_layer=None)
    return nn.Sequential(parts)


class ResBottleneckBlock(nn.Module):
    """A grouped bottleneck around a shortcut, which is convolved where sizes change."""

    def __init__(
        self,
        width_in: int,
        width_out: int,
        stride: int,
        norm_layer: Layer,
        activation_layer: Layer,
        group_width: int = 1,
        bottleneck_multiplier: float = 1.0,
        se_ratio: float | None = None,
    ) -> None:
        super().__init__()
        self.proj = None
        if width_in != width_out or stride != 1:
            self.proj = Conv2dNormActivation(width_in, width_out, 1, stride, norm_layer=norm_layer, activation_layer=None)
        sizes = (width_in, width_out, stride, norm_layer, activation_layer, group_width, bottleneck_multiplier)
        self.f = _transform(*sizes, se_ratio)
        self.activation = activation_layer(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.proj is None else self.proj(x)
        result: Tensor = self.activation(shortcut + self.f(x))
        return result


class RegNet(nn.Module):
    """Stages of grouped bottlenecks whose widths grow by a rule of a few numbers.

    Shape: (N, 3, H, W) -> (N, num_classes).

    Source: I. Radosavovic and others, Designing Network Design Spaces, arXiv:2003.13678.
    """

    def __init__(
        self,
        block_params: BlockParams,
        num_classes: int = 1000,
        stem_width: int = 32,
        stem_type: Layer | None = None,
        block_type: Layer | None = None,
        norm_layer: Layer | None = None,
        activation: Layer | None = None,
    ) -> None:
        super().__init__()
        stem, block = stem_type or SimpleStemIN, block_type or ResBottleneckBlock
        norm, act = norm_layer or nn.BatchNorm2d, activation or nn.ReLU
        self.stem = stem(3, stem_width, norm, act)
        width = stem_width
        stages = OrderedDict()
        for i, (outputs, stride, depth, group, ratio) in enumerate(block_params.stages(), 1):
            blocks = OrderedDict()
            for j in range(depth):
                step = stride if j == 0 else 1
                blocks[f"block{i}-{j}"] = block(width, outputs, step, norm, act, group, ratio, block_params.se_ratio)
                width = outputs
            stages[f"block{i}"] = nn.Sequential(blocks)
        self.trunk_output = nn.Sequential(stages)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(width, num_classes)
        _initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        maps = self.trunk_output(self.stem(x))
        result: Tensor = self.fc(self.avgpool(maps).flatten(1))
        return result


def _initialise(network: nn.Module) -> None:
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            fan_out = module.kernel_size[0] * module.kernel_size[1] * module.out_channels
            nn.init.normal_(module.weight, mean=0.0, std=math.sqrt(2.0 / fan_out))
        elif isinstance(module, nn.BatchNorm2d):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, mean=0.0, std=0.01)
            nn.init.zeros_(module.bias)


def _build(name: str, weights: Any, progress: bool, options: dict[str, Any]) -> RegNet:
    params = BlockParams.from_init_params(*PLANS[name], se_ratio=0.25 if name.startswith("y") else None, **options)
    norm = options.pop("norm_layer", partial(nn.BatchNorm2d, eps=1e-05, momentum=0.1))
    checkpoints = getattr(catalog, f"RegNet_{name.upper()}_Weights")
    return with_weights(partial(RegNet, params, norm_layer=norm), checkpoints, weights, progress, options)


@model(RegNet_Y_400MF_Weights)
def regnet_y_400mf(*, weights: RegNet_Y_400MF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet Y of 400 million multiply-adds, 4,344,144 parameters."""
    return _build("y_400mf", weights, progress, kwargs)


@model(RegNet_Y_800MF_Weights)
def regnet_y_800mf(*, weights: RegNet_Y_800MF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet Y of 800 million multiply-adds, 6,432,512 parameters."""
    return _build("y_800mf", weights, progress, kwargs)


@model(RegNet_Y_1_6GF_Weights)
def regnet_y_1_6gf(*, weights: RegNet_Y_1_6GF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet Y of 1.6 thousand million multiply-adds, 11,202,430 parameters."""
    return _build("y_1_6gf", weights, progress, kwargs)


@model(RegNet_Y_3_2GF_Weights)
def regnet_y_3_2gf(*, weights: RegNet_Y_3_2GF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet Y of 3.2 thousand million multiply-adds, 19,436,338 parameters."""
    return _build("y_3_2gf", weights, progress, kwargs)


@model(RegNet_Y_8GF_Weights)
def regnet_y_8gf(*, weights: RegNet_Y_8GF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet Y of 8 thousand million multiply-adds, 39,381,472 parameters."""
    return _build("y_8gf", weights, progress, kwargs)


@model(RegNet_Y_16GF_Weights)
def regnet_y_16gf(*, weights: RegNet_Y_16GF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet Y of 16 thousand million multiply-adds, 83,590,140 parameters."""
    return _build("y_16gf", weights, progress, kwargs)


@model(RegNet_Y_32GF_Weights)
def regnet_y_32gf(*, weights: RegNet_Y_32GF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet Y of 32 thousand million multiply-adds, 145,046,770 parameters."""
    return _build("y_32gf", weights, progress, kwargs)


@model(RegNet_Y_128GF_Weights)
def regnet_y_128gf(*, weights: RegNet_Y_128GF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet Y of 128 thousand million multiply-adds, 644,812,894 parameters."""
    return _build("y_128gf", weights, progress, kwargs)


@model(RegNet_X_400MF_Weights)
def regnet_x_400mf(*, weights: RegNet_X_400MF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet X of 400 million multiply-adds, 5,495,976 parameters."""
    return _build("x_400mf", weights, progress, kwargs)


@model(RegNet_X_800MF_Weights)
def regnet_x_800mf(*, weights: RegNet_X_800MF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet X of 800 million multiply-adds, 7,259,656 parameters."""
    return _build("x_800mf", weights, progress, kwargs)


@model(RegNet_X_1_6GF_Weights)
def regnet_x_1_6gf(*, weights: RegNet_X_1_6GF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet X of 1.6 thousand million multiply-adds, 9,190,136 parameters."""
    return _build("x_1_6gf", weights, progress, kwargs)


@model(RegNet_X_3_2GF_Weights)
def regnet_x_3_2gf(*, weights: RegNet_X_3_2GF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet X of 3.2 thousand million multiply-adds, 15,296,552 parameters."""
    return _build("x_3_2gf", weights, progress, kwargs)


@model(RegNet_X_8GF_Weights)
def regnet_x_8gf(*, weights: RegNet_X_8GF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet X of 8 thousand million multiply-adds, 39,572,648 parameters."""
    return _build("x_8gf", weights, progress, kwargs)


@model(RegNet_X_16GF_Weights)
def regnet_x_16gf(*, weights: RegNet_X_16GF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet X of 16 thousand million multiply-adds, 54,278,536 parameters."""
    return _build("x_16gf", weights, progress, kwargs)


@model(RegNet_X_32GF_Weights)
def regnet_x_32gf(*, weights: RegNet_X_32GF_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RegNet:
    """RegNet X of 32 thousand million multiply-adds, 107,811,560 parameters."""
    return _build("x_32gf", weights, progress, kwargs)
