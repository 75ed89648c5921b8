"""Networks that find things in pictures, and their parts."""

from __future__ import annotations

from tenfold.vision.models.catalog.detection import (
    FasterRCNN_MobileNet_V3_Large_320_FPN_Weights,
    FasterRCNN_MobileNet_V3_Large_FPN_Weights,
    FasterRCNN_ResNet50_FPN_V2_Weights,
    FasterRCNN_ResNet50_FPN_Weights,
    FCOS_ResNet50_FPN_Weights,
    KeypointRCNN_ResNet50_FPN_Weights,
    MaskRCNN_ResNet50_FPN_V2_Weights,
    MaskRCNN_ResNet50_FPN_Weights,
    RetinaNet_ResNet50_FPN_V2_Weights,
    RetinaNet_ResNet50_FPN_Weights,
    SSD300_VGG16_Weights,
    SSDLite320_MobileNet_V3_Large_Weights,
)
from tenfold.vision.models.detection.boxes import AnchorGenerator
from tenfold.vision.models.detection.default_boxes import DefaultBoxGenerator
from tenfold.vision.models.detection.fcos import FCOS, fcos_resnet50_fpn
from tenfold.vision.models.detection.keypoint_rcnn import KeypointRCNN
from tenfold.vision.models.detection.published_rcnn import (
    fasterrcnn_mobilenet_v3_large_320_fpn,
    fasterrcnn_mobilenet_v3_large_fpn,
    fasterrcnn_resnet50_fpn,
    fasterrcnn_resnet50_fpn_v2,
    keypointrcnn_resnet50_fpn,
    maskrcnn_resnet50_fpn,
    maskrcnn_resnet50_fpn_v2,
)
from tenfold.vision.models.detection.published_ssd import ssd300_vgg16, ssdlite320_mobilenet_v3_large
from tenfold.vision.models.detection.rcnn import FasterRCNN, MaskRCNN
from tenfold.vision.models.detection.retinanet import RetinaNet, retinanet_resnet50_fpn, retinanet_resnet50_fpn_v2
from tenfold.vision.models.detection.ssd import SSD
from tenfold.vision.paths import show_paths

__all__ = [
    "DefaultBoxGenerator",
    "FCOS",
    "FCOS_ResNet50_FPN_Weights",
    "KeypointRCNN",
    "KeypointRCNN_ResNet50_FPN_Weights",
    "SSD",
    "SSD300_VGG16_Weights",
    "SSDLite320_MobileNet_V3_Large_Weights",
    "fcos_resnet50_fpn",
    "keypointrcnn_resnet50_fpn",
    "ssd300_vgg16",
    "ssdlite320_mobilenet_v3_large",
    "AnchorGenerator",
    "FasterRCNN",
    "FasterRCNN_MobileNet_V3_Large_320_FPN_Weights",
    "FasterRCNN_MobileNet_V3_Large_FPN_Weights",
    "FasterRCNN_ResNet50_FPN_V2_Weights",
    "FasterRCNN_ResNet50_FPN_Weights",
    "MaskRCNN",
    "MaskRCNN_ResNet50_FPN_V2_Weights",
    "MaskRCNN_ResNet50_FPN_Weights",
    "RetinaNet",
    "RetinaNet_ResNet50_FPN_V2_Weights",
    "RetinaNet_ResNet50_FPN_Weights",
    "fasterrcnn_mobilenet_v3_large_320_fpn",
    "fasterrcnn_mobilenet_v3_large_fpn",
    "fasterrcnn_resnet50_fpn",
    "fasterrcnn_resnet50_fpn_v2",
    "maskrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn_v2",
    "retinanet_resnet50_fpn",
    "retinanet_resnet50_fpn_v2",
]

show_paths(__name__)
