"""Published checkpoints, regnet: names, sizes and accuracies as their publisher gives them."""

from __future__ import annotations

from tenfold.vision.models.catalog.kinds import imagenet
from tenfold.vision.models.weights import WeightsEnum


class RegNet_X_16GF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_x_16gf`."""

    IMAGENET1K_V1 = imagenet("regnet_x_16gf-2007eb11.pth", 54_278_536, (80.058, 94.944), 15.941, 207.627, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_x_16gf-ba3796d7.pth", 54_278_536, (82.716, 96.196), 15.941, 207.627, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class RegNet_X_1_6GF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_x_1_6gf`."""

    IMAGENET1K_V1 = imagenet("regnet_x_1_6gf-e3633e7f.pth", 9_190_136, (77.04, 93.44), 1.603, 35.339, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_x_1_6gf-a12f2b72.pth", 9_190_136, (79.668, 94.922), 1.603, 35.339, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class RegNet_X_32GF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_x_32gf`."""

    IMAGENET1K_V1 = imagenet("regnet_x_32gf-9d47f8d0.pth", 107_811_560, (80.622, 95.248), 31.736, 412.039, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_x_32gf-6eb8fdc6.pth", 107_811_560, (83.014, 96.288), 31.736, 412.039, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class RegNet_X_3_2GF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_x_3_2gf`."""

    IMAGENET1K_V1 = imagenet("regnet_x_3_2gf-f342aeae.pth", 15_296_552, (78.364, 93.992), 3.177, 58.756, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_x_3_2gf-7071aa85.pth", 15_296_552, (81.196, 95.43), 3.177, 58.756, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class RegNet_X_400MF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_x_400mf`."""

    IMAGENET1K_V1 = imagenet("regnet_x_400mf-adf1edd5.pth", 5_495_976, (72.834, 90.95), 0.414, 21.258, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_x_400mf-62229a5f.pth", 5_495_976, (74.864, 92.322), 0.414, 21.257, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class RegNet_X_800MF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_x_800mf`."""

    IMAGENET1K_V1 = imagenet("regnet_x_800mf-ad17e45c.pth", 7_259_656, (75.212, 92.348), 0.8, 27.945, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_x_800mf-94a99ebd.pth", 7_259_656, (77.522, 93.826), 0.8, 27.945, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class RegNet_X_8GF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_x_8gf`."""

    IMAGENET1K_V1 = imagenet("regnet_x_8gf-03ceed89.pth", 39_572_648, (79.344, 94.686), 7.995, 151.456, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_x_8gf-2b70d774.pth", 39_572_648, (81.682, 95.678), 7.995, 151.456, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class RegNet_Y_128GF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_y_128gf`."""

    IMAGENET1K_SWAG_E2E_V1 = imagenet(
        "regnet_y_128gf_swag-c8ce3e52.pth",
        644_812_894,
        (88.228, 98.682),
        374.57,
        2461.564,
        crop_size=384,
        resize_size=384,
        interpolation="bicubic",
        license="https://github.com/facebookresearch/SWAG/blob/main/LICENSE",
    )
    IMAGENET1K_SWAG_LINEAR_V1 = imagenet(
        "regnet_y_128gf_lc_swag-cbe8ce12.pth",
        644_812_894,
        (86.068, 97.844),
        127.518,
        2461.564,
        crop_size=224,
        resize_size=224,
        interpolation="bicubic",
        license="https://github.com/facebookresearch/SWAG/blob/main/LICENSE",
    )
    DEFAULT = IMAGENET1K_SWAG_E2E_V1


class RegNet_Y_16GF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_y_16gf`."""

    IMAGENET1K_V1 = imagenet("regnet_y_16gf-9e6ed7dd.pth", 83_590_140, (80.424, 95.24), 15.912, 319.49, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_y_16gf-3e4a00f9.pth", 83_590_140, (82.886, 96.328), 15.912, 319.49, crop_size=224, resize_size=232
    )
    IMAGENET1K_SWAG_E2E_V1 = imagenet(
        "regnet_y_16gf_swag-43afe44d.pth",
        83_590_140,
        (86.012, 98.054),
        46.735,
        319.49,
        crop_size=384,
        resize_size=384,
        interpolation="bicubic",
        license="https://github.com/facebookresearch/SWAG/blob/main/LICENSE",
    )
    IMAGENET1K_SWAG_LINEAR_V1 = imagenet(
        "regnet_y_16gf_lc_swag-f3ec0043.pth",
        83_590_140,
        (83.976, 97.244),
        15.912,
        319.49,
        crop_size=224,
        resize_size=224,
        interpolation="bicubic",
        license="https://github.com/facebookresearch/SWAG/blob/main/LICENSE",
    )
    DEFAULT = IMAGENET1K_V2


class RegNet_Y_1_6GF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_y_1_6gf`."""

    IMAGENET1K_V1 = imagenet("regnet_y_1_6gf-b11a554e.pth", 11_202_430, (77.95, 93.966), 1.612, 43.152, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_y_1_6gf-0d7bc02a.pth", 11_202_430, (80.876, 95.444), 1.612, 43.152, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class RegNet_Y_32GF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_y_32gf`."""

    IMAGENET1K_V1 = imagenet("regnet_y_32gf-4dee3f7a.pth", 145_046_770, (80.878, 95.34), 32.28, 554.076, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_y_32gf-8db6d4b5.pth", 145_046_770, (83.368, 96.498), 32.28, 554.076, crop_size=224, resize_size=232
    )
    IMAGENET1K_SWAG_E2E_V1 = imagenet(
        "regnet_y_32gf_swag-04fdfa75.pth",
        145_046_770,
        (86.838, 98.362),
        94.826,
        554.076,
        crop_size=384,
        resize_size=384,
        interpolation="bicubic",
        license="https://github.com/facebookresearch/SWAG/blob/main/LICENSE",
    )
    IMAGENET1K_SWAG_LINEAR_V1 = imagenet(
        "regnet_y_32gf_lc_swag-e1583746.pth",
        145_046_770,
        (84.622, 97.48),
        32.28,
        554.076,
        crop_size=224,
        resize_size=224,
        interpolation="bicubic",
        license="https://github.com/facebookresearch/SWAG/blob/main/LICENSE",
    )
    DEFAULT = IMAGENET1K_V2


class RegNet_Y_3_2GF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_y_3_2gf`."""

    IMAGENET1K_V1 = imagenet("regnet_y_3_2gf-b5a9779c.pth", 19_436_338, (78.948, 94.576), 3.176, 74.567, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_y_3_2gf-9180c971.pth", 19_436_338, (81.982, 95.972), 3.176, 74.567, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class RegNet_Y_400MF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_y_400mf`."""

    IMAGENET1K_V1 = imagenet("regnet_y_400mf-c65dace8.pth", 4_344_144, (74.046, 91.716), 0.402, 16.806, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_y_400mf-e6988f5f.pth", 4_344_144, (75.804, 92.742), 0.402, 16.806, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class RegNet_Y_800MF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_y_800mf`."""

    IMAGENET1K_V1 = imagenet("regnet_y_800mf-1b27b58c.pth", 6_432_512, (76.42, 93.136), 0.834, 24.774, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_y_800mf-58fc7688.pth", 6_432_512, (78.828, 94.502), 0.834, 24.774, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class RegNet_Y_8GF_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `regnet_y_8gf`."""

    IMAGENET1K_V1 = imagenet("regnet_y_8gf-d0d0e4a8.pth", 39_381_472, (80.032, 95.048), 8.473, 150.701, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "regnet_y_8gf-dc2b1b54.pth", 39_381_472, (82.828, 96.33), 8.473, 150.701, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2
