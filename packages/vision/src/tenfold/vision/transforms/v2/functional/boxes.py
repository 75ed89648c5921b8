"""Formats of boxes, and keeping boxes and points on their canvas."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms.v2.functional import box_kernels, points
from tenfold.vision.tv_tensors import BoundingBoxes, BoundingBoxFormat, KeyPoints, TVTensor, wrap
from tenfold.vision.tv_tensors.boxes import CLAMPING_MODES, box_format

Canvas = tuple[int, int]


def convert_bounding_box_format(
    inpt: Tensor,
    old_format: BoundingBoxFormat | str | None = None,
    new_format: BoundingBoxFormat | str | None = None,
    inplace: bool = False,
) -> Any:
    """Boxes in another format. Plain tensors need ``old_format``; `tv_tensors.BoundingBoxes` know theirs.

    >>> convert_bounding_box_format(tenfold.tensor([[1, 2, 3, 4]]), "xyxy", "xywh")
    tensor([[1, 2, 2, 2]])

    Raises:
        TypeError: ``new_format`` is missing.
        ValueError: ``old_format`` is missing, or given for what knows its own.
    """
    if new_format is None:
        raise TypeError("convert_bounding_box_format() missing 1 required argument: 'new_format'")
    wanted = box_format(new_format)
    if not isinstance(inpt, TVTensor):
        result = box_kernels.convert(inpt, box_kernels.named(old_format, "old_format"), wanted)
        return inpt.copy_(result) if inplace and result.shape == inpt.shape else result
    if not isinstance(inpt, BoundingBoxes):
        raise TypeError(f"Input can either be a plain tensor or a bounding box tv_tensor, but got {type(inpt)} instead.")
    if old_format is not None:
        raise ValueError("For bounding box tv_tensor inputs, `old_format` must not be passed.")
    return wrap(box_kernels.convert(inpt.as_subclass(Tensor), inpt.format, wanted), like=inpt, format=wanted)


def clamp_bounding_boxes(
    inpt: Tensor,
    format: BoundingBoxFormat | str | None = None,
    canvas_size: Canvas | None = None,
    clamping_mode: str | None = "auto",
) -> Any:
    """Boxes cut at the edges of the canvas. Plain tensors need the format and the canvas.

    >>> clamp_bounding_boxes(tenfold.tensor([[-1, 2, 30, 4]]), "xyxy", (8, 9))
    tensor([[0, 2, 9, 4]])

    Raises:
        ValueError: one of them is missing, or given for what knows its own; an unknown mode.
    """
    if clamping_mode not in (*CLAMPING_MODES, "auto"):
        raise ValueError(f"clamping_mode must be soft, hard, auto or None, got {clamping_mode}")
    if isinstance(inpt, BoundingBoxes):
        if format is not None or canvas_size is not None:
            raise ValueError("For bounding box tv_tensor inputs, `format` and `canvas_size` must not be passed.")
        mode = inpt.clamping_mode if clamping_mode == "auto" else clamping_mode
        return wrap(box_kernels.clamp(inpt.as_subclass(Tensor), inpt.format, inpt.canvas_size, mode), like=inpt)
    if format is None or canvas_size is None:
        raise ValueError("For pure tensor inputs, `format` and `canvas_size` have to be passed.")
    if clamping_mode == "auto":
        clamping_mode = "soft"
    return box_kernels.clamp(inpt, box_format(format), canvas_size, clamping_mode)


def clamp_keypoints(inpt: Tensor, canvas_size: Canvas | None = None) -> Any:
    """Points brought to the nearest pixel of the canvas. Plain tensors need the canvas.

    Raises:
        ValueError: it is missing, or given for what knows its own.
    """
    if isinstance(inpt, KeyPoints):
        if canvas_size is not None:
            raise ValueError("For keypoints tv_tensor inputs, `canvas_size` must not be passed.")
        return wrap(points.clamp(inpt.as_subclass(Tensor), inpt.canvas_size), like=inpt)
    if canvas_size is None:
        raise ValueError("For pure tensor inputs, `canvas_size` has to be passed.")
    return points.clamp(inpt, canvas_size)


def sanitize_bounding_boxes(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat | str | None = None,
    canvas_size: Canvas | None = None,
    min_size: float = 1.0,
    min_area: float = 1.0,
) -> tuple[Any, Tensor]:
    """The boxes that are on their canvas and as large as these, and which they are.

    Raises:
        ValueError: the format or the canvas is missing, or given for what knows its own.
    """
    plain = bounding_boxes
    if isinstance(bounding_boxes, BoundingBoxes):
        if format is not None or canvas_size is not None:
            raise ValueError("For bounding box tv_tensor inputs, `format` and `canvas_size` must not be passed.")
        format, canvas_size = bounding_boxes.format, bounding_boxes.canvas_size
        plain = bounding_boxes.as_subclass(Tensor)
    if format is None or canvas_size is None:
        raise ValueError("For pure tensor inputs, `format` and `canvas_size` have to be passed.")
    kept = box_kernels.valid(plain, box_format(format), canvas_size, min_size, min_area)
    result = plain[kept]
    return (wrap(result, like=bounding_boxes) if isinstance(bounding_boxes, BoundingBoxes) else result), kept


def sanitize_keypoints(key_points: Tensor, canvas_size: Canvas | None = None) -> tuple[Any, Tensor]:
    """The points within their canvas, and which they are; of groups (N, K, 2) those with all points within.

    Raises:
        ValueError: the canvas is missing, or given for what knows its own.
    """
    plain = key_points
    if isinstance(key_points, KeyPoints):
        if canvas_size is not None:
            raise ValueError("For keypoints tv_tensor inputs, `canvas_size` must not be passed.")
        plain, canvas_size = key_points.as_subclass(Tensor), key_points.canvas_size
    if canvas_size is None:
        raise ValueError("For pure tensor inputs, `canvas_size` has to be passed.")
    limits = tenfold.tensor([canvas_size[1], canvas_size[0]], device=plain.device)
    inside = ((plain >= 0) & (plain < limits)).all(-1)
    kept = inside.flatten(1).all(-1) if inside.ndim > 1 else inside
    result = plain[kept]
    return (wrap(result, like=key_points) if isinstance(key_points, KeyPoints) else result), kept
