"""DenseNet, key for key with torchvision's checkpoints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import dropout
from tenfold.vision.models.catalog.convolutional import (
    DenseNet121_Weights,
    DenseNet161_Weights,
    DenseNet169_Weights,
    DenseNet201_Weights,
)
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import WeightsEnum, with_weights

# the published files name layers "norm.1", which a path of submodules cannot hold
FORMER_KEY = re.compile(r"(.*denselayer\d+\.(?:norm|relu|conv))\.((?:[12])\..+)")


class _DenseLayer(nn.Module):
    """Norm, activation and convolution twice: to ``bn_size`` times the growth, then to the growth."""

    def __init__(self, num_input_features: int, growth_rate: int, bn_size: int, drop_rate: float) -> None:
        super().__init__()
        inner = bn_size * growth_rate
        self.norm1 = nn.BatchNorm2d(num_input_features)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(num_input_features, inner, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(inner)
        self.relu2 = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(inner, growth_rate, 3, padding=1, bias=False)
        self.drop_rate = float(drop_rate)

    def forward(self, maps: Sequence[Tensor]) -> Tensor:
        narrow = self.conv1(self.relu1(self.norm1(tenfold.cat(list(maps), 1))))
        new: Tensor = self.conv2(self.relu2(self.norm2(narrow)))
        return dropout(new, self.drop_rate, self.training) if self.drop_rate > 0 else new


class _DenseBlock(nn.ModuleDict):
    """Layers of which each sees the maps of all before it."""

    def __init__(self, num_layers: int, num_input_features: int, bn_size: int, growth_rate: int, drop_rate: float) -> None:
        super().__init__()
        for i in range(num_layers):
            inputs = num_input_features + i * growth_rate
            self.add_module(f"denselayer{i + 1}", _DenseLayer(inputs, growth_rate, bn_size, drop_rate))

    def forward(self, features: Tensor) -> Tensor:
        maps = [features]
        for layer in self.values():
            maps.append(layer(maps))
        return tenfold.cat(maps, 1)


class _Transition(nn.Sequential):
    """Fewer channels, by a 1x1 convolution, and half the size."""

    def __init__(self, num_input_features: int, num_output_features: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(num_input_features)
        self.relu = nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(num_input_features, num_output_features, 1, bias=False)
        self.pool = nn.AvgPool2d(2, 2)


class DenseNet(nn.Module):
    """Dense blocks, between which channels and sizes are halved.

    ``memory_efficient`` is accepted and changes nothing: inner results are not computed a second time.

    Shape: (N, 3, H, W) -> (N, num_classes), pictures of 29 pixels at least.

    Source: G. Huang, Z. Liu, L. van der Maaten, K. Q. Weinberger, Densely Connected Convolutional Networks, arXiv:1608.06993.
    """

    def __init__(
        self,
        growth_rate: int = 32,
        block_config: Sequence[int] = (6, 12, 24, 16),
        num_init_features: int = 64,
        bn_size: int = 4,
        drop_rate: float = 0,
        num_classes: int = 1000,
        memory_efficient: bool = False,
    ) -> None:
        super().__init__()
        self.features = nn.Sequential()
        self.features.add_module("conv0", nn.Conv2d(3, num_init_features, 7, stride=2, padding=3, bias=False))
        self.features.add_module("norm0", nn.BatchNorm2d(num_init_features))
        self.features.add_module("relu0", nn.ReLU(inplace=True))
        self.features.add_module("pool0", nn.MaxPool2d(3, stride=2, padding=1))
        width = num_init_features
        for number, layers in enumerate(block_config, 1):
            self.features.add_module(f"denseblock{number}", _DenseBlock(layers, width, bn_size, growth_rate, drop_rate))
            width += layers * growth_rate
            if number < len(block_config):
                self.features.add_module(f"transition{number}", _Transition(width, width // 2))
                width //= 2
        self.features.add_module(f"norm{len(block_config) + 1}", nn.BatchNorm2d(width))
        self.classifier = nn.Linear(width, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)
        nn.init.zeros_(self.classifier.bias)

    def forward(self, x: Tensor) -> Tensor:
        maps = self.features(x).relu()
        result: Tensor = self.classifier(nn.functional.adaptive_avg_pool2d(maps, (1, 1)).flatten(1))
        return result


def _present_names(state: dict[str, Any]) -> dict[str, Any]:
    return {FORMER_KEY.sub(r"\1\2", name): value for name, value in state.items()}


def _build(
    growth: int,
    blocks: Sequence[int],
    width: int,
    catalog: type[WeightsEnum],
    weights: Any,
    progress: bool,
    options: dict[str, Any],
) -> DenseNet:
    return with_weights(partial(DenseNet, growth, blocks, width), catalog, weights, progress, options, rename=_present_names)


@model(DenseNet121_Weights)
def densenet121(*, weights: DenseNet121_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> DenseNet:
    """DenseNet-121, 7,978,856 parameters."""
    return _build(32, (6, 12, 24, 16), 64, DenseNet121_Weights, weights, progress, kwargs)


@model(DenseNet161_Weights)
def densenet161(*, weights: DenseNet161_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> DenseNet:
    """DenseNet-161, 28,681,000 parameters."""
    return _build(48, (6, 12, 36, 24), 96, DenseNet161_Weights, weights, progress, kwargs)


@model(DenseNet169_Weights)
def densenet169(*, weights: DenseNet169_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> DenseNet:
    """DenseNet-169, 14,149,480 parameters."""
    return _build(32, (6, 12, 32, 32), 64, DenseNet169_Weights, weights, progress, kwargs)


@model(DenseNet201_Weights)
def densenet201(*, weights: DenseNet201_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> DenseNet:
    """DenseNet-201, 20,013,928 parameters."""
    return _build(32, (6, 12, 48, 32), 64, DenseNet201_Weights, weights, progress, kwargs)
