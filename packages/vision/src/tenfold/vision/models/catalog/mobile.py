"""Published checkpoints, mobile: names, sizes and accuracies as their publisher gives them."""

from __future__ import annotations

from tenfold.vision.models.catalog.kinds import imagenet
from tenfold.vision.models.weights import WeightsEnum


class EfficientNet_B0_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `efficientnet_b0`."""

    IMAGENET1K_V1 = imagenet(
        "efficientnet_b0_rwightman-7f5810bc.pth",
        5_288_548,
        (77.692, 93.532),
        0.386,
        20.451,
        crop_size=224,
        resize_size=256,
        interpolation="bicubic",
    )
    DEFAULT = IMAGENET1K_V1


class EfficientNet_B1_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `efficientnet_b1`."""

    IMAGENET1K_V1 = imagenet(
        "efficientnet_b1_rwightman-bac287d4.pth",
        7_794_184,
        (78.642, 94.186),
        0.687,
        30.134,
        crop_size=240,
        resize_size=256,
        interpolation="bicubic",
    )
    IMAGENET1K_V2 = imagenet(
        "efficientnet_b1-c27df63c.pth",
        7_794_184,
        (79.838, 94.934),
        0.687,
        30.136,
        crop_size=240,
        resize_size=255,
        interpolation="bilinear",
    )
    DEFAULT = IMAGENET1K_V2


class EfficientNet_B2_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `efficientnet_b2`."""

    IMAGENET1K_V1 = imagenet(
        "efficientnet_b2_rwightman-c35c1473.pth",
        9_109_994,
        (80.608, 95.31),
        1.088,
        35.174,
        crop_size=288,
        resize_size=288,
        interpolation="bicubic",
    )
    DEFAULT = IMAGENET1K_V1


class EfficientNet_B3_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `efficientnet_b3`."""

    IMAGENET1K_V1 = imagenet(
        "efficientnet_b3_rwightman-b3899882.pth",
        12_233_232,
        (82.008, 96.054),
        1.827,
        47.184,
        crop_size=300,
        resize_size=320,
        interpolation="bicubic",
    )
    DEFAULT = IMAGENET1K_V1


class EfficientNet_B4_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `efficientnet_b4`."""

    IMAGENET1K_V1 = imagenet(
        "efficientnet_b4_rwightman-23ab8bcd.pth",
        19_341_616,
        (83.384, 96.594),
        4.394,
        74.489,
        crop_size=380,
        resize_size=384,
        interpolation="bicubic",
    )
    DEFAULT = IMAGENET1K_V1


class EfficientNet_B5_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `efficientnet_b5`."""

    IMAGENET1K_V1 = imagenet(
        "efficientnet_b5_lukemelas-1a07897c.pth",
        30_389_784,
        (83.444, 96.628),
        10.266,
        116.864,
        crop_size=456,
        resize_size=456,
        interpolation="bicubic",
    )
    DEFAULT = IMAGENET1K_V1


class EfficientNet_B6_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `efficientnet_b6`."""

    IMAGENET1K_V1 = imagenet(
        "efficientnet_b6_lukemelas-24a108a5.pth",
        43_040_704,
        (84.008, 96.916),
        19.068,
        165.362,
        crop_size=528,
        resize_size=528,
        interpolation="bicubic",
    )
    DEFAULT = IMAGENET1K_V1


class EfficientNet_B7_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `efficientnet_b7`."""

    IMAGENET1K_V1 = imagenet(
        "efficientnet_b7_lukemelas-c5b4e57e.pth",
        66_347_960,
        (84.122, 96.908),
        37.746,
        254.675,
        crop_size=600,
        resize_size=600,
        interpolation="bicubic",
    )
    DEFAULT = IMAGENET1K_V1


class EfficientNet_V2_L_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `efficientnet_v2_l`."""

    IMAGENET1K_V1 = imagenet(
        "efficientnet_v2_l-59c71312.pth",
        118_515_272,
        (85.808, 97.788),
        56.08,
        454.573,
        crop_size=480,
        resize_size=480,
        interpolation="bicubic",
        mean=(0.5, 0.5, 0.5),
        std=(0.5, 0.5, 0.5),
        min_size=(33, 33),
    )
    DEFAULT = IMAGENET1K_V1


class EfficientNet_V2_M_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `efficientnet_v2_m`."""

    IMAGENET1K_V1 = imagenet(
        "efficientnet_v2_m-dc08266a.pth",
        54_139_356,
        (85.112, 97.156),
        24.582,
        208.01,
        crop_size=480,
        resize_size=480,
        interpolation="bilinear",
        min_size=(33, 33),
    )
    DEFAULT = IMAGENET1K_V1


