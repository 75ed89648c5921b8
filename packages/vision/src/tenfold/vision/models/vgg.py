"""VGG networks, key for key with torchvision's checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from tenfold import Tensor, nn
from tenfold.vision.models.catalog.convolutional import (
    VGG11_BN_Weights,
    VGG11_Weights,
    VGG13_BN_Weights,
    VGG13_Weights,
    VGG16_BN_Weights,
    VGG16_Weights,
    VGG19_BN_Weights,
    VGG19_Weights,
)
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import WeightsEnum, with_weights

# Table 1 of the paper: the widths of the 3x3 convolutions of each stage, between which pictures are halved
STAGES = {
    11: ((64,), (128,), (256, 256), (512, 512), (512, 512)),
    13: ((64, 64), (128, 128), (256, 256), (512, 512), (512, 512)),
    16: ((64, 64), (128, 128), (256,) * 3, (512,) * 3, (512,) * 3),
    19: ((64, 64), (128, 128), (256,) * 4, (512,) * 4, (512,) * 4),
}


class VGG(nn.Module):
    """Stages of 3x3 convolutions and three linear layers (arXiv:1409.1556).

    Shape: (N, 3, H, W) -> (N, num_classes), pictures of 32 pixels at least.
    """

    def __init__(self, features: nn.Module, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5) -> None:
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096), nn.ReLU(True), nn.Dropout(dropout),
            nn.Linear(4096, 4096), nn.ReLU(True), nn.Dropout(dropout), nn.Linear(4096, num_classes),
        )  # fmt: skip
        if init_weights:
            for module in self.modules():
                _initialise(module)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.classifier(self.avgpool(self.features(x)).flatten(1))
        return result


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    elif isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, 0, 0.01)
    elif isinstance(module, nn.BatchNorm2d):
        nn.init.ones_(module.weight)
    if isinstance(module, (nn.Conv2d, nn.Linear, nn.BatchNorm2d)) and module.bias is not None:
        nn.init.zeros_(module.bias)


def _layers(stages: Sequence[Sequence[int]], batch_norm: bool) -> Iterator[nn.Module]:
    inputs = 3
    for widths in stages:
        for width in widths:
            yield nn.Conv2d(inputs, width, 3, padding=1)
            if batch_norm:
                yield nn.BatchNorm2d(width)
            yield nn.ReLU(inplace=True)
            inputs = width
        yield nn.MaxPool2d(2, 2)


def make_layers(cfg: Sequence[int | str], batch_norm: bool = False) -> nn.Sequential:
    """The convolutions of a network given as torchvision does: widths, and "M" where pictures are halved.

    >>> len(make_layers([8, "M", 16, 16, "M"]))
    8
    """
    stages: list[list[int]] = [[]]
    for width in cfg:
        if isinstance(width, str):
            stages.append([])
        else:
            stages[-1].append(width)
    return nn.Sequential(*list(_layers(stages, batch_norm))[:-1])  # a stage ends in a halving, the last does not


def _vgg(depth: int, batch_norm: bool, catalog: type[WeightsEnum], weights: Any, progress: bool, options: dict[str, Any]) -> VGG:
    if weights is not None:
        options["init_weights"] = False
    make = partial(VGG, nn.Sequential(*_layers(STAGES[depth], batch_norm)))
    return with_weights(make, catalog, weights, progress, options)


@model(VGG11_Weights)
def vgg11(*, weights: VGG11_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VGG:
    """VGG-11, 132,863,336 parameters."""
    return _vgg(11, False, VGG11_Weights, weights, progress, kwargs)


@model(VGG11_BN_Weights)
def vgg11_bn(*, weights: VGG11_BN_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VGG:
    """VGG-11 with batch normalization, 132,868,840 parameters."""
    return _vgg(11, True, VGG11_BN_Weights, weights, progress, kwargs)


@model(VGG13_Weights)
def vgg13(*, weights: VGG13_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VGG:
    """VGG-13, 133,047,848 parameters."""
    return _vgg(13, False, VGG13_Weights, weights, progress, kwargs)


@model(VGG13_BN_Weights)
def vgg13_bn(*, weights: VGG13_BN_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VGG:
    """VGG-13 with batch normalization, 133,053,736 parameters."""
    return _vgg(13, True, VGG13_BN_Weights, weights, progress, kwargs)


@model(VGG16_Weights)
def vgg16(*, weights: VGG16_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VGG:
    """VGG-16, 138,357,544 parameters."""
    return _vgg(16, False, VGG16_Weights, weights, progress, kwargs)


@model(VGG16_BN_Weights)
def vgg16_bn(*, weights: VGG16_BN_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VGG:
    """VGG-16 with batch normalization, 138,365,992 parameters."""
    return _vgg(16, True, VGG16_BN_Weights, weights, progress, kwargs)


@model(VGG19_Weights)
def vgg19(*, weights: VGG19_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VGG:
    """VGG-19, 143,667,240 parameters."""
    return _vgg(19, False, VGG19_Weights, weights, progress, kwargs)


@model(VGG19_BN_Weights)
def vgg19_bn(*, weights: VGG19_BN_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VGG:
    """VGG-19 with batch normalization, 143,678,248 parameters."""
    return _vgg(19, True, VGG19_BN_Weights, weights, progress, kwargs)
