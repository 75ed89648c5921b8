"""Networks that classify videos."""

from __future__ import annotations

from tenfold.vision.models.catalog.video import (
    MC3_18_Weights,
    MViT_V1_B_Weights,
    MViT_V2_S_Weights,
    R2Plus1D_18_Weights,
    R3D_18_Weights,
    S3D_Weights,
    Swin3D_B_Weights,
    Swin3D_S_Weights,
    Swin3D_T_Weights,
)
from tenfold.vision.models.video.mvit import MViT, mvit_v1_b, mvit_v2_s
from tenfold.vision.models.video.resnet import VideoResNet, mc3_18, r2plus1d_18, r3d_18
from tenfold.vision.models.video.s3d import S3D, s3d
from tenfold.vision.models.video.swin_transformer import SwinTransformer3d, swin3d_b, swin3d_s, swin3d_t

__all__ = [
    "MViT",
    "MViT_V1_B_Weights",
    "MViT_V2_S_Weights",
    "mvit_v1_b",
    "mvit_v2_s",
    "MC3_18_Weights",
    "R2Plus1D_18_Weights",
    "R3D_18_Weights",
    "S3D",
    "S3D_Weights",
    "Swin3D_B_Weights",
    "Swin3D_S_Weights",
    "Swin3D_T_Weights",
    "SwinTransformer3d",
    "VideoResNet",
    "mc3_18",
    "r2plus1d_18",
    "r3d_18",
    "s3d",
    "swin3d_b",
    "swin3d_s",
    "swin3d_t",
]
