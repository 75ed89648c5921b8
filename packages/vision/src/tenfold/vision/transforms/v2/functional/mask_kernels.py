"""Masks: classes are never mixed, so that every map reads the nearest pixel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms import distortion, geometry, warp
from tenfold.vision.transforms.interpolation import InterpolationMode, Mode, interpolation_mode

NEAREST = InterpolationMode.NEAREST


def resize(mask: Tensor, size: int | Sequence[int] | None, interpolation: Mode = NEAREST, max_size: int | None = None) -> Tensor:
    """By the nearest pixel, or exactly that one where the picture is."""
    exact = interpolation_mode("resize", interpolation) is InterpolationMode.NEAREST_EXACT
    return geometry.resize(mask, size, InterpolationMode.NEAREST_EXACT if exact else NEAREST, max_size)  # type: ignore[no-any-return]


def resized_crop(mask: Tensor, top: int, left: int, height: int, width: int, size: Sequence[int]) -> Tensor:
    """`crop`, then `resize`."""
    return geometry.resized_crop(mask, top, left, height, width, size, NEAREST)  # type: ignore[no-any-return]


def pad(mask: Tensor, padding: int | Sequence[int], fill: Any = None, padding_mode: str = "constant") -> Tensor:
    """Borders of one class.

    Raises:
        ValueError: ``fill`` is a colour.
    """
    if isinstance(fill, list | tuple) and len(fill) > 1:
        raise ValueError(f"pad: a mask takes one number as fill, got {fill!r}")
    return geometry.pad(mask, padding, 0 if fill is None else fill, padding_mode)  # type: ignore[no-any-return]


def affine(
    mask: Tensor,
    angle: float,
    translate: Sequence[int],
    scale: float,
    shear: Any,
    fill: Any = None,
    center: Sequence[int] | None = None,
) -> Tensor:
    """Rotated, shifted, scaled and sheared."""
    return warp.affine(mask, angle, translate, scale, shear, NEAREST, fill, center)  # type: ignore[no-any-return]


def rotate(mask: Tensor, angle: float, expand: bool = False, center: Sequence[int] | None = None, fill: Any = None) -> Tensor:
    """Rotated."""
    quarters = warp.quarter_turns(mask.shape[-2:], angle, expand, center)
    if quarters is None:
        return warp.rotate(mask, angle, NEAREST, expand, center, fill)  # type: ignore[no-any-return]
    return tenfold.rot90(mask, quarters, [-2, -1])


def perspective(
    mask: Tensor, startpoints: Any, endpoints: Any, fill: Any = None, coefficients: Sequence[float] | None = None
) -> Tensor:
    """Pulled by its corners."""
    found = distortion.coefficients_of(startpoints, endpoints, coefficients)
    return distortion.projected(mask, found, NEAREST, fill)  # type: ignore[no-any-return]


def elastic(mask: Tensor, displacement: Tensor, fill: Any = None) -> Tensor:
    """Read where the displacement leads."""
    return distortion.elastic_transform(mask, displacement, NEAREST, fill)  # type: ignore[no-any-return]
