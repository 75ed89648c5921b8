"""Boxes: from format to format, onto the canvas, and through every map of the picture's pixels.

Maps that keep the axes (mirror, shift, scale) work on the numbers as they are; the others move the four corners and put the
smallest upright box around them, or around a turned box the box of its moved edges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms import geometry
from tenfold.vision.transforms.v2.functional import points
from tenfold.vision.tv_tensors import BoundingBoxFormat, is_rotated_bounding_format
from tenfold.vision.tv_tensors.boxes import box_format

XYXY, XYWH, CXCYWH = BoundingBoxFormat.XYXY, BoundingBoxFormat.XYWH, BoundingBoxFormat.CXCYWH
XYWHR, CXCYWHR, CORNERS = BoundingBoxFormat.XYWHR, BoundingBoxFormat.CXCYWHR, BoundingBoxFormat.XYXYXYXY
Canvas = tuple[int, int]


def _half(values: Tensor) -> Tensor:
    """Half, rounded down for integers."""
    return values.div(2, rounding_mode=None if values.is_floating_point() else "floor")


def to_xyxy(boxes: Tensor, format: BoundingBoxFormat) -> Tensor:
    """Upright boxes (..., 4) by their upper left and lower right corners."""
    if format is XYXY:
        return boxes
    start, size = boxes[..., :2], boxes[..., 2:]
    if format is CXCYWH:  # of integers both corners are cut towards zero
        return tenfold.cat([start - size / 2, start + size / 2], -1).to(boxes.dtype)
    return tenfold.cat([start, start + size], -1)


def from_xyxy(boxes: Tensor, format: BoundingBoxFormat) -> Tensor:
    """The way back."""
    if format is XYXY:
        return boxes
    start, size = boxes[..., :2], boxes[..., 2:] - boxes[..., :2]
    if format is CXCYWH:
        start = _half(boxes[..., :2] + boxes[..., 2:])
    return tenfold.cat([start, size], -1)


def to_corners(boxes: Tensor, format: BoundingBoxFormat) -> Tensor:
    """Turned boxes (..., 5) or (..., 8) by their corners: upper left, upper right, lower right, lower left (..., 4, 2)."""
    if format is CORNERS:
        return boxes.unflatten(-1, (4, 2))
    x, y, width, height, degrees = boxes.unbind(-1)
    angle = tenfold.deg2rad(degrees)
    across = tenfold.stack([angle.cos(), -angle.sin()], -1) * width.unsqueeze(-1)  # along the upper edge
    down = tenfold.stack([angle.sin(), angle.cos()], -1) * height.unsqueeze(-1)
    start = tenfold.stack([x, y], -1)
    if format is CXCYWHR:
        start = start - (across + down) / 2
    return tenfold.stack([start, start + across, start + across + down, start + down], -2)


def from_corners(corners: Tensor, format: BoundingBoxFormat) -> Tensor:
    """The way back: size and angle of the first corner's edges."""
    if format is CORNERS:
        return corners.flatten(-2)
    first, second, third, fourth = corners.unbind(-2)
    edge = second - first
    degrees = tenfold.rad2deg(tenfold.atan2(-edge[..., 1], edge[..., 0]))
    width, height = (tenfold.hypot(side[..., 0], side[..., 1]) for side in (edge, fourth - first))
    start = (first + third) / 2 if format is CXCYWHR else first
    return tenfold.stack([start[..., 0], start[..., 1], width, height, degrees], -1)


def convert(boxes: Tensor, old_format: BoundingBoxFormat, new_format: BoundingBoxFormat) -> Tensor:
    """Boxes of one format in another.

    Raises:
        ValueError: upright ones as turned or the other way round.
    """
    if old_format is new_format:
        return boxes.clone()
    if is_rotated_bounding_format(old_format) != is_rotated_bounding_format(new_format):
        raise ValueError(
            f"convert_bounding_box_format: cannot convert between rotated and unrotated boxes, got {old_format} to {new_format}"
        )
    if not is_rotated_bounding_format(old_format):
        return from_xyxy(to_xyxy(boxes, old_format), new_format)
    return from_corners(to_corners(as_floats(boxes), old_format), new_format).to(boxes.dtype)


def as_floats(boxes: Tensor) -> Tensor:
    """Integers as floats of the default dtype."""
    return boxes if boxes.is_floating_point() else boxes.to(tenfold.get_default_dtype())


