"""Tensors that know what they are of a picture: pixels, frames, masks, boxes or points; `transforms.v2` treats each as that."""

from __future__ import annotations

from tenfold.vision.tv_tensors.boxes import BoundingBoxes, BoundingBoxFormat, is_rotated_bounding_format
from tenfold.vision.tv_tensors.keypoints import KeyPoints
from tenfold.vision.tv_tensors.pictures import Image, Mask, Video
from tenfold.vision.tv_tensors.wrapped import TVTensor, set_return_type, wrap

__all__ = [
    "BoundingBoxFormat",
    "BoundingBoxes",
    "Image",
    "KeyPoints",
    "Mask",
    "TVTensor",
    "Video",
    "is_rotated_bounding_format",
    "set_return_type",
    "wrap",
]
