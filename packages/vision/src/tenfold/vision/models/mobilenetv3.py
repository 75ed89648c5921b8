"""MobileNet v3, key for key with torchvision's checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tenfold import Tensor, nn
from tenfold.vision.models.catalog.mobile import MobileNet_V3_Large_Weights, MobileNet_V3_Small_Weights
from tenfold.vision.models.mobilenetv2 import initialise
from tenfold.vision.models.registry import model
from tenfold.vision.models.sizes import make_divisible
from tenfold.vision.models.weights import WeightsEnum, with_weights
from tenfold.vision.ops.misc import Conv2dNormActivation, SqueezeExcitation

Layer = Callable[..., nn.Module]

# Tables 1 and 2 of the paper: kernel, expanded and output width, squeeze and excitation, hard swish, stride.
# The last three blocks are those that `dilated` dilates and `reduced_tail` halves.
LARGE = (
    (3, 16, 16, False, False, 1), (3, 64, 24, False, False, 2), (3, 72, 24, False, False, 1), (5, 72, 40, True, False, 2),
    (5, 120, 40, True, False, 1), (5, 120, 40, True, False, 1), (3, 240, 80, False, True, 2), (3, 200, 80, False, True, 1),
    (3, 184, 80, False, True, 1), (3, 184, 80, False, True, 1), (3, 480, 112, True, True, 1), (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2), (5, 960, 160, True, True, 1), (5, 960, 160, True, True, 1),
)  # fmt: skip
SMALL = (
    (3, 16, 16, True, False, 2), (3, 72, 24, False, False, 2), (3, 88, 24, False, False, 1), (5, 96, 40, True, True, 2),
    (5, 240, 40, True, True, 1), (5, 240, 40, True, True, 1), (5, 120, 48, True, True, 1), (5, 144, 48, True, True, 1),
    (5, 288, 96, True, True, 2), (5, 576, 96, True, True, 1), (5, 576, 96, True, True, 1),
)  # fmt: skip
TAIL = 3
LAST_CHANNELS = {"mobilenet_v3_large": 1280, "mobilenet_v3_small": 1024}


@dataclass
class InvertedResidualConfig:
    """One block; widths are scaled by ``width_mult`` as they come in."""

    input_channels: int
    kernel: int
    expanded_channels: int
    out_channels: int
    use_se: bool
    activation: str
    stride: int
    dilation: int
    width_mult: float = 1.0

    def __post_init__(self) -> None:
        for name in ("input_channels", "expanded_channels", "out_channels"):
            setattr(self, name, self.adjust_channels(getattr(self, name), self.width_mult))
        self.use_hs = self.activation == "HS"

    @staticmethod
    def adjust_channels(channels: int, width_mult: float) -> int:
        """A width scaled, in eights."""
        return make_divisible(channels * width_mult, 8)


class InvertedResidual(nn.Module):
    """Widen, convolve each channel by itself, weigh the channels, narrow; around a shortcut where sizes agree."""

    def __init__(self, cnf: InvertedResidualConfig, norm_layer: Layer, se_layer: Layer | None = None) -> None:
        super().__init__()
        if cnf.stride not in (1, 2):
            raise ValueError(f"illegal stride value: {cnf.stride}; 1 or 2 expected")
        squeeze_excitation = partial(SqueezeExcitation, scale_activation=nn.Hardsigmoid) if se_layer is None else se_layer
        unit = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.Hardswish if cnf.use_hs else nn.ReLU)
        wide = cnf.expanded_channels
        parts: list[nn.Module] = []
        if wide != cnf.input_channels:
            parts.append(unit(cnf.input_channels, wide, 1))
        stride = 1 if cnf.dilation > 1 else cnf.stride
        parts.append(unit(wide, wide, cnf.kernel, stride, dilation=cnf.dilation, groups=wide))
        if cnf.use_se:
            parts.append(squeeze_excitation(wide, make_divisible(wide // 4, 8)))
        parts.append(Conv2dNormActivation(wide, cnf.out_channels, 1, norm_layer=norm_layer, activation_layer=None))
        self.block = nn.Sequential(*parts)
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.out_channels = cnf.out_channels
        self._is_cn = cnf.stride > 1  # its result is a level of its own for detection and segmentation

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = self.block(input)
        return result + input if self.use_res_connect else result


class MobileNetV3(nn.Module):
    """Inverted residuals with hard swish and squeeze and excitation.

    Shape: (N, 3, H, W) -> (N, num_classes).

    Raises:
        ValueError: there are no blocks.
        TypeError: a block's settings are no `InvertedResidualConfig`.

    Source: A. Howard and others, Searching for MobileNetV3, arXiv:1905.02244.
    """

    def __init__(
        self,
        inverted_residual_setting: Sequence[InvertedResidualConfig],
        last_channel: int,
        num_classes: int = 1000,
        block: Layer | None = None,
        norm_layer: Layer | None = None,
        dropout: float = 0.2,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if not inverted_residual_setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not all(isinstance(setting, InvertedResidualConfig) for setting in inverted_residual_setting):
            raise TypeError("The inverted_residual_setting should be a list of InvertedResidualConfig")
        block = InvertedResidual if block is None else block
        norm = partial(nn.BatchNorm2d, eps=0.001, momentum=0.01) if norm_layer is None else norm_layer
        unit = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=nn.Hardswish)
        final = inverted_residual_setting[-1].out_channels
        self.features = nn.Sequential(
            unit(3, inverted_residual_setting[0].input_channels, 3, 2),
            *(block(setting, norm) for setting in inverted_residual_setting),
            unit(final, 6 * final, 1),
        )
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(6 * final, last_channel),
            nn.Hardswish(inplace=True),
            nn.Dropout(dropout, inplace=True),
            nn.Linear(last_channel, num_classes),
        )
        initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.classifier(self.avgpool(self.features(x)).flatten(1))
        return result


def settings(
    arch: str, width_mult: float = 1.0, reduced_tail: bool = False, dilated: bool = False, **_: Any
) -> tuple[list[InvertedResidualConfig], int]:
    """The blocks of a network, and the width of its last layer but one."""
    table = {"mobilenet_v3_large": LARGE, "mobilenet_v3_small": SMALL}[arch]
    divisor, dilation = (2 if reduced_tail else 1), (2 if dilated else 1)
    inputs = 16
    blocks = []
    for i, (kernel, wide, outputs, se, swish, stride) in enumerate(table):
        place = i - (len(table) - TAIL)  # 0, 1, 2 in the tail
        outputs = outputs // divisor if place >= 0 else outputs
        wide = wide // divisor if place >= 1 else wide
        rate = dilation if place >= 0 else 1
        row = (inputs, kernel, wide, outputs, se, "HS" if swish else "RE", stride, rate, width_mult)
        blocks.append(InvertedResidualConfig(*row))
        inputs = outputs
    return blocks, InvertedResidualConfig.adjust_channels(LAST_CHANNELS[arch] // divisor, width_mult)


def _build(arch: str, catalog: type[WeightsEnum], weights: Any, progress: bool, options: dict[str, Any]) -> MobileNetV3:
    return with_weights(partial(MobileNetV3, *settings(arch, **options)), catalog, weights, progress, options)


@model(MobileNet_V3_Large_Weights)
def mobilenet_v3_large(
    *, weights: MobileNet_V3_Large_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> MobileNetV3:
    """MobileNet v3 large, 5,483,032 parameters."""
    return _build("mobilenet_v3_large", MobileNet_V3_Large_Weights, weights, progress, kwargs)


@model(MobileNet_V3_Small_Weights)
def mobilenet_v3_small(
    *, weights: MobileNet_V3_Small_Weights | str | None = None, progress: bool = True, **kwargs: Any
) -> MobileNetV3:
    """MobileNet v3 small, 2,542,856 parameters."""
    return _build("mobilenet_v3_small", MobileNet_V3_Small_Weights, weights, progress, kwargs)
