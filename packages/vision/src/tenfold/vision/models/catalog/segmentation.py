"""Published checkpoints, segmentation: names, sizes and accuracies as their publisher gives them."""

from __future__ import annotations

from tenfold.vision.models.catalog.kinds import voc
from tenfold.vision.models.weights import WeightsEnum


class DeepLabV3_MobileNet_V3_Large_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `deeplabv3_mobilenet_v3_large`."""

    COCO_WITH_VOC_LABELS_V1 = voc(
        "deeplabv3_mobilenet_v3_large-fc3c493d.pth", 11_029_328, (60.3, 91.2), 10.452, 42.301, resize_size=520
    )
    DEFAULT = COCO_WITH_VOC_LABELS_V1


class DeepLabV3_ResNet101_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `deeplabv3_resnet101`."""

    COCO_WITH_VOC_LABELS_V1 = voc(
        "deeplabv3_resnet101_coco-586e9e4e.pth", 60_996_202, (67.4, 92.4), 258.743, 233.217, resize_size=520
    )
    DEFAULT = COCO_WITH_VOC_LABELS_V1


class DeepLabV3_ResNet50_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `deeplabv3_resnet50`."""

    COCO_WITH_VOC_LABELS_V1 = voc(
        "deeplabv3_resnet50_coco-cd0a2569.pth", 42_004_074, (66.4, 92.4), 178.722, 160.515, resize_size=520
    )
    DEFAULT = COCO_WITH_VOC_LABELS_V1


class FCN_ResNet101_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `fcn_resnet101`."""

    COCO_WITH_VOC_LABELS_V1 = voc("fcn_resnet101_coco-7ecb50ca.pth", 54_314_346, (63.7, 91.9), 232.738, 207.711, resize_size=520)
    DEFAULT = COCO_WITH_VOC_LABELS_V1


class FCN_ResNet50_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `fcn_resnet50`."""

    COCO_WITH_VOC_LABELS_V1 = voc("fcn_resnet50_coco-1167a1af.pth", 35_322_218, (60.5, 91.4), 152.717, 135.009, resize_size=520)
    DEFAULT = COCO_WITH_VOC_LABELS_V1


class LRASPP_MobileNet_V3_Large_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `lraspp_mobilenet_v3_large`."""

    COCO_WITH_VOC_LABELS_V1 = voc(
        "lraspp_mobilenet_v3_large-d234d4ea.pth", 3_221_538, (57.9, 91.2), 2.086, 12.49, resize_size=520
    )
    DEFAULT = COCO_WITH_VOC_LABELS_V1
