"""torchvision's path to grids of images and to drawing on them."""

from __future__ import annotations

from tenfold.vision.drawing import draw_bounding_boxes, draw_segmentation_masks
from tenfold.vision.flow import flow_to_image
from tenfold.vision.grid import make_grid, save_image
from tenfold.vision.keypoints import draw_keypoints

__all__ = ["draw_bounding_boxes", "draw_keypoints", "draw_segmentation_masks", "flow_to_image", "make_grid", "save_image"]
