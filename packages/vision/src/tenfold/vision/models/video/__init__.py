"""Networks that classify videos."""

from __future__ import annotations

from tenfold.vision.models.catalog.video import MC3_18_Weights, R2Plus1D_18_Weights, R3D_18_Weights
from tenfold.vision.models.video.resnet import VideoResNet, mc3_18, r2plus1d_18, r3d_18

__all__ = [
    "MC3_18_Weights",
    "R2Plus1D_18_Weights",
    "R3D_18_Weights",
    "VideoResNet",
    "mc3_18",
    "r2plus1d_18",
    "r3d_18",
]
