"""Inception v3, key for key with torchvision's checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.catalog.convolutional import Inception_V3_Weights
from tenfold.vision.models.googlenet import BasicConv2d, initialise, with_auxiliary, with_published_input
from tenfold.vision.models.registry import model

Layer = Callable[..., nn.Module]
Width = tuple[str, int, int, int | tuple[int, int], int, int | tuple[int, int]]  # name, in, out, kernel, stride, padding


class InceptionOutputs(NamedTuple):
    """What `Inception3` gives while training: its logits and those of the auxiliary classifier."""

    logits: Tensor
    aux_logits: Tensor | None


class _Branches(nn.Module):
    """Convolutions under their names, called in chains beside each other."""

    def _add(self, unit: Layer | None, *rows: Width) -> None:
        make = BasicConv2d if unit is None else unit
        for name, inputs, outputs, kernel, stride, padding in rows:
            self.add_module(name, make(inputs, outputs, kernel_size=kernel, stride=stride, padding=padding))

    def _chain(self, x: Tensor, *names: str) -> Tensor:
        for name in names:
            x = getattr(self, name)(x)
        return x


def _average(x: Tensor) -> Tensor:
    return nn.functional.avg_pool2d(x, kernel_size=3, stride=1, padding=1)


def _halved(x: Tensor) -> Tensor:
    return nn.functional.max_pool2d(x, kernel_size=3, stride=2)


class InceptionA(_Branches):
    """1x1, 5x5, twice 3x3, and pooling (figure 5)."""

    def __init__(self, in_channels: int, pool_features: int, conv_block: Layer | None = None) -> None:
        super().__init__()
        self._add(
            conv_block,
            ("branch1x1", in_channels, 64, 1, 1, 0),
            ("branch5x5_1", in_channels, 48, 1, 1, 0), ("branch5x5_2", 48, 64, 5, 1, 2),
            ("branch3x3dbl_1", in_channels, 64, 1, 1, 0), ("branch3x3dbl_2", 64, 96, 3, 1, 1),
            ("branch3x3dbl_3", 96, 96, 3, 1, 1),
            ("branch_pool", in_channels, pool_features, 1, 1, 0),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        wide = self._chain(x, "branch5x5_1", "branch5x5_2")
        double = self._chain(x, "branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3")
        return tenfold.cat([self._chain(x, "branch1x1"), wide, double, self._chain(_average(x), "branch_pool")], 1)


class InceptionB(_Branches):
    """Halves the size: 3x3, twice 3x3, pooling (figure 10)."""

    def __init__(self, in_channels: int, conv_block: Layer | None = None) -> None:
        super().__init__()
        self._add(
            conv_block,
            ("branch3x3", in_channels, 384, 3, 2, 0),
            ("branch3x3dbl_1", in_channels, 64, 1, 1, 0), ("branch3x3dbl_2", 64, 96, 3, 1, 1),
            ("branch3x3dbl_3", 96, 96, 3, 2, 0),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        double = self._chain(x, "branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3")
        return tenfold.cat([self._chain(x, "branch3x3"), double, _halved(x)], 1)


class InceptionC(_Branches):
    """7x7 taken apart into 1x7 and 7x1 (figure 6)."""

    def __init__(self, in_channels: int, channels_7x7: int, conv_block: Layer | None = None) -> None:
        super().__init__()
        c7, across, down = channels_7x7, ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
        self._add(
            conv_block,
            ("branch1x1", in_channels, 192, 1, 1, 0),
            ("branch7x7_1", in_channels, c7, 1, 1, 0), ("branch7x7_2", c7, c7, *across), ("branch7x7_3", c7, 192, *down),
            ("branch7x7dbl_1", in_channels, c7, 1, 1, 0), ("branch7x7dbl_2", c7, c7, *down), ("branch7x7dbl_3", c7, c7, *across),
            ("branch7x7dbl_4", c7, c7, *down), ("branch7x7dbl_5", c7, 192, *across),
            ("branch_pool", in_channels, 192, 1, 1, 0),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        once = self._chain(x, "branch7x7_1", "branch7x7_2", "branch7x7_3")
        twice = self._chain(x, *(f"branch7x7dbl_{i}" for i in range(1, 6)))
        return tenfold.cat([self._chain(x, "branch1x1"), once, twice, self._chain(_average(x), "branch_pool")], 1)


class InceptionD(_Branches):
    """Halves the size: 3x3, 7x7 and 3x3, pooling."""

    def __init__(self, in_channels: int, conv_block: Layer | None = None) -> None:
        super().__init__()
        self._add(
            conv_block,
            ("branch3x3_1", in_channels, 192, 1, 1, 0), ("branch3x3_2", 192, 320, 3, 2, 0),
            ("branch7x7x3_1", in_channels, 192, 1, 1, 0), ("branch7x7x3_2", 192, 192, (1, 7), 1, (0, 3)),
            ("branch7x7x3_3", 192, 192, (7, 1), 1, (3, 0)), ("branch7x7x3_4", 192, 192, 3, 2, 0),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        wide = self._chain(x, *(f"branch7x7x3_{i}" for i in range(1, 5)))
        return tenfold.cat([self._chain(x, "branch3x3_1", "branch3x3_2"), wide, _halved(x)], 1)


class InceptionE(_Branches):
    """Branches that end in 1x3 and 3x1 beside each other (figure 7)."""

    def __init__(self, in_channels: int, conv_block: Layer | None = None) -> None:
        super().__init__()
        across, down = ((1, 3), 1, (0, 1)), ((3, 1), 1, (1, 0))
        self._add(
            conv_block,
            ("branch1x1", in_channels, 320, 1, 1, 0),
            ("branch3x3_1", in_channels, 384, 1, 1, 0), ("branch3x3_2a", 384, 384, *across), ("branch3x3_2b", 384, 384, *down),
            ("branch3x3dbl_1", in_channels, 448, 1, 1, 0), ("branch3x3dbl_2", 448, 384, 3, 1, 1),
            ("branch3x3dbl_3a", 384, 384, *across), ("branch3x3dbl_3b", 384, 384, *down),
            ("branch_pool", in_channels, 192, 1, 1, 0),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        once = self._chain(x, "branch3x3_1")
        twice = self._chain(x, "branch3x3dbl_1", "branch3x3dbl_2")
        ends = [self._chain(once, "branch3x3_2a"), self._chain(once, "branch3x3_2b")]
        ends += [self._chain(twice, "branch3x3dbl_3a"), self._chain(twice, "branch3x3dbl_3b")]
        return tenfold.cat([self._chain(x, "branch1x1"), *ends, self._chain(_average(x), "branch_pool")], 1)


class InceptionAux(nn.Module):
    """A classifier on inner maps of 17x17."""

    def __init__(self, in_channels: int, num_classes: int, conv_block: Layer | None = None) -> None:
        super().__init__()
        unit = BasicConv2d if conv_block is None else conv_block
        self.conv0 = unit(in_channels, 128, kernel_size=1)
        self.conv1 = unit(128, 768, kernel_size=5)
        self.conv1.stddev = 0.01
        self.fc = nn.Linear(768, num_classes)
        self.fc.stddev = 0.001

    def forward(self, x: Tensor) -> Tensor:
        maps = self.conv1(self.conv0(nn.functional.avg_pool2d(x, kernel_size=5, stride=3)))
        result: Tensor = self.fc(nn.functional.adaptive_avg_pool2d(maps, (1, 1)).flatten(1))
        return result


class Inception3(nn.Module):
    """Inception v3; while training with ``aux_logits`` the result is `InceptionOutputs`.

    Shape: (N, 3, H, W) -> (N, num_classes), pictures of 75 pixels at least (made for 299).

    Source: C. Szegedy and others, Rethinking the Inception Architecture for Computer Vision, arXiv:1512.00567.
    """

    usual_deviation = 0.1

    def __init__(
        self,
        num_classes: int = 1000,
        aux_logits: bool = True,
        transform_input: bool = False,
        inception_blocks: Sequence[Layer] | None = None,
        init_weights: bool | None = None,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        own = (BasicConv2d, InceptionA, InceptionB, InceptionC, InceptionD, InceptionE, InceptionAux)
        unit, a, b, c, d, e, auxiliary = own if inception_blocks is None else inception_blocks
        self.aux_logits = aux_logits
        self.transform_input = transform_input
        self.Conv2d_1a_3x3 = unit(3, 32, kernel_size=3, stride=2)
        self.Conv2d_2a_3x3 = unit(32, 32, kernel_size=3)
        self.Conv2d_2b_3x3 = unit(32, 64, kernel_size=3, padding=1)
        self.maxpool1 = nn.MaxPool2d(3, stride=2)
        self.Conv2d_3b_1x1 = unit(64, 80, kernel_size=1)
        self.Conv2d_4a_3x3 = unit(80, 192, kernel_size=3)
        self.maxpool2 = nn.MaxPool2d(3, stride=2)
        for name, width, pooled in (("5b", 192, 32), ("5c", 256, 64), ("5d", 288, 64)):
            self.add_module(f"Mixed_{name}", a(width, pool_features=pooled))
        self.Mixed_6a = b(288)
        for name, inner in (("6b", 128), ("6c", 160), ("6d", 160), ("6e", 192)):
            self.add_module(f"Mixed_{name}", c(768, channels_7x7=inner))
        self.AuxLogits = auxiliary(768, num_classes) if aux_logits else None
        self.Mixed_7a = d(768)
        self.Mixed_7b = e(1280)
        self.Mixed_7c = e(2048)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Linear(2048, num_classes)
        if init_weights is not False:
            initialise(self)

    def forward(self, x: Tensor) -> Any:
        x = with_published_input(x) if self.transform_input else x
        x = self.maxpool1(self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x))))
        x = self.maxpool2(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x)))
        x = self.Mixed_6a(self.Mixed_5d(self.Mixed_5c(self.Mixed_5b(x))))
        x = self.Mixed_6e(self.Mixed_6d(self.Mixed_6c(self.Mixed_6b(x))))  # (N, 768, 17, 17) of 299 pixels
        aux = self.AuxLogits(x) if self.training and self.AuxLogits is not None else None
        x = self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(x)))
        logits = self.fc(self.dropout(self.avgpool(x)).flatten(1))
        return InceptionOutputs(logits, aux) if self.training and self.aux_logits else logits


@model(Inception_V3_Weights)
def inception_v3(*, weights: Inception_V3_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> Inception3:
    """Inception v3, 27,161,264 parameters with the auxiliary classifier.

    With weights, ``transform_input`` is on by default.
    """
    made: Inception3 = with_auxiliary(Inception3, Inception_V3_Weights, weights, progress, kwargs, ("AuxLogits",))
    return made
