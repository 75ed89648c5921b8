"""torchvision's path to grids of images and to drawing on them."""

from __future__ import annotations

from tenfold.vision.drawing import draw_bounding_boxes, draw_segmentation_masks
from tenfold.vision.grid import make_grid, save_image

__all__ = ["draw_bounding_boxes", "draw_segmentation_masks", "make_grid", "save_image"]
