"""Published checkpoints, video: names, sizes and accuracies as their publisher gives them."""

from __future__ import annotations

from tenfold.vision.models.catalog.kinds import kinetics
from tenfold.vision.models.weights import WeightsEnum


class MC3_18_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `mc3_18`."""

    KINETICS400_V1 = kinetics(
        "mc3_18-a90a0ba3.pth", 11_695_440, (63.96, 84.13), 43.343, 44.672, crop_size=(112, 112), resize_size=(128, 171)
    )
    DEFAULT = KINETICS400_V1


class MViT_V1_B_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `mvit_v1_b`."""

    KINETICS400_V1 = kinetics(
        "mvit_v1_b-dbeb1030.pth",
        36_610_672,
        (78.477, 93.582),
        70.599,
        139.764,
        crop_size=(224, 224),
        resize_size=(256,),
        mean=(0.45, 0.45, 0.45),
        std=(0.225, 0.225, 0.225),
        min_size=(224, 224),
        min_temporal_size=16,
    )
    DEFAULT = KINETICS400_V1


class MViT_V2_S_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `mvit_v2_s`."""

    KINETICS400_V1 = kinetics(
        "mvit_v2_s-ae3be167.pth",
        34_537_744,
        (80.757, 94.665),
        64.224,
        131.884,
        crop_size=(224, 224),
        resize_size=(256,),
        mean=(0.45, 0.45, 0.45),
        std=(0.225, 0.225, 0.225),
        min_size=(224, 224),
        min_temporal_size=16,
    )
    DEFAULT = KINETICS400_V1


class R2Plus1D_18_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `r2plus1d_18`."""

    KINETICS400_V1 = kinetics(
        "r2plus1d_18-91a641e6.pth", 31_505_325, (67.463, 86.175), 40.519, 120.318, crop_size=(112, 112), resize_size=(128, 171)
    )
    DEFAULT = KINETICS400_V1


class R3D_18_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `r3d_18`."""

    KINETICS400_V1 = kinetics(
        "r3d_18-b3b3357e.pth", 33_371_472, (63.2, 83.479), 40.697, 127.359, crop_size=(112, 112), resize_size=(128, 171)
    )
    DEFAULT = KINETICS400_V1


class S3D_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `s3d`."""

    KINETICS400_V1 = kinetics(
        "s3d-d76dad2f.pth",
        8_320_048,
        (68.368, 88.05),
        17.979,
        31.972,
        crop_size=(224, 224),
        resize_size=(256, 256),
        min_size=(224, 224),
        min_temporal_size=14,
    )
    DEFAULT = KINETICS400_V1


class Swin3D_B_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `swin3d_b`."""

    KINETICS400_V1 = kinetics(
        "swin3d_b_1k-24f7c7c6.pth",
        88_048_984,
        (79.427, 94.386),
        140.667,
        364.134,
        crop_size=(224, 224),
        resize_size=(256,),
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
    )
    KINETICS400_IMAGENET22K_V1 = kinetics(
        "swin3d_b_22k-7c6ae6fa.pth",
        88_048_984,
        (81.643, 95.574),
        140.667,
        364.134,
        crop_size=(224, 224),
        resize_size=(256,),
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
    )
    DEFAULT = KINETICS400_V1


class Swin3D_S_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `swin3d_s`."""

    KINETICS400_V1 = kinetics(
        "swin3d_s-da41c237.pth",
        49_816_678,
        (79.521, 94.158),
        82.841,
        218.288,
        crop_size=(224, 224),
        resize_size=(256,),
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
    )
    DEFAULT = KINETICS400_V1


class Swin3D_T_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `swin3d_t`."""

    KINETICS400_V1 = kinetics(
        "swin3d_t-7615ae03.pth",
        28_158_070,
        (77.715, 93.519),
        43.882,
        121.543,
        crop_size=(224, 224),
        resize_size=(256,),
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
    )
    DEFAULT = KINETICS400_V1
