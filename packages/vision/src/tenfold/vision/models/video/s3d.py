"""S3D: an Inception network whose convolutions are of space and then of time, key for key with torchvision's checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.catalog.video import S3D_Weights
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import with_weights
from tenfold.vision.ops.misc import Conv3dNormActivation

Layer = Callable[..., nn.Module]
NORM = partial(nn.BatchNorm3d, eps=1e-3, momentum=1e-3)

# the widths of each block: input, 1x1, then middle and end of the two separable branches, and behind the pooling
EARLY = ((192, 64, 96, 128, 16, 32, 32), (256, 128, 128, 192, 32, 96, 64))
MIDDLE = (
    (480, 192, 96, 208, 16, 48, 64),
    (512, 160, 112, 224, 24, 64, 64),
    (512, 128, 128, 256, 24, 64, 64),
    (512, 112, 144, 288, 32, 64, 64),
    (528, 256, 160, 320, 32, 128, 128),
)
LATE = ((832, 256, 160, 320, 32, 128, 128), (832, 384, 192, 384, 48, 128, 128))


class TemporalSeparableConv(nn.Sequential):
    """1xkxk over space, then kx1x1 over time, each with norm and ReLU."""

    def __init__(self, in_planes: int, out_planes: int, kernel_size: int, stride: int, padding: int, norm_layer: Layer) -> None:
        unit = partial(Conv3dNormActivation, norm_layer=norm_layer, bias=False)
        k, s, p = kernel_size, stride, padding
        super().__init__(
            unit(in_planes, out_planes, kernel_size=(1, k, k), stride=(1, s, s), padding=(0, p, p)),
            unit(out_planes, out_planes, kernel_size=(k, 1, 1), stride=(s, 1, 1), padding=(p, 0, 0)),
        )


class SepInceptionBlock3D(nn.Module):
    """Four branches side by side: 1x1, two that are separable, and one behind a pooling."""

    def __init__(
        self,
        in_planes: int,
        b0_out: int,
        b1_mid: int,
        b1_out: int,
        b2_mid: int,
        b2_out: int,
        b3_out: int,
        norm_layer: Layer,
    ) -> None:
        super().__init__()
        point = partial(Conv3dNormActivation, in_planes, kernel_size=1, norm_layer=norm_layer)
        self.branch0 = point(b0_out)
        self.branch1 = nn.Sequential(point(b1_mid), TemporalSeparableConv(b1_mid, b1_out, 3, 1, 1, norm_layer))
        self.branch2 = nn.Sequential(point(b2_mid), TemporalSeparableConv(b2_mid, b2_out, 3, 1, 1, norm_layer))
        self.branch3 = nn.Sequential(nn.MaxPool3d(3, stride=1, padding=1), point(b3_out))

    def forward(self, x: Tensor) -> Tensor:
        return tenfold.cat([self.branch0(x), self.branch1(x), self.branch2(x), self.branch3(x)], 1)


class S3D(nn.Module):
    """Separable Inception blocks over time and space.

    Shape: (N, 3, T, H, W) -> (N, num_classes); at least 13 frames of 209x209.

    Source: S. Xie and others, Rethinking Spatiotemporal Feature Learning, arXiv:1712.04851.
    """

    def __init__(self, num_classes: int = 400, dropout: float = 0.2, norm_layer: Layer | None = None) -> None:
        super().__init__()
        norm = NORM if norm_layer is None else norm_layer
        blocks = [[SepInceptionBlock3D(*widths, norm_layer=norm) for widths in stage] for stage in (EARLY, MIDDLE, LATE)]
        self.features = nn.Sequential(
            TemporalSeparableConv(3, 64, 7, 2, 3, norm),
            nn.MaxPool3d((1, 3, 3), (1, 2, 2), (0, 1, 1)),
            Conv3dNormActivation(64, 64, 1, norm_layer=norm),
            TemporalSeparableConv(64, 192, 3, 1, 1, norm),
            nn.MaxPool3d((1, 3, 3), (1, 2, 2), (0, 1, 1)),
            *blocks[0],
            nn.MaxPool3d(3, 2, 1),
            *blocks[1],
            nn.MaxPool3d(2, 2),
            *blocks[2],
        )
        self.avgpool = nn.AvgPool3d((2, 7, 7), stride=1)
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Conv3d(1024, num_classes, 1))

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.classifier(self.avgpool(self.features(x))).mean((2, 3, 4))
        return result


@model(S3D_Weights)
def s3d(*, weights: S3D_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> S3D:
    """S3D, 8,320,048 parameters."""
    return with_weights(S3D, S3D_Weights, weights, progress, kwargs)
