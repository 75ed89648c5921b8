"""Cutting a part out of the picture: the middle, the corners, or somewhere at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tenfold import nn
from tenfold.vision.transforms import draws, geometry
from tenfold.vision.transforms.conversion import Picture, get_dimensions
from tenfold.vision.transforms.interpolation import InterpolationMode, Mode, interpolation_mode

Size = int | Sequence[int]


class CenterCrop(nn.Module):
    """The middle of the picture, padded with zeros where it is smaller."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = geometry.pair("CenterCrop", size)

    def forward(self, img: Picture) -> Picture:
        return geometry.center_crop(img, self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class FiveCrop(nn.Module):
    """The four corners and the middle, as a tuple."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = geometry.pair("FiveCrop", size)

    def forward(self, img: Picture) -> tuple[Picture, ...]:
        return geometry.five_crop(img, self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class TenCrop(nn.Module):
    """The four corners and the middle of the picture and of its mirror image, as a tuple."""

    def __init__(self, size: Size, vertical_flip: bool = False) -> None:
        super().__init__()
        self.size = geometry.pair("TenCrop", size)
        self.vertical_flip = vertical_flip

    def forward(self, img: Picture) -> tuple[Picture, ...]:
        return geometry.ten_crop(img, self.size, self.vertical_flip)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, vertical_flip={self.vertical_flip})"


class RandomCrop(nn.Module):
    """A rectangle of this size from anywhere in the picture, which may be padded first.

    Raises:
        ValueError: the padded picture is smaller and ``pad_if_needed`` is False.
    """

    def __init__(
        self,
        size: Size,
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__()
        self.size = geometry.pair("RandomCrop", size)
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    @staticmethod
    def get_params(img: Picture, output_size: tuple[int, int]) -> tuple[int, int, int, int]:
        """Draw the upper left corner; returns it with height and width."""
        _, height, width = get_dimensions(img)
        wanted_height, wanted_width = output_size
        if height < wanted_height or width < wanted_width:
            raise ValueError(
                f"Required crop size {output_size} is larger than input image size {(height, width)}; set pad_if_needed"
            )
        if (height, width) == (wanted_height, wanted_width):
            return 0, 0, height, width
        return draws.below(height - wanted_height + 1), draws.below(width - wanted_width + 1), wanted_height, wanted_width

    def forward(self, img: Picture) -> Picture:
        if self.padding is not None:
            img = geometry.pad(img, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed:
            _, height, width = get_dimensions(img)
            if width < self.size[1]:
                img = geometry.pad(img, [self.size[1] - width, 0], self.fill, self.padding_mode)
            if height < self.size[0]:
                img = geometry.pad(img, [0, self.size[0] - height], self.fill, self.padding_mode)
        return geometry.crop(img, *self.get_params(img, self.size))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, padding={self.padding})"


class RandomResizedCrop(nn.Module):
    """A rectangle of random area and shape, resized to ``size``.

    Its share of the area is uniform in ``scale``, its width over its height log-uniform in ``ratio``; after ten draws
    that do not fit it is the largest middle part with an allowed ratio.

    Source: C. Szegedy and others, Going Deeper with Convolutions, arXiv:1409.4842, section 6.
    """

    def __init__(
        self,
        size: Size,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Mode = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.size = geometry.pair("RandomResizedCrop", size)
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation_mode("RandomResizedCrop", interpolation)
        self.antialias = antialias

    @staticmethod
    def get_params(img: Picture, scale: Sequence[float], ratio: Sequence[float]) -> tuple[int, int, int, int]:
        """Draw the upper left corner, height and width."""
        _, height, width = get_dimensions(img)
        return random_part(height, width, scale, ratio)

    def forward(self, img: Picture) -> Picture:
        return geometry.resized_crop(
            img, *self.get_params(img, self.scale, self.ratio), self.size, self.interpolation, self.antialias
        )

    def __repr__(self) -> str:
        scale, ratio = (tuple(round(value, 4) for value in bounds) for bounds in (self.scale, self.ratio))
        method = f"interpolation={self.interpolation.value}, antialias={self.antialias}"
        return f"{type(self).__name__}(size={self.size}, scale={scale}, ratio={ratio}, {method})"


def random_part(height: int, width: int, scale: Sequence[float], ratio: Sequence[float]) -> tuple[int, int, int, int]:
    """Draw the top, left, height and width of a part with a share of the area in ``scale`` and a shape in ``ratio``."""
    for _ in range(10):
        area = height * width * draws.uniform(scale[0], scale[1])
        shape = draws.log_uniform((ratio[0], ratio[1]))
        w, h = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
        if 0 < w <= width and 0 < h <= height:
            return draws.below(height - h + 1), draws.below(width - w + 1), h, w
    return _largest_middle(height, width, ratio)


def _largest_middle(height: int, width: int, ratio: Sequence[float]) -> tuple[int, int, int, int]:
    h, w = height, width
    if width / height < min(ratio):
        h = round(width / min(ratio))
    elif width / height > max(ratio):
        w = round(height * max(ratio))
    return (height - h) // 2, (width - w) // 2, h, w
