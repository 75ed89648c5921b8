"""Published checkpoints, detection: names, sizes and accuracies as their publisher gives them."""

from __future__ import annotations

from tenfold.vision.models.catalog.kinds import coco, keypoints
from tenfold.vision.models.weights import WeightsEnum


class FasterRCNN_MobileNet_V3_Large_320_FPN_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `fasterrcnn_mobilenet_v3_large_320_fpn`."""

    COCO_V1 = coco("fasterrcnn_mobilenet_v3_large_320_fpn-907ea3f9.pth", 19_386_354, (22.8,), 0.719, 74.239)
    DEFAULT = COCO_V1


class FasterRCNN_MobileNet_V3_Large_FPN_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `fasterrcnn_mobilenet_v3_large_fpn`."""

    COCO_V1 = coco("fasterrcnn_mobilenet_v3_large_fpn-fb6a3cc7.pth", 19_386_354, (32.8,), 4.494, 74.239)
    DEFAULT = COCO_V1


class FasterRCNN_ResNet50_FPN_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `fasterrcnn_resnet50_fpn`."""

    COCO_V1 = coco("fasterrcnn_resnet50_fpn_coco-258fb6c6.pth", 41_755_286, (37.0,), 134.38, 159.743)
    DEFAULT = COCO_V1


class FasterRCNN_ResNet50_FPN_V2_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `fasterrcnn_resnet50_fpn_v2`."""

    COCO_V1 = coco("fasterrcnn_resnet50_fpn_v2_coco-dd69338a.pth", 43_712_278, (46.7,), 280.371, 167.104)
    DEFAULT = COCO_V1


class FCOS_ResNet50_FPN_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `fcos_resnet50_fpn`."""

    COCO_V1 = coco("fcos_resnet50_fpn_coco-99b0c9b7.pth", 32_269_600, (39.2,), 128.207, 123.608)
    DEFAULT = COCO_V1


class KeypointRCNN_ResNet50_FPN_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `keypointrcnn_resnet50_fpn`."""

    COCO_LEGACY = keypoints("keypointrcnn_resnet50_fpn_coco-9f466800.pth", 59_137_258, (50.6, 61.1), 133.924, 226.054)
    COCO_V1 = keypoints("keypointrcnn_resnet50_fpn_coco-fc266e95.pth", 59_137_258, (54.6, 65.0), 137.42, 226.054)
    DEFAULT = COCO_V1


class MaskRCNN_ResNet50_FPN_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `maskrcnn_resnet50_fpn`."""

    COCO_V1 = coco("maskrcnn_resnet50_fpn_coco-bf2d0c1e.pth", 44_401_393, (37.9, 34.6), 134.38, 169.84)
    DEFAULT = COCO_V1


class MaskRCNN_ResNet50_FPN_V2_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `maskrcnn_resnet50_fpn_v2`."""

    COCO_V1 = coco("maskrcnn_resnet50_fpn_v2_coco-73cbd019.pth", 46_359_409, (47.4, 41.8), 333.577, 177.219)
    DEFAULT = COCO_V1


class RetinaNet_ResNet50_FPN_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `retinanet_resnet50_fpn`."""

    COCO_V1 = coco("retinanet_resnet50_fpn_coco-eeacb38b.pth", 34_014_999, (36.4,), 151.54, 130.267)
    DEFAULT = COCO_V1


class RetinaNet_ResNet50_FPN_V2_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `retinanet_resnet50_fpn_v2`."""

    COCO_V1 = coco("retinanet_resnet50_fpn_v2_coco-5905b1c5.pth", 38_198_935, (41.5,), 152.238, 146.037)
    DEFAULT = COCO_V1


class SSD300_VGG16_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `ssd300_vgg16`."""

    COCO_V1 = coco("ssd300_vgg16_coco-b556d3b4.pth", 35_641_826, (25.1,), 34.858, 135.988)
    DEFAULT = COCO_V1


class SSDLite320_MobileNet_V3_Large_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `ssdlite320_mobilenet_v3_large`."""

    COCO_V1 = coco("ssdlite320_mobilenet_v3_large_coco-a79551df.pth", 3_440_060, (21.3,), 0.583, 13.418)
    DEFAULT = COCO_V1
