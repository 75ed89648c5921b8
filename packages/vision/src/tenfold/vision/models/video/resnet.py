"""Residual networks for video, key for key with torchvision's checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tenfold import Tensor, nn
from tenfold.vision.models.catalog.video import MC3_18_Weights, R2Plus1D_18_Weights, R3D_18_Weights
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import WeightsEnum, with_weights

Layer = Callable[..., nn.Module]


class Conv3DSimple(nn.Conv3d):
    """3x3x3."""

    def __init__(self, in_planes: int, out_planes: int, midplanes: int | None = None, stride: int = 1, padding: int = 1) -> None:
        super().__init__(in_planes, out_planes, (3, 3, 3), stride=stride, padding=padding, bias=False)

    @staticmethod
    def get_downsample_stride(stride: int) -> tuple[int, int, int]:
        """How a shortcut's convolution strides."""
        return stride, stride, stride


class Conv3DNoTemporal(nn.Conv3d):
    """1x3x3: each frame by itself."""

    def __init__(self, in_planes: int, out_planes: int, midplanes: int | None = None, stride: int = 1, padding: int = 1) -> None:
        kernel, step, around = (1, 3, 3), (1, stride, stride), (0, padding, padding)
        super().__init__(in_planes, out_planes, kernel, stride=step, padding=around, bias=False)

    @staticmethod
    def get_downsample_stride(stride: int) -> tuple[int, int, int]:
        """How a shortcut's convolution strides."""
        return 1, stride, stride


class Conv2Plus1D(nn.Sequential):
    """1x3x3 and then 3x1x1, with norm and ReLU between."""

    def __init__(self, in_planes: int, out_planes: int, midplanes: int, stride: int = 1, padding: int = 1) -> None:
        super().__init__(
            nn.Conv3d(in_planes, midplanes, (1, 3, 3), (1, stride, stride), (0, padding, padding), bias=False),
            nn.BatchNorm3d(midplanes),
            nn.ReLU(inplace=True),
            nn.Conv3d(midplanes, out_planes, (3, 1, 1), (stride, 1, 1), (padding, 0, 0), bias=False),
        )

    @staticmethod
    def get_downsample_stride(stride: int) -> tuple[int, int, int]:
        """How a shortcut's convolution strides."""
        return stride, stride, stride


class BasicBlock(nn.Module):
    """Two convolutions around a shortcut; between them as many planes as a full 3x3x3 would have parameters for."""

    expansion = 1

    def __init__(
        self, inplanes: int, planes: int, conv_builder: Layer, stride: int = 1, downsample: nn.Module | None = None
    ) -> None:
        super().__init__()
        between = (inplanes * planes * 27) // (inplanes * 9 + 3 * planes)
        self.conv1 = nn.Sequential(conv_builder(inplanes, planes, between, stride), nn.BatchNorm3d(planes), nn.ReLU(inplace=True))
        self.conv2 = nn.Sequential(conv_builder(planes, planes, between), nn.BatchNorm3d(planes))
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        result: Tensor = self.relu(self.conv2(self.conv1(x)) + shortcut)
        return result


class BasicStem(nn.Sequential):
    """The first convolution: 3x7x7."""

    def __init__(self) -> None:
        convolution = nn.Conv3d(3, 64, (3, 7, 7), stride=(1, 2, 2), padding=(1, 3, 3), bias=False)
        super().__init__(convolution, nn.BatchNorm3d(64), nn.ReLU(inplace=True))


class R2Plus1dStem(nn.Sequential):
    """The first convolution in two: 1x7x7, then 3x1x1."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv3d(3, 45, (1, 7, 7), stride=(1, 2, 2), padding=(0, 3, 3), bias=False),
            nn.BatchNorm3d(45),
            nn.ReLU(inplace=True),
            nn.Conv3d(45, 64, (3, 1, 1), stride=(1, 1, 1), padding=(1, 0, 0), bias=False),
            nn.BatchNorm3d(64),
            nn.ReLU(inplace=True),
        )


class VideoResNet(nn.Module):
    """An 18-layer residual network over time and space.

    Shape: (N, 3, T, H, W) -> (N, num_classes).

    Source: D. Tran and others, A Closer Look at Spatiotemporal Convolutions for Action Recognition, arXiv:1711.11248.
    """

    def __init__(
        self,
        block: Layer,
        conv_makers: Sequence[Layer],
        layers: Sequence[int],
        stem: Callable[[], nn.Module],
        num_classes: int = 400,
        zero_init_residual: bool = False,
    ) -> None:
        super().__init__()
        self.inplanes = 64
        self.stem = stem()
        for number, (width, maker, count) in enumerate(zip((64, 128, 256, 512), conv_makers, layers, strict=True), 1):
            self.add_module(f"layer{number}", self._stage(block, maker, width, count, 1 if number == 1 else 2))
        self.avgpool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.fc = nn.Linear(512, num_classes)
        _initialise(self)
        for part in self.modules() if zero_init_residual else ():
            if isinstance(part, BasicBlock):
                nn.init.zeros_(part.conv2[-1].weight)

    def _stage(self, block: Layer, maker: Any, width: int, count: int, stride: int) -> nn.Sequential:
        shortcut = None
        if stride != 1 or self.inplanes != width:
            step = maker.get_downsample_stride(stride)
            shortcut = nn.Sequential(nn.Conv3d(self.inplanes, width, 1, stride=step, bias=False), nn.BatchNorm3d(width))
        blocks = [block(self.inplanes, width, maker, stride, shortcut)]
        self.inplanes = width
        return nn.Sequential(*blocks, *(block(width, width, maker) for _ in range(1, count)))

    def forward(self, x: Tensor) -> Tensor:
        x = self.layer4(self.layer3(self.layer2(self.layer1(self.stem(x)))))
        result: Tensor = self.fc(self.avgpool(x).flatten(1))
        return result


def _initialise(network: nn.Module) -> None:
    for module in network.modules():
        if isinstance(module, nn.Conv3d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.BatchNorm3d):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, 0, 0.01)
            nn.init.zeros_(module.bias)


def _build(
    makers: Sequence[Layer], stem: Layer, catalog: type[WeightsEnum], weights: Any, progress: bool, options: dict[str, Any]
) -> VideoResNet:
    make = partial(VideoResNet, BasicBlock, makers, [2, 2, 2, 2], stem)
    return with_weights(make, catalog, weights, progress, options)


@model(R3D_18_Weights)
def r3d_18(*, weights: R3D_18_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VideoResNet:
    """18 layers of 3x3x3, 33,371,472 parameters."""
    return _build([Conv3DSimple] * 4, BasicStem, R3D_18_Weights, weights, progress, kwargs)


@model(MC3_18_Weights)
def mc3_18(*, weights: MC3_18_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VideoResNet:
    """18 layers, the later ones of each frame by itself, 11,695,440 parameters."""
    return _build([Conv3DSimple] + [Conv3DNoTemporal] * 3, BasicStem, MC3_18_Weights, weights, progress, kwargs)


@model(R2Plus1D_18_Weights)
def r2plus1d_18(*, weights: R2Plus1D_18_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VideoResNet:
    """18 layers of space, then time, 31,505,325 parameters."""
    return _build([Conv2Plus1D] * 4, R2Plus1dStem, R2Plus1D_18_Weights, weights, progress, kwargs)
