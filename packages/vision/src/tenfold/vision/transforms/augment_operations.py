"""The operations of automatic augmentation by name, and how strong each may be."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms import blur, color, tones, warp
from tenfold.vision.transforms.conversion import Picture
from tenfold.vision.transforms.interpolation import InterpolationMode

Magnitudes = tuple[Tensor, bool]  # the steps of strength (0-d where there are none), and whether the sign is drawn
Space = dict[str, Magnitudes]
NONE: Magnitudes = (tenfold.tensor(0.0), False)
ENHANCEMENTS: dict[str, Callable[[Picture, float], Picture]] = {
    "Brightness": color.adjust_brightness,
    "Color": color.adjust_saturation,
    "Contrast": color.adjust_contrast,
    "Sharpness": blur.adjust_sharpness,
}
TONES: dict[str, Callable[..., Picture]] = {
    "Posterize": lambda img, magnitude: tones.posterize(img, int(magnitude)),
    "Solarize": tones.solarize,
    "AutoContrast": lambda img, _: tones.autocontrast(img),
    "Equalize": lambda img, _: tones.equalize(img),
    "Invert": lambda img, _: tones.invert(img),
    "Identity": lambda img, _: img,
}


def apply_operation(
    img: Picture, name: str, magnitude: float, interpolation: InterpolationMode, fill: Sequence[float] | None
) -> Picture:
    """The picture changed by one operation.

    Raises:
        ValueError: there is no such operation.
    """
    if name in ENHANCEMENTS:
        return ENHANCEMENTS[name](img, 1.0 + magnitude)
    if name in TONES:
        return TONES[name](img, magnitude)
    if name == "Rotate":
        return warp.rotate(img, magnitude, interpolation=interpolation, fill=fill)
    moves: dict[str, dict[str, Any]] = {
        "ShearX": {"shear": [math.degrees(math.atan(magnitude)), 0.0], "center": [0, 0]},  # the upper edge stays
        "ShearY": {"shear": [0.0, math.degrees(math.atan(magnitude))], "center": [0, 0]},
        "TranslateX": {"translate": [int(magnitude), 0]},
        "TranslateY": {"translate": [0, int(magnitude)]},
    }
    if name not in moves:
        raise ValueError(f"The provided operator {name} is not recognized.")
    still: dict[str, Any] = {"angle": 0.0, "translate": [0, 0], "scale": 1.0, "shear": [0.0, 0.0]}
    return warp.affine(img, **{**still, **moves[name]}, interpolation=interpolation, fill=fill)


def steps(start: float, end: float, count: int) -> Tensor:
    """``linspace`` on the processor, kept: every call of an automatic augmentation asks for the same strengths."""
    return _steps(start, end, count, tenfold.get_default_dtype())


@lru_cache(maxsize=256)
def _steps(start: float, end: float, count: int, dtype: tenfold.dtype) -> Tensor:
    return tenfold.linspace(start, end, count, dtype=dtype, device="cpu")


def geometric(bins: int, shear: float, across: float, down: float, angle: float) -> Space:
    """Shears, shifts in pixels, and rotation in degrees, from nothing up to these."""
    ends = {"ShearX": shear, "ShearY": shear, "TranslateX": across, "TranslateY": down, "Rotate": angle}
    return {name: (steps(0.0, end, bins), True) for name, end in ends.items()}


def enhancing(bins: int, strongest: float) -> Space:
    """Brightness, colour, contrast and sharpness."""
    return {name: (steps(0.0, strongest, bins), True) for name in ENHANCEMENTS}


def toning(bins: int, most_bits: int, lost_bits: int) -> Space:
    """Posterization from ``most_bits`` bits down by ``lost_bits``, solarization, and what has no strength."""
    bits = most_bits - (tenfold.arange(bins) / ((bins - 1) / lost_bits)).round().int()
    return {
        "Posterize": (bits, False),
        "Solarize": (steps(255.0, 0.0, bins), False),
        "AutoContrast": NONE,
        "Equalize": NONE,
    }
