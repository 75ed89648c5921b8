"""Random changes of colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.transforms import color, draws
from tenfold.vision.transforms.conversion import Picture, get_dimensions

Range = tuple[float, float] | None


class ColorJitter(nn.Module):
    """Change brightness, contrast, saturation and hue, each by a factor drawn at random, in a random order.

    A number f means factors of max(0, 1 - f)..1 + f (hue: -f..f); a pair is the range itself; a range of no change
    becomes None and draws nothing.

    Raises:
        TypeError: an argument is neither a number nor a pair.
        ValueError: a range is outside of what the change allows.
    """

    def __init__(
        self,
        brightness: float | Sequence[float] = 0,
        contrast: float | Sequence[float] = 0,
        saturation: float | Sequence[float] = 0,
        hue: float | Sequence[float] = 0,
    ) -> None:
        super().__init__()
        self.brightness = _factor_range("brightness", brightness)
        self.contrast = _factor_range("contrast", contrast)
        self.saturation = _factor_range("saturation", saturation)
        self.hue = _factor_range("hue", hue, center=0, bound=(-0.5, 0.5))

    @staticmethod
    def get_params(
        brightness: Range, contrast: Range, saturation: Range, hue: Range
    ) -> tuple[Tensor, float | None, float | None, float | None, float | None]:
        """Draw the order of the four changes, then their factors; None where there is no range."""
        order = tenfold.randperm(4)
        b, c, s, h = (None if bounds is None else draws.uniform(*bounds) for bounds in (brightness, contrast, saturation, hue))
        return order, b, c, s, h

    def forward(self, img: Picture) -> Picture:
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        changes = (color.adjust_brightness, color.adjust_contrast, color.adjust_saturation, color.adjust_hue)
        for index in order.tolist():
            factor = factors[index]
            if factor is not None:
                img = changes[index](img, factor)
        return img

    def __repr__(self) -> str:
        parts = [f"{name}={getattr(self, name)}" for name in ("brightness", "contrast", "saturation", "hue")]
        return f"{type(self).__name__}({', '.join(parts)})"


def _factor_range(name: str, value: Any, center: float = 1, bound: tuple[float, float] = (0, float("inf"))) -> Range:
    if isinstance(value, int | float):
        if value < 0:
            raise ValueError(f"ColorJitter: If {name} is a single number, it must be non negative, got {value}")
        low, high = center - float(value), center + float(value)
        low = max(low, 0.0) if name != "hue" else low
    elif isinstance(value, tuple | list) and len(value) == 2:
        low, high = float(value[0]), float(value[1])
    else:
        raise TypeError(f"ColorJitter: {name} should be a single number or a list/tuple with length 2, got {value!r}")
    if not bound[0] <= low <= high <= bound[1]:
        raise ValueError(f"ColorJitter: {name} values should be between {bound}, got {(low, high)}")
    return None if low == high == center else (low, high)


class Grayscale(nn.Module):
    """The picture in grey, in one or three equal channels."""

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img: Picture) -> Picture:
        return color.rgb_to_grayscale(img, self.num_output_channels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class RandomGrayscale(nn.Module):
    """The picture in grey with probability ``p``, in as many channels as it had."""

    def __init__(self, p: float = 0.1) -> None:
        super().__init__()
        self.p = p

    def forward(self, img: Picture) -> Picture:
        channels = get_dimensions(img)[0]
        return color.rgb_to_grayscale(img, channels) if draws.happens(self.p) else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"
