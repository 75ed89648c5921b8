"""Residual networks: ResNet, ResNeXt and Wide ResNet, key for key with torchvision's checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tenfold import Tensor, nn
from tenfold.vision.models.catalog.convolutional import (
    ResNet18_Weights,
    ResNet34_Weights,
    ResNet50_Weights,
    ResNet101_Weights,
    ResNet152_Weights,
    ResNeXt50_32X4D_Weights,
    ResNeXt101_32X8D_Weights,
    ResNeXt101_64X4D_Weights,
    Wide_ResNet50_2_Weights,
    Wide_ResNet101_2_Weights,
)
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import WeightsEnum, with_weights

Norm = Callable[[int], nn.Module]


def conv3x3(in_planes: int, out_planes: int, stride: int = 1, groups: int = 1, dilation: int = 1) -> nn.Conv2d:
    """A 3x3 convolution without bias, padded to keep the size at stride 1."""
    return nn.Conv2d(in_planes, out_planes, 3, stride, padding=dilation, groups=groups, bias=False, dilation=dilation)


def conv1x1(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    """A 1x1 convolution without bias."""
    return nn.Conv2d(in_planes, out_planes, 1, stride, bias=False)


class BasicBlock(nn.Module):
    """Two 3x3 convolutions around a shortcut."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Norm | None = None,
    ) -> None:
        super().__init__()
        norm = nn.BatchNorm2d if norm_layer is None else norm_layer
        if groups != 1 or base_width != 64:
            raise ValueError(
                f"BasicBlock only supports groups=1 and base_width=64, got {groups} and {base_width}; use Bottleneck"
            )
        if dilation > 1:
            raise NotImplementedError(f"Dilation > 1 not supported in BasicBlock, got {dilation}; use Bottleneck")
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x if self.downsample is None else self.downsample(x)
        result: Tensor = self.relu(out)
        return result


class Bottleneck(nn.Module):
    """A 3x3 convolution between two 1x1 ones that narrow and widen, around a shortcut.

    The stride is in the 3x3 convolution, not in the first as in the paper ("ResNet v1.5").
    """

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Norm | None = None,
    ) -> None:
        super().__init__()
        norm = nn.BatchNorm2d if norm_layer is None else norm_layer
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        result: Tensor = self.relu(out)
        return result


Block = type[BasicBlock] | type[Bottleneck]


class ResNet(nn.Module):
    """A residual network of four stages of ``layers`` blocks each.

    ``replace_stride_with_dilation`` says of the last three stages whether they keep the resolution and dilate instead;
    ``zero_init_residual`` lets every block start as the identity.

    Shape: (N, 3, H, W) -> (N, num_classes), logits.

    Raises:
        ValueError: ``replace_stride_with_dilation`` does not have three elements.

    Source: K. He, X. Zhang, S. Ren, J. Sun, Deep Residual Learning for Image Recognition, arXiv:1512.03385.
    """

    def __init__(
        self,
        block: Block,
        layers: Sequence[int],
        num_classes: int = 1000,
        zero_init_residual: bool = False,
        groups: int = 1,
        width_per_group: int = 64,
        replace_stride_with_dilation: Sequence[bool] | None = None,
        norm_layer: Norm | None = None,
    ) -> None:
        super().__init__()
        dilate = (False, False, False) if replace_stride_with_dilation is None else replace_stride_with_dilation
        if len(dilate) != 3:
            raise ValueError(f"ResNet: replace_stride_with_dilation should be None or a 3-element tuple, got {dilate}")
        self._norm_layer: Norm = nn.BatchNorm2d if norm_layer is None else norm_layer
        self.inplanes = 64
        self.dilation = 1
        self.groups = groups
        self.base_width = width_per_group
        self.conv1 = nn.Conv2d(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = self._norm_layer(self.inplanes)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], stride=2, dilate=dilate[0])
        self.layer3 = self._make_layer(block, 256, layers[2], stride=2, dilate=dilate[1])
        self.layer4 = self._make_layer(block, 512, layers[3], stride=2, dilate=dilate[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        self._initialize(zero_init_residual)

    def _make_layer(self, block: Block, planes: int, blocks: int, stride: int = 1, dilate: bool = False) -> nn.Sequential:
        first_dilation = self.dilation
        if dilate:
            self.dilation *= stride
            stride = 1
        out_planes = planes * block.expansion
        shortcut = None
        if stride != 1 or self.inplanes != out_planes:
            shortcut = nn.Sequential(conv1x1(self.inplanes, out_planes, stride), self._norm_layer(out_planes))
        shared = (self.groups, self.base_width)
        stage = [block(self.inplanes, planes, stride, shortcut, *shared, first_dilation, self._norm_layer)]
        self.inplanes = out_planes
        stage += [block(out_planes, planes, 1, None, *shared, self.dilation, self._norm_layer) for _ in range(1, blocks)]
        return nn.Sequential(*stage)

    def _initialize(self, zero_init_residual: bool) -> None:
        """He's normal initialization of the convolutions by fan-out (arXiv:1502.01852); norms start at one and zero."""
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.BatchNorm2d | nn.GroupNorm):
                nn.init.constant_(module.weight, 1)
                nn.init.constant_(module.bias, 0)
        for block in self.modules() if zero_init_residual else ():
            if isinstance(block, BasicBlock | Bottleneck):
                last = block.bn3 if isinstance(block, Bottleneck) else block.bn2
                nn.init.constant_(last.weight, 0)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))  # (N, 64, H / 4, W / 4)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))  # (N, 512 * expansion, H / 32, W / 32)
        logits: Tensor = self.fc(self.avgpool(x).flatten(1))
        return logits