class EfficientNet_V2_S_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `efficientnet_v2_s`."""

    IMAGENET1K_V1 = imagenet(
        "efficientnet_v2_s-dd5fe13b.pth",
        21_458_488,
        (84.228, 96.878),
        8.366,
        82.704,
        crop_size=384,
        resize_size=384,
        interpolation="bilinear",
        min_size=(33, 33),
    )
    DEFAULT = IMAGENET1K_V1


class MNASNet0_5_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `mnasnet0_5`."""

    IMAGENET1K_V1 = imagenet("mnasnet0.5_top1_67.823-3ffadce67e.pth", 2_218_512, (67.734, 87.49), 0.104, 8.591, crop_size=224)
    DEFAULT = IMAGENET1K_V1


class MNASNet0_75_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `mnasnet0_75`."""

    IMAGENET1K_V1 = imagenet(
        "mnasnet0_75-7090bc5f.pth", 3_170_208, (71.18, 90.496), 0.215, 12.303, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V1


class MNASNet1_0_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `mnasnet1_0`."""

    IMAGENET1K_V1 = imagenet("mnasnet1.0_top1_73.512-f206786ef8.pth", 4_383_312, (73.456, 91.51), 0.314, 16.915, crop_size=224)
    DEFAULT = IMAGENET1K_V1


class MNASNet1_3_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `mnasnet1_3`."""

    IMAGENET1K_V1 = imagenet(
        "mnasnet1_3-a4c69d6f.pth", 6_282_256, (76.506, 93.522), 0.526, 24.246, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V1


class MobileNet_V2_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `mobilenet_v2`."""

    IMAGENET1K_V1 = imagenet("mobilenet_v2-b0353104.pth", 3_504_872, (71.878, 90.286), 0.301, 13.555, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "mobilenet_v2-7ebf99e0.pth", 3_504_872, (72.154, 90.822), 0.301, 13.598, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class MobileNet_V3_Large_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `mobilenet_v3_large`."""

    IMAGENET1K_V1 = imagenet("mobilenet_v3_large-8738ca79.pth", 5_483_032, (74.042, 91.34), 0.217, 21.114, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "mobilenet_v3_large-5c1a4163.pth", 5_483_032, (75.274, 92.566), 0.217, 21.107, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class MobileNet_V3_Small_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `mobilenet_v3_small`."""

    IMAGENET1K_V1 = imagenet("mobilenet_v3_small-047dcff4.pth", 2_542_856, (67.668, 87.402), 0.057, 9.829, crop_size=224)
    DEFAULT = IMAGENET1K_V1


class ShuffleNet_V2_X0_5_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `shufflenet_v2_x0_5`."""

    IMAGENET1K_V1 = imagenet("shufflenetv2_x0.5-f707e7126e.pth", 1_366_792, (60.552, 81.746), 0.04, 5.282, crop_size=224)
    DEFAULT = IMAGENET1K_V1


class ShuffleNet_V2_X1_0_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `shufflenet_v2_x1_0`."""

    IMAGENET1K_V1 = imagenet("shufflenetv2_x1-5666bf0f80.pth", 2_278_604, (69.362, 88.316), 0.145, 8.791, crop_size=224)
    DEFAULT = IMAGENET1K_V1


class ShuffleNet_V2_X1_5_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `shufflenet_v2_x1_5`."""

    IMAGENET1K_V1 = imagenet(
        "shufflenetv2_x1_5-3c479a10.pth", 3_503_624, (72.996, 91.086), 0.296, 13.557, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V1


class ShuffleNet_V2_X2_0_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `shufflenet_v2_x2_0`."""

    IMAGENET1K_V1 = imagenet(
        "shufflenetv2_x2_0-8be3c8ee.pth", 7_393_996, (76.23, 93.006), 0.583, 28.433, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V1


class SqueezeNet1_0_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `squeezenet1_0`."""

    IMAGENET1K_V1 = imagenet(
        "squeezenet1_0-b66bff10.pth", 1_248_424, (58.092, 80.42), 0.819, 4.778, crop_size=224, min_size=(21, 21)
    )
    DEFAULT = IMAGENET1K_V1


class SqueezeNet1_1_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `squeezenet1_1`."""

    IMAGENET1K_V1 = imagenet(
        "squeezenet1_1-b8a52dc0.pth", 1_235_496, (58.178, 80.624), 0.349, 4.729, crop_size=224, min_size=(17, 17)
    )
    DEFAULT = IMAGENET1K_V1
