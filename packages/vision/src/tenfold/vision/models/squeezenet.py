"""SqueezeNet, key for key with torchvision's checkpoints."""

from __future__ import annotations

from functools import partial
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.catalog.mobile import SqueezeNet1_0_Weights, SqueezeNet1_1_Weights
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import with_weights

# the first convolution's width and kernel, then fire modules as (squeezed, expanded), None for a halving
PLANS: dict[str, tuple[tuple[int, int], tuple[tuple[int, int] | None, ...]]] = {
    "1_0": ((96, 7), (None, (16, 64), (16, 64), (32, 128), None, (32, 128), (48, 192), (48, 192), (64, 256), None, (64, 256))),
    "1_1": ((64, 3), (None, (16, 64), (16, 64), None, (32, 128), (32, 128), None, (48, 192), (48, 192), (64, 256), (64, 256))),
}


class Fire(nn.Module):
    """A 1x1 convolution that narrows, then a 1x1 and a 3x3 one beside each other."""

    def __init__(self, inplanes: int, squeeze_planes: int, expand1x1_planes: int, expand3x3_planes: int) -> None:
        super().__init__()
        self.inplanes = inplanes
        self.squeeze = nn.Conv2d(inplanes, squeeze_planes, 1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeeze_planes, expand1x1_planes, 1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeeze_planes, expand3x3_planes, 3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        narrow = self.squeeze_activation(self.squeeze(x))
        wide = [self.expand1x1_activation(self.expand1x1(narrow)), self.expand3x3_activation(self.expand3x3(narrow))]
        return tenfold.cat(wide, 1)


class SqueezeNet(nn.Module):
    """Fire modules with halvings between them; version "1_1" halves earlier and costs 2.4 times less.

    Shape: (N, 3, H, W) -> (N, num_classes), pictures of 21 ("1_0") or 17 pixels at least.

    Raises:
        ValueError: an unknown version.

    Source: F. N. Iandola and others, SqueezeNet, arXiv:1602.07360.
    """

    def __init__(self, version: str = "1_0", num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        if version not in PLANS:
            raise ValueError(f"Unsupported SqueezeNet version {version}: 1_0 or 1_1 expected")
        self.num_classes = num_classes
        (width, kernel), plan = PLANS[version]
        parts: list[nn.Module] = [nn.Conv2d(3, width, kernel, stride=2), nn.ReLU(inplace=True)]
        for step in plan:
            if step is None:
                parts.append(nn.MaxPool2d(3, 2, ceil_mode=True))
            else:
                parts.append(Fire(width, step[0], step[1], step[1]))
                width = 2 * step[1]
        self.features = nn.Sequential(*parts)
        last = nn.Conv2d(width, num_classes, 1)
        self.classifier = nn.Sequential(nn.Dropout(dropout), last, nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1)))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        nn.init.normal_(last.weight, 0.0, 0.01)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.classifier(self.features(x)).flatten(1)
        return result


@model(SqueezeNet1_0_Weights)
def squeezenet1_0(*, weights: SqueezeNet1_0_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.0, 1,248,424 parameters."""
    return with_weights(partial(SqueezeNet, "1_0"), SqueezeNet1_0_Weights, weights, progress, kwargs)


@model(SqueezeNet1_1_Weights)
def squeezenet1_1(*, weights: SqueezeNet1_1_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.1, 1,235,496 parameters."""
    return with_weights(partial(SqueezeNet, "1_1"), SqueezeNet1_1_Weights, weights, progress, kwargs)
