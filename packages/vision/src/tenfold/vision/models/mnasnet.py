"""MNASNet, key for key with torchvision's checkpoints."""

from __future__ import annotations

from functools import partial
from typing import Any

from tenfold import Tensor, nn
from tenfold.vision.models.catalog.mobile import (
    MNASNet0_5_Weights,
    MNASNet0_75_Weights,
    MNASNet1_0_Weights,
    MNASNet1_3_Weights,
)
from tenfold.vision.models.registry import model
from tenfold.vision.models.sizes import make_divisible
from tenfold.vision.models.weights import with_weights

MOMENTUM = 1 - 0.9997  # the paper's 0.9997 is what is kept
# Figure 7 of the paper: width, kernel, stride, expansion, repetitions
STACKS = ((24, 3, 2, 3, 3), (40, 5, 2, 3, 3), (80, 5, 2, 6, 3), (96, 3, 1, 6, 2), (192, 5, 2, 6, 4), (320, 3, 1, 6, 1))


class _InvertedResidual(nn.Module):
    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inputs * expansion
        self.apply_residual = inputs == outputs and stride == 1
        self.layers = nn.Sequential(
            *_unit(inputs, wide, 1),
            *_unit(wide, wide, kernel, stride=stride, padding=kernel // 2, groups=wide),
            nn.Conv2d(wide, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs, momentum=MOMENTUM),
        )

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = self.layers(input)
        return result + input if self.apply_residual else result


def _unit(inputs: int, outputs: int, kernel: int, **options: Any) -> tuple[nn.Module, ...]:
    convolution = nn.Conv2d(inputs, outputs, kernel, bias=False, **options)
    return convolution, nn.BatchNorm2d(outputs, momentum=MOMENTUM), nn.ReLU(inplace=True)


class MNASNet(nn.Module):
    """The network that a search for accuracy and speed on a phone found, its widths scaled by ``alpha``.

    Shape: (N, 3, H, W) -> (N, num_classes).

    Raises:
        ValueError: ``alpha`` is not positive.

    Source: M. Tan and others, MnasNet: Platform-Aware Neural Architecture Search for Mobile, arXiv:1807.11626.
    """

    def __init__(self, alpha: float, num_classes: int = 1000, dropout: float = 0.2) -> None:
        super().__init__()
        if alpha <= 0.0:
            raise ValueError(f"alpha should be greater than 0.0 instead of {alpha}")
        self.alpha = alpha
        self.num_classes = num_classes
        first, width = make_divisible(32 * alpha, 8), make_divisible(16 * alpha, 8)
        parts = [
            *_unit(3, first, 3, padding=1, stride=2),
            *_unit(first, first, 3, padding=1, groups=first),
            nn.Conv2d(first, width, 1, bias=False),
            nn.BatchNorm2d(width, momentum=MOMENTUM),
        ]
        for channels, kernel, stride, expansion, repeats in STACKS:
            outputs = make_divisible(channels * alpha, 8)
            blocks = [_InvertedResidual(width, outputs, kernel, stride, expansion)]
            blocks += [_InvertedResidual(outputs, outputs, kernel, 1, expansion) for _ in range(1, repeats)]
            parts.append(nn.Sequential(*blocks))
            width = outputs
        self.layers = nn.Sequential(*parts, *_unit(width, 1280, 1))
        self.classifier = nn.Sequential(nn.Dropout(dropout, inplace=True), nn.Linear(1280, num_classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.Linear):
                nn.init.kaiming_uniform_(module.weight, mode="fan_out", nonlinearity="sigmoid")
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.classifier(self.layers(x).mean([2, 3]))
        return result


@model(MNASNet0_5_Weights)
def mnasnet0_5(*, weights: MNASNet0_5_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> MNASNet:
    """MNASNet of half the width, 2,218,512 parameters."""
    return with_weights(partial(MNASNet, 0.5), MNASNet0_5_Weights, weights, progress, kwargs)


@model(MNASNet0_75_Weights)
def mnasnet0_75(*, weights: MNASNet0_75_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> MNASNet:
    """MNASNet of three quarters of the width, 3,170,208 parameters."""
    return with_weights(partial(MNASNet, 0.75), MNASNet0_75_Weights, weights, progress, kwargs)


@model(MNASNet1_0_Weights)
def mnasnet1_0(*, weights: MNASNet1_0_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> MNASNet:
    """MNASNet, 4,383,312 parameters."""
    return with_weights(partial(MNASNet, 1.0), MNASNet1_0_Weights, weights, progress, kwargs)


@model(MNASNet1_3_Weights)
def mnasnet1_3(*, weights: MNASNet1_3_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> MNASNet:
    """MNASNet of 1.3 times the width, 6,282,256 parameters."""
    return with_weights(partial(MNASNet, 1.3), MNASNet1_3_Weights, weights, progress, kwargs)
