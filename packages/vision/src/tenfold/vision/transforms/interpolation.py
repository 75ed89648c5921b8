"""The names of interpolation methods, for tensors and for Pillow."""

from __future__ import annotations

from enum import Enum


class InterpolationMode(Enum):
    """How values between pixels are found; BOX, HAMMING and LANCZOS are Pillow's alone."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


Mode = InterpolationMode | int

PILLOW_CODES = {
    InterpolationMode.NEAREST: 0,
    InterpolationMode.NEAREST_EXACT: 0,
    InterpolationMode.LANCZOS: 1,
    InterpolationMode.BILINEAR: 2,
    InterpolationMode.BICUBIC: 3,
    InterpolationMode.BOX: 4,
    InterpolationMode.HAMMING: 5,
}
MODE_OF_CODE = {code: mode for mode, code in PILLOW_CODES.items() if mode is not InterpolationMode.NEAREST_EXACT}


def interpolation_mode(operator: str, value: Mode) -> InterpolationMode:
    """The mode for one given as itself or as Pillow's integer code.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(value, InterpolationMode):
        return value
    if value in MODE_OF_CODE:
        return MODE_OF_CODE[value]
    raise TypeError(f"{operator}: interpolation should be an InterpolationMode or Pillow's integer code, got {value!r}")
