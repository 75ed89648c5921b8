"""Published checkpoints, transformers: names, sizes and accuracies as their publisher gives them."""

from __future__ import annotations

from tenfold.vision.models.catalog.kinds import imagenet
from tenfold.vision.models.weights import WeightsEnum


class MaxVit_T_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `maxvit_t`."""

    IMAGENET1K_V1 = imagenet(
        "maxvit_t-bc5ab103.pth",
        30_919_624,
        (83.7, 96.722),
        5.558,
        118.769,
        crop_size=224,
        resize_size=224,
        interpolation="bicubic",
        min_size=(224, 224),
    )
    DEFAULT = IMAGENET1K_V1


class Swin_B_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `swin_b`."""

    IMAGENET1K_V1 = imagenet(
        "swin_b-68c6b09e.pth",
        87_768_224,
        (83.582, 96.64),
        15.431,
        335.364,
        crop_size=224,
        resize_size=238,
        interpolation="bicubic",
        min_size=(224, 224),
    )
    DEFAULT = IMAGENET1K_V1


class Swin_S_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `swin_s`."""

    IMAGENET1K_V1 = imagenet(
        "swin_s-5e29d889.pth",
        49_606_258,
        (83.196, 96.36),
        8.741,
        189.786,
        crop_size=224,
        resize_size=246,
        interpolation="bicubic",
        min_size=(224, 224),
    )
    DEFAULT = IMAGENET1K_V1


class Swin_T_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `swin_t`."""

    IMAGENET1K_V1 = imagenet(
        "swin_t-704ceda3.pth",
        28_288_354,
        (81.474, 95.776),
        4.491,
        108.19,
        crop_size=224,
        resize_size=232,
        interpolation="bicubic",
        min_size=(224, 224),
    )
    DEFAULT = IMAGENET1K_V1


class Swin_V2_B_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `swin_v2_b`."""

    IMAGENET1K_V1 = imagenet(
        "swin_v2_b-781e5279.pth",
        87_930_848,
        (84.112, 96.864),
        20.325,
        336.372,
        crop_size=256,
        resize_size=272,
        interpolation="bicubic",
        min_size=(256, 256),
    )
    DEFAULT = IMAGENET1K_V1


class Swin_V2_S_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `swin_v2_s`."""

    IMAGENET1K_V1 = imagenet(
        "swin_v2_s-637d8ceb.pth",
        49_737_442,
        (83.712, 96.816),
        11.546,
        190.675,
        crop_size=256,
        resize_size=260,
        interpolation="bicubic",
        min_size=(256, 256),
    )
    DEFAULT = IMAGENET1K_V1


class Swin_V2_T_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `swin_v2_t`."""

    IMAGENET1K_V1 = imagenet(
        "swin_v2_t-b137f0e2.pth",
        28_351_570,
        (82.072, 96.132),
        5.94,
        108.626,
        crop_size=256,
        resize_size=260,
        interpolation="bicubic",
        min_size=(256, 256),
    )
    DEFAULT = IMAGENET1K_V1


class ViT_B_16_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `vit_b_16`."""

    IMAGENET1K_V1 = imagenet(
        "vit_b_16-c867db91.pth", 86_567_656, (81.072, 95.318), 17.564, 330.285, crop_size=224, min_size=(224, 224)
    )
    IMAGENET1K_SWAG_E2E_V1 = imagenet(
        "vit_b_16_swag-9ac1b537.pth",
        86_859_496,
        (85.304, 97.65),
        55.484,
        331.398,
        crop_size=384,
        resize_size=384,
        interpolation="bicubic",
        min_size=(384, 384),
        license="https://github.com/facebookresearch/SWAG/blob/main/LICENSE",
    )
    IMAGENET1K_SWAG_LINEAR_V1 = imagenet(
        "vit_b_16_lc_swag-4e70ced5.pth",
        86_567_656,
        (81.886, 96.18),
        17.564,
        330.285,
        crop_size=224,
        resize_size=224,
        interpolation="bicubic",
        min_size=(224, 224),
        license="https://github.com/facebookresearch/SWAG/blob/main/LICENSE",
    )
    DEFAULT = IMAGENET1K_V1


class ViT_B_32_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `vit_b_32`."""

    IMAGENET1K_V1 = imagenet(
        "vit_b_32-d86f8d99.pth", 88_224_232, (75.912, 92.466), 4.409, 336.604, crop_size=224, min_size=(224, 224)
    )
    DEFAULT = IMAGENET1K_V1


class ViT_H_14_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `vit_h_14`."""

    IMAGENET1K_SWAG_E2E_V1 = imagenet(
        "vit_h_14_swag-80465313.pth",
        633_470_440,
        (88.552, 98.694),
        1016.717,
        2416.643,
        crop_size=518,
        resize_size=518,
        interpolation="bicubic",
        min_size=(518, 518),
        license="https://github.com/facebookresearch/SWAG/blob/main/LICENSE",
    )
    IMAGENET1K_SWAG_LINEAR_V1 = imagenet(
        "vit_h_14_lc_swag-c1eb923e.pth",
        632_045_800,
        (85.708, 97.73),
        167.295,
        2411.209,
        crop_size=224,
        resize_size=224,
        interpolation="bicubic",
        min_size=(224, 224),
        license="https://github.com/facebookresearch/SWAG/blob/main/LICENSE",
    )
    DEFAULT = IMAGENET1K_SWAG_E2E_V1


class ViT_L_16_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `vit_l_16`."""

    IMAGENET1K_V1 = imagenet(
        "vit_l_16-852ce7e3.pth",
        304_326_632,
        (79.662, 94.638),
        61.555,
        1161.023,
        crop_size=224,
        resize_size=242,
        min_size=(224, 224),
    )
    IMAGENET1K_SWAG_E2E_V1 = imagenet(
        "vit_l_16_swag-4f3808c9.pth",
        305_174_504,
        (88.064, 98.512),
        361.986,
        1164.258,
        crop_size=512,
        resize_size=512,
        interpolation="bicubic",
        min_size=(512, 512),
        license="https://github.com/facebookresearch/SWAG/blob/main/LICENSE",
    )
    IMAGENET1K_SWAG_LINEAR_V1 = imagenet(
        "vit_l_16_lc_swag-4d563306.pth",
        304_326_632,
        (85.146, 97.422),
        61.555,
        1161.023,
        crop_size=224,
        resize_size=224,
        interpolation="bicubic",
        min_size=(224, 224),
        license="https://github.com/facebookresearch/SWAG/blob/main/LICENSE",
    )
    DEFAULT = IMAGENET1K_V1


class ViT_L_32_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `vit_l_32`."""

    IMAGENET1K_V1 = imagenet(
        "vit_l_32-c7638314.pth", 306_535_400, (76.972, 93.07), 15.378, 1169.449, crop_size=224, min_size=(224, 224)
    )
    DEFAULT = IMAGENET1K_V1
