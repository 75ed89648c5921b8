"""Where pixels, boxes and points go: resizing, cutting out, borders, mirror images and maps of the plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms import distortion, geometry, warp
from tenfold.vision.transforms.interpolation import InterpolationMode, Mode
from tenfold.vision.transforms.v2.functional import box_kernels, mask_kernels, points
from tenfold.vision.transforms.v2.functional.dispatching import dispatches

Size = int | Sequence[int]


@dispatches(
    geometry.hflip,
    mask=geometry.hflip,
    bounding_boxes=box_kernels.horizontal_flip,
    keypoints=points.horizontal_flip,
)
def horizontal_flip(inpt: Any) -> Any:
    """Mirror left and right."""


@dispatches(
    geometry.vflip,
    mask=geometry.vflip,
    bounding_boxes=box_kernels.vertical_flip,
    keypoints=points.vertical_flip,
)
def vertical_flip(inpt: Any) -> Any:
    """Mirror top and bottom."""


def _resize(
    image: Any,
    size: Size | None,
    interpolation: Mode = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    return geometry.resize(image, size, interpolation, max_size, antialias, in_bytes=True)


@dispatches(_resize, mask=mask_kernels.resize, bounding_boxes=box_kernels.resize, keypoints=points.resize)
def resize(
    inpt: Any,
    size: Size | None,
    interpolation: Mode = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """To (height, width), or the shorter edge to one number and the longer to at most ``max_size``; masks to the nearest."""


@dispatches(geometry.crop, mask=geometry.crop, bounding_boxes=box_kernels.crop, keypoints=points.crop)
def crop(inpt: Any, top: int, left: int, height: int, width: int) -> Any:
    """The rectangle from (``top``, ``left``), zero where it is outside."""


def _center_crop(image: Any, output_size: Size) -> Any:
    return geometry.center_crop(image, output_size)


@dispatches(_center_crop, mask=_center_crop, bounding_boxes=box_kernels.center_crop, keypoints=points.center_crop)
def center_crop(inpt: Any, output_size: Size) -> Any:
    """The middle, with zeros around it where it is smaller."""


def _resized_crop(
    image: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Sequence[int],
    interpolation: Mode = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Any:
    return _resize(geometry.crop(image, top, left, height, width), size, interpolation, antialias=antialias)


@dispatches(
    _resized_crop,
    mask=mask_kernels.resized_crop,
    bounding_boxes=box_kernels.resized_crop,
    keypoints=points.resized_crop,
)
def resized_crop(
    inpt: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Sequence[int],
    interpolation: Mode = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Any:
    """`crop`, then `resize`."""


@dispatches(geometry.five_crop)
def five_crop(inpt: Any, size: Size) -> Any:
    """The four corners and the middle."""


@dispatches(geometry.ten_crop)
def ten_crop(inpt: Any, size: Size, vertical_flip: bool = False) -> Any:
    """`five_crop` of the picture and of its mirror image."""


def _pad(image: Any, padding: Size, fill: Any = None, padding_mode: str = "constant") -> Any:
    colours = isinstance(fill, list | tuple) and len(fill) > 1 and isinstance(image, Tensor)
    if not colours:
        return geometry.pad(image, padding, 0 if fill is None else fill, padding_mode)
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported if fill is not scalar")
    return _pad_coloured(image, padding, fill)


def _pad_coloured(image: Tensor, padding: Size, fill: Sequence[float]) -> Tensor:
    """A border of a colour: the borders of the channels, one by one."""
    if len(fill) != image.shape[-3]:
        raise ValueError(f"pad: fill has {len(fill)} numbers, but the picture has {image.shape[-3]} channels; give one for each")
    result: Tensor = geometry.pad(image, padding, 0)
    for channel, number in enumerate(fill):
        result[..., channel, :, :] = geometry.pad(image[..., channel, :, :], padding, number)
    return result


@dispatches(_pad, mask=mask_kernels.pad, bounding_boxes=box_kernels.pad, keypoints=points.pad)
def pad(inpt: Any, padding: Size, fill: Any = None, padding_mode: str = "constant") -> Any:
    """Borders of a number or a colour, or of what ``padding_mode`` repeats."""


@dispatches(warp.affine, mask=mask_kernels.affine, bounding_boxes=box_kernels.affine, keypoints=points.affine)
def affine(
    inpt: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    interpolation: Mode = InterpolationMode.NEAREST,
    fill: Any = None,
    center: Sequence[float] | None = None,
) -> Any:
    """Rotate by ``angle`` degrees clockwise, shift, scale and shear, keeping the size."""


def _rotate(
    image: Any,
    angle: float,
    interpolation: Mode = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Any = None,
) -> Any:
    quarters = warp.quarter_turns(image.shape[-2:], angle, expand, center) if isinstance(image, Tensor) else None
    if quarters is None:
        return warp.rotate(image, angle, interpolation, expand, center, fill)
    return tenfold.rot90(image, quarters, [-2, -1])


@dispatches(_rotate, mask=mask_kernels.rotate, bounding_boxes=box_kernels.rotate, keypoints=points.rotate)
def rotate(
    inpt: Any,
    angle: float,
    interpolation: Mode = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Any = None,
) -> Any:
    """Rotate by ``angle`` degrees counter-clockwise; ``expand`` makes room for all of it."""


def _perspective(
    image: Any,
    startpoints: Any,
    endpoints: Any,
    interpolation: Mode = InterpolationMode.BILINEAR,
    fill: Any = None,
    coefficients: Sequence[float] | None = None,
) -> Any:
    found = distortion.coefficients_of(startpoints, endpoints, coefficients)
    return distortion.projected(image, found, interpolation, fill)


@dispatches(_perspective, mask=mask_kernels.perspective, bounding_boxes=box_kernels.perspective, keypoints=points.perspective)
def perspective(
    inpt: Any,
    startpoints: Any,
    endpoints: Any,
    interpolation: Mode = InterpolationMode.BILINEAR,
    fill: Any = None,
    coefficients: Sequence[float] | None = None,
) -> Any:
    """Pull the four ``startpoints`` to ``endpoints``, or read by the eight ``coefficients`` of the map."""


@dispatches(
    distortion.elastic_transform,
    mask=mask_kernels.elastic,
    bounding_boxes=box_kernels.elastic,
    keypoints=points.elastic,
)
def elastic(inpt: Any, displacement: Tensor, interpolation: Mode = InterpolationMode.BILINEAR, fill: Any = None) -> Any:
    """Read each pixel from where ``displacement`` (1, H, W, 2) leads."""


hflip, vflip, elastic_transform = horizontal_flip, vertical_flip, elastic
