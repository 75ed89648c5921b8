"""Operators on boxes, and the focal loss."""

from __future__ import annotations

from tenfold.vision.ops.boxes import (
    batched_nms,
    box_area,
    box_convert,
    box_iou,
    clip_boxes_to_image,
    generalized_box_iou,
    masks_to_boxes,
    nms,
    remove_small_boxes,
)
from tenfold.vision.ops.focal_loss import sigmoid_focal_loss

__all__ = [
    "batched_nms",
    "box_area",
    "box_convert",
    "box_iou",
    "clip_boxes_to_image",
    "generalized_box_iou",
    "masks_to_boxes",
    "nms",
    "remove_small_boxes",
    "sigmoid_focal_loss",
]