def clamp(boxes: Tensor, format: BoundingBoxFormat, canvas_size: Canvas, clamping_mode: str | None = "soft") -> Tensor:
    """Boxes cut at the canvas's edges; turned ones, whose edges nothing cuts, are moved and shrunk to fit unless "soft"."""
    if clamping_mode is None:
        return boxes.clone()
    height, width = canvas_size
    if is_rotated_bounding_format(format):
        return _clamp_turned(boxes, format, canvas_size, clamping_mode)
    limits = tenfold.tensor([width, height, width, height], device=boxes.device)
    upright = tenfold.minimum(to_xyxy(as_floats(boxes), format).clamp(min=0), limits)
    return from_xyxy(upright, format).to(boxes.dtype)


def _clamp_turned(boxes: Tensor, format: BoundingBoxFormat, canvas_size: Canvas, mode: str) -> Tensor:
    """A box of which nothing is left becomes nothing; "hard" cuts the corners' coordinates at the canvas."""
    height, width = canvas_size
    corners = to_corners(as_floats(boxes), format)
    low, high = corners.amin(-2), corners.amax(-2)
    limits = corners.new_tensor([width, height])
    outside = ((high <= 0) | (low >= limits)).any(-1)[..., None, None]
    kept = tenfold.minimum(corners.clamp(min=0), limits) if mode == "hard" else corners
    return from_corners(tenfold.where(outside, tenfold.zeros_like(kept), kept), format).to(boxes.dtype)


def horizontal_flip(bounding_boxes: Tensor, format: BoundingBoxFormat, canvas_size: Canvas) -> Tensor:
    """Mirrored left and right."""
    return _mirrored(bounding_boxes, format, canvas_size[1], 0)


def vertical_flip(bounding_boxes: Tensor, format: BoundingBoxFormat, canvas_size: Canvas) -> Tensor:
    """Mirrored top and bottom."""
    return _mirrored(bounding_boxes, format, canvas_size[0], 1)


def _mirrored(boxes: Tensor, format: BoundingBoxFormat, side: int, axis: int) -> Tensor:
    result = boxes.clone()
    if is_rotated_bounding_format(format):
        corners = to_corners(as_floats(boxes), format).clone()
        corners[..., axis] = side - corners[..., axis]
        order = [1, 0, 3, 2] if axis == 0 else [3, 2, 1, 0]  # the upper left is the one that was on the other side
        return from_corners(corners[..., order, :], format).to(boxes.dtype)
    if format is XYXY:
        result[..., axis] = side - boxes[..., axis + 2]
        result[..., axis + 2] = side - boxes[..., axis]
    else:
        result[..., axis] = side - boxes[..., axis] - (boxes[..., axis + 2] if format is XYWH else 0)
    return result


def _shifted(boxes: Tensor, format: BoundingBoxFormat, dx: int, dy: int) -> Tensor:
    repeats = {XYXY: 2, CORNERS: 4}.get(format, 1)
    shift = boxes.new_tensor([dx, dy] * repeats)
    result = boxes.clone()
    result[..., : 2 * repeats] += shift
    return result


