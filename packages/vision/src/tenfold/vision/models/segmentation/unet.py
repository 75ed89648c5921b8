"""U-Net."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.registry import model


def _twice(inputs: int, outputs: int) -> nn.Sequential:
    """3x3, norm and ReLU, two times."""
    parts: list[nn.Module] = []
    for width in (inputs, outputs):
        parts += [nn.Conv2d(width, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]
    return nn.Sequential(*parts)


class UNet(nn.Module):
    """Down through halvings and up again, each level on the way up seeing that of its size on the way down.

    Convolutions are padded and normed, which the paper's are not, so that the result has the picture's size.

    Shape: (N, in_channels, H, W) -> (N, num_classes, H, W), sides divisible by 2 ** (len(widths) - 1).

    Raises:
        ValueError: a picture's sides are not divisible so.

    Source: O. Ronneberger, P. Fischer, T. Brox, U-Net, arXiv:1505.04597.

    >>> tuple(UNet(1, 3, widths=(4, 8))(tenfold.zeros(1, 1, 6, 8)).shape)
    (1, 3, 6, 8)
    """

    def __init__(self, in_channels: int = 3, num_classes: int = 2, widths: Sequence[int] = (64, 128, 256, 512, 1024)) -> None:
        super().__init__()
        self.down = nn.ModuleList([_twice(a, b) for a, b in zip((in_channels, *widths[:-1]), widths, strict=True)])
        self.pool = nn.MaxPool2d(2)
        rising = list(reversed(widths))
        self.enlarge = nn.ModuleList([nn.ConvTranspose2d(a, b, 2, stride=2) for a, b in pairwise(rising)])
        self.up = nn.ModuleList([_twice(2 * b, b) for b in rising[1:]])
        self.head = nn.Conv2d(widths[0], num_classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        unit = 2 ** len(self.up)
        if x.shape[-2] % unit or x.shape[-1] % unit:
            raise ValueError(
                f"UNet: the picture's sides should be divisible by {unit}, got {tuple(x.shape[-2:])}; pad or resize it"
            )
        levels = []
        for i, block in enumerate(self.down):
            x = block(self.pool(x) if i else x)
            levels.append(x)
        for enlarge, block, level in zip(self.enlarge, self.up, reversed(levels[:-1]), strict=True):
            x = block(tenfold.cat([level, enlarge(x)], dim=1))
        result: Tensor = self.head(x)
        return result


@model()
def unet(*, in_channels: int = 3, num_classes: int = 2, widths: Sequence[int] = (64, 128, 256, 512, 1024)) -> UNet:
    """U-Net of the paper's widths, 31,037,698 parameters; there is no checkpoint."""
    return UNet(in_channels, num_classes, widths)
