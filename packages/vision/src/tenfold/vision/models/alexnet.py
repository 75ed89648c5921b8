"""AlexNet, key for key with torchvision's checkpoint."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor, nn
from tenfold.vision.models.catalog.convolutional import AlexNet_Weights
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import with_weights


class AlexNet(nn.Module):
    """Five convolutions and three linear layers, as in "One weird trick for parallelizing CNNs" (arXiv:1404.5997).

    Shape: (N, 3, H, W) -> (N, num_classes), pictures of 63 pixels at least.
    """

    def __init__(self, num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *_convolution(3, 64, 11, stride=4, padding=2), nn.MaxPool2d(3, 2),
            *_convolution(64, 192, 5, padding=2), nn.MaxPool2d(3, 2),
            *_convolution(192, 384, 3, padding=1), *_convolution(384, 256, 3, padding=1), *_convolution(256, 256, 3, padding=1),
            nn.MaxPool2d(3, 2),
        )  # fmt: skip
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(256 * 6 * 6, 4096), nn.ReLU(inplace=True),
            nn.Dropout(dropout), nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Linear(4096, num_classes),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.classifier(self.avgpool(self.features(x)).flatten(1))
        return result


def _convolution(inputs: int, outputs: int, kernel: int, **options: Any) -> tuple[nn.Module, nn.Module]:
    return nn.Conv2d(inputs, outputs, kernel, **options), nn.ReLU(inplace=True)


@model(AlexNet_Weights)
def alexnet(*, weights: AlexNet_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> AlexNet:
    """AlexNet, 61,100,840 parameters."""
    return with_weights(AlexNet, AlexNet_Weights, weights, progress, kwargs)
