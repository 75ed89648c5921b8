"""Networks that classify every pixel."""

from __future__ import annotations

from tenfold.vision.models.catalog.segmentation import (
    DeepLabV3_MobileNet_V3_Large_Weights,
    DeepLabV3_ResNet50_Weights,
    DeepLabV3_ResNet101_Weights,
    FCN_ResNet50_Weights,
    FCN_ResNet101_Weights,
    LRASPP_MobileNet_V3_Large_Weights,
)
from tenfold.vision.models.segmentation.deeplabv3 import (
    DeepLabV3,
    deeplabv3_mobilenet_v3_large,
    deeplabv3_resnet50,
    deeplabv3_resnet101,
)
from tenfold.vision.models.segmentation.fcn import FCN, fcn_resnet50, fcn_resnet101
from tenfold.vision.models.segmentation.lraspp import LRASPP, lraspp_mobilenet_v3_large
from tenfold.vision.models.segmentation.unet import UNet, unet

__all__ = [
    "FCN",
    "LRASPP",
    "DeepLabV3",
    "DeepLabV3_MobileNet_V3_Large_Weights",
    "DeepLabV3_ResNet50_Weights",
    "DeepLabV3_ResNet101_Weights",
    "FCN_ResNet50_Weights",
    "FCN_ResNet101_Weights",
    "LRASPP_MobileNet_V3_Large_Weights",
    "UNet",
    "deeplabv3_mobilenet_v3_large",
    "deeplabv3_resnet50",
    "deeplabv3_resnet101",
    "fcn_resnet50",
    "fcn_resnet101",
    "lraspp_mobilenet_v3_large",
    "unet",
]