def _build(
    block: Block, layers: Sequence[int], catalog: type[WeightsEnum], weights: Any, progress: bool, options: dict[str, Any]
) -> ResNet:
    return with_weights(partial(ResNet, block, layers), catalog, weights, progress, options)


@model(ResNet18_Weights)
def resnet18(*, weights: ResNet18_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNet-18, 11,689,512 parameters."""
    return _build(BasicBlock, [2, 2, 2, 2], ResNet18_Weights, weights, progress, kwargs)


@model(ResNet34_Weights)
def resnet34(*, weights: ResNet34_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNet-34, 21,797,672 parameters."""
    return _build(BasicBlock, [3, 4, 6, 3], ResNet34_Weights, weights, progress, kwargs)


@model(ResNet50_Weights)
def resnet50(*, weights: ResNet50_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNet-50, 25,557,032 parameters."""
    return _build(Bottleneck, [3, 4, 6, 3], ResNet50_Weights, weights, progress, kwargs)


@model(ResNet101_Weights)
def resnet101(*, weights: ResNet101_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNet-101, 44,549,160 parameters."""
    return _build(Bottleneck, [3, 4, 23, 3], ResNet101_Weights, weights, progress, kwargs)


@model(ResNet152_Weights)
def resnet152(*, weights: ResNet152_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNet-152, 60,192,808 parameters."""
    return _build(Bottleneck, [3, 8, 36, 3], ResNet152_Weights, weights, progress, kwargs)


@model(ResNeXt50_32X4D_Weights)
def resnext50_32x4d(*, weights: ResNeXt50_32X4D_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNeXt-50, 32 groups of width 4 (arXiv:1611.05431), 25,028,904 parameters."""
    return _build(
        Bottleneck, [3, 4, 6, 3], ResNeXt50_32X4D_Weights, weights, progress, {**kwargs, "groups": 32, "width_per_group": 4}
    )


@model(ResNeXt101_32X8D_Weights)
def resnext101_32x8d(*, weights: ResNeXt101_32X8D_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNeXt-101, 32 groups of width 8, 88,791,336 parameters."""
    return _build(
        Bottleneck, [3, 4, 23, 3], ResNeXt101_32X8D_Weights, weights, progress, {**kwargs, "groups": 32, "width_per_group": 8}
    )


@model(ResNeXt101_64X4D_Weights)
def resnext101_64x4d(*, weights: ResNeXt101_64X4D_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNeXt-101, 64 groups of width 4, 83,455,272 parameters."""
    return _build(
        Bottleneck, [3, 4, 23, 3], ResNeXt101_64X4D_Weights, weights, progress, {**kwargs, "groups": 64, "width_per_group": 4}
    )


@model(Wide_ResNet50_2_Weights)
def wide_resnet50_2(*, weights: Wide_ResNet50_2_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNet-50 with blocks of twice the inner width (arXiv:1605.07146), 68,883,240 parameters."""
    return _build(Bottleneck, [3, 4, 6, 3], Wide_ResNet50_2_Weights, weights, progress, {**kwargs, "width_per_group": 128})


@model(Wide_ResNet101_2_Weights)
def wide_resnet101_2(*, weights: Wide_ResNet101_2_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> ResNet:
    """ResNet-101 with blocks of twice the inner width, 126,886,696 parameters."""
    return _build(Bottleneck, [3, 4, 23, 3], Wide_ResNet101_2_Weights, weights, progress, {**kwargs, "width_per_group": 128})
