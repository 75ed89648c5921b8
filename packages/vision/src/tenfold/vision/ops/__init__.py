"""Operators on boxes and regions, losses, and layers that networks for pictures are made of."""

from __future__ import annotations

from tenfold.vision.ops.box_losses import (
    complete_box_iou,
    complete_box_iou_loss,
    distance_box_iou,
    distance_box_iou_loss,
    generalized_box_iou_loss,
)
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
from tenfold.vision.ops.deform_conv import DeformConv2d, deform_conv2d
from tenfold.vision.ops.dropping import DropBlock2d, DropBlock3d, StochasticDepth, drop_block2d, drop_block3d, stochastic_depth
from tenfold.vision.ops.focal_loss import sigmoid_focal_loss
from tenfold.vision.ops.misc import MLP, Conv2dNormActivation, Conv3dNormActivation, FrozenBatchNorm2d, Permute, SqueezeExcitation
from tenfold.vision.ops.pooling import PSRoIAlign, PSRoIPool, RoIAlign, RoIPool, ps_roi_align, ps_roi_pool, roi_align, roi_pool
from tenfold.vision.ops.pyramid import FeaturePyramidNetwork, MultiScaleRoIAlign
from tenfold.vision.paths import show_paths

__all__ = [
    "complete_box_iou",
    "complete_box_iou_loss",
    "distance_box_iou",
    "distance_box_iou_loss",
    "generalized_box_iou_loss",
    "DeformConv2d",
    "deform_conv2d",
    "DropBlock2d",
    "DropBlock3d",
    "StochasticDepth",
    "drop_block2d",
    "drop_block3d",
    "stochastic_depth",
    "MLP",
    "Conv2dNormActivation",
    "Conv3dNormActivation",
    "FrozenBatchNorm2d",
    "Permute",
    "SqueezeExcitation",
    "PSRoIAlign",
    "PSRoIPool",
    "RoIAlign",
    "RoIPool",
    "ps_roi_align",
    "ps_roi_pool",
    "roi_align",
    "roi_pool",
    "FeaturePyramidNetwork",
    "MultiScaleRoIAlign",
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

show_paths(__name__)