def crop(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    top: int,
    left: int,
    height: int,
    width: int,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """Seen from the cut-out's corner, on its canvas."""
    moved = _shifted(bounding_boxes, format, -left, -top)
    return clamp(moved, format, (height, width), clamping_mode), (height, width)


def center_crop(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Canvas,
    output_size: int | Sequence[int],
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """Seen from the corner of the middle."""
    top, left, height, width = points.middle(canvas_size, output_size)
    return crop(bounding_boxes, format, top, left, height, width, clamping_mode)


def pad(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Canvas,
    padding: int | Sequence[int],
    padding_mode: str = "constant",
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """Moved by the left and upper border, on the larger canvas.

    Raises:
        ValueError: the borders repeat the picture, whose boxes would have to be repeated.
    """
    dx, dy, canvas = points.padded(canvas_size, padding, padding_mode)
    return clamp(_shifted(bounding_boxes, format, dx, dy), format, canvas, clamping_mode), canvas


def resize(
    bounding_boxes: Tensor,
    canvas_size: Canvas,
    size: int | Sequence[int] | None,
    max_size: int | None = None,
    format: BoundingBoxFormat = XYXY,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """Scaled with the picture."""
    old_height, old_width = canvas_size
    new_height, new_width = geometry.output_size(old_height, old_width, size, max_size)
    if (new_height, new_width) == (old_height, old_width):
        return bounding_boxes, canvas_size
    factors = [new_width / old_width, new_height / old_height]
    if is_rotated_bounding_format(format):
        corners = to_corners(as_floats(bounding_boxes), format)
        scaled = from_corners(corners * corners.new_tensor(factors), format).to(bounding_boxes.dtype)
    else:
        scaled = bounding_boxes.mul(tenfold.tensor(factors * 2, device=bounding_boxes.device)).to(bounding_boxes.dtype)
    canvas = (new_height, new_width)
    return clamp(scaled, format, canvas, clamping_mode) if is_rotated_bounding_format(format) else scaled, canvas


def resized_crop(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Sequence[int],
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """`crop`, then `resize`."""
    cut, canvas = crop(bounding_boxes, format, top, left, height, width, clamping_mode)
    return resize(cut, canvas, size, format=format, clamping_mode=clamping_mode)


def _moved(
    boxes: Tensor,
    format: BoundingBoxFormat,
    canvas: Canvas,
    mode: str | None,
    move: Callable[[Tensor], Tensor],
    whole: str = "",
) -> Tensor:
    """All corners through the map, and what is around them.

    ``whole`` says where integers stay so, as torchvision rounds them: "before" the map between formats, and "after" it.
    """
    if boxes.numel() == 0:
        return boxes
    values = as_floats(boxes)
    if is_rotated_bounding_format(format):
        corners = to_corners(values, format)
        turned = from_corners(move(corners.reshape(-1, 2)).reshape(corners.shape), format)
        return clamp(turned, format, canvas, mode).to(boxes.dtype)
    left, top, right, bottom = as_floats(to_xyxy(boxes if "before" in whole else values, format)).reshape(-1, 4).unbind(-1)
    places = tenfold.stack([left, top, right, top, right, bottom, left, bottom], -1).reshape(-1, 2)
    moved = move(places).reshape(-1, 4, 2)
    around = tenfold.cat([moved.amin(1), moved.amax(1)], -1)
    upright = clamp(around.to(boxes.dtype) if "after" in whole else around, XYXY, canvas, mode)
    return from_xyxy(upright, format).reshape(boxes.shape).to(boxes.dtype)


def affine(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Canvas,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    center: Sequence[float] | None = None,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """Rotated, shifted, scaled and sheared with the picture."""
    forward = points.affine_map(canvas_size, angle, translate, scale, shear, center)
    return _moved(bounding_boxes, format, canvas_size, clamping_mode, lambda places: points.through(forward, places))


def rotate(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Canvas,
    angle: float,
    expand: bool = False,
    center: Sequence[float] | None = None,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """Rotated with the picture."""
    forward, canvas = points.rotation_map(canvas_size, angle, expand, center)
    result = _moved(bounding_boxes, format, canvas, clamping_mode, lambda places: points.through(forward, places))
    return result, canvas


def perspective(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Canvas,
    startpoints: Any,
    endpoints: Any,
    coefficients: Sequence[float] | None = None,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """Pulled with the picture's corners."""
    forward = points.perspective_map(startpoints, endpoints, coefficients)
    return _moved(bounding_boxes, format, canvas_size, clamping_mode, lambda places: points.projected(forward, places), "before")


def elastic(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Canvas,
    displacement: Tensor,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """Moved against the displacement, about as the picture's pixels are."""
    return _moved(
        bounding_boxes,
        format,
        canvas_size,
        clamping_mode,
        lambda places: points.displaced(places.ceil(), canvas_size, displacement),
        "before and after",
    )


def box_size(bounding_box: Tensor, canvas_size: Canvas) -> list[int]:
    """Height and width of the canvas."""
    return list(canvas_size)


def named(format: BoundingBoxFormat | str | None, what: str) -> BoundingBoxFormat:
    """A format that has to be given.

    Raises:
        ValueError: it is not.
    """
    if format is None:
        raise ValueError(f"For pure tensor inputs, `{what}` has to be passed.")
    return box_format(format)


def valid(boxes: Tensor, format: BoundingBoxFormat, canvas_size: Canvas, min_size: float, min_area: float) -> Tensor:
    """Which boxes are as large as these and lie on the canvas."""
    if is_rotated_bounding_format(format):
        corners = to_corners(as_floats(boxes), format)
        upright = tenfold.cat([corners.amin(-2), corners.amax(-2)], -1)
        sides = convert(as_floats(boxes), format, XYWHR)
        widths, heights = sides[..., 2], sides[..., 3]
    else:
        upright = to_xyxy(boxes, format)
        widths, heights = upright[..., 2] - upright[..., 0], upright[..., 3] - upright[..., 1]
    fine = (widths >= min_size) & (heights >= min_size) & (widths * heights >= min_area)
    height, width = canvas_size
    fine &= (upright >= 0).all(-1)
    return fine & (upright[..., 2] <= width) & (upright[..., 3] <= height) & upright.isfinite().all(-1)
