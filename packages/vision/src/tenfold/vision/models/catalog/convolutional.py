"""Published checkpoints, convolutional: names, sizes and accuracies as their publisher gives them."""

from __future__ import annotations

from tenfold.vision.models.catalog.kinds import imagenet
from tenfold.vision.models.weights import WeightsEnum


class AlexNet_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `alexnet`."""

    IMAGENET1K_V1 = imagenet(
        "alexnet-owt-7be5be79.pth", 61_100_840, (56.522, 79.066), 0.714, 233.087, crop_size=224, min_size=(63, 63)
    )
    DEFAULT = IMAGENET1K_V1


class ConvNeXt_Base_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `convnext_base`."""

    IMAGENET1K_V1 = imagenet(
        "convnext_base-6075fbad.pth",
        88_591_464,
        (84.062, 96.87),
        15.355,
        338.064,
        crop_size=224,
        resize_size=232,
        min_size=(32, 32),
    )
    DEFAULT = IMAGENET1K_V1


class ConvNeXt_Large_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `convnext_large`."""

    IMAGENET1K_V1 = imagenet(
        "convnext_large-ea097f82.pth",
        197_767_336,
        (84.414, 96.976),
        34.361,
        754.537,
        crop_size=224,
        resize_size=232,
        min_size=(32, 32),
    )
    DEFAULT = IMAGENET1K_V1


class ConvNeXt_Small_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `convnext_small`."""

    IMAGENET1K_V1 = imagenet(
        "convnext_small-0c510722.pth",
        50_223_688,
        (83.616, 96.65),
        8.684,
        191.703,
        crop_size=224,
        resize_size=230,
        min_size=(32, 32),
    )
    DEFAULT = IMAGENET1K_V1


class ConvNeXt_Tiny_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `convnext_tiny`."""

    IMAGENET1K_V1 = imagenet(
        "convnext_tiny-983f1562.pth",
        28_589_128,
        (82.52, 96.146),
        4.456,
        109.119,
        crop_size=224,
        resize_size=236,
        min_size=(32, 32),
    )
    DEFAULT = IMAGENET1K_V1


class DenseNet121_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `densenet121`."""

    IMAGENET1K_V1 = imagenet(
        "densenet121-a639ec97.pth", 7_978_856, (74.434, 91.972), 2.834, 30.845, crop_size=224, min_size=(29, 29)
    )
    DEFAULT = IMAGENET1K_V1


class DenseNet161_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `densenet161`."""

    IMAGENET1K_V1 = imagenet(
        "densenet161-8d451a50.pth", 28_681_000, (77.138, 93.56), 7.728, 110.369, crop_size=224, min_size=(29, 29)
    )
    DEFAULT = IMAGENET1K_V1


class DenseNet169_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `densenet169`."""

    IMAGENET1K_V1 = imagenet(
        "densenet169-b2777c0a.pth", 14_149_480, (75.6, 92.806), 3.36, 54.708, crop_size=224, min_size=(29, 29)
    )
    DEFAULT = IMAGENET1K_V1


class DenseNet201_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `densenet201`."""

    IMAGENET1K_V1 = imagenet(
        "densenet201-c1103571.pth", 20_013_928, (76.896, 93.37), 4.291, 77.373, crop_size=224, min_size=(29, 29)
    )
    DEFAULT = IMAGENET1K_V1


class GoogLeNet_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `googlenet`."""

    IMAGENET1K_V1 = imagenet(
        "googlenet-1378be20.pth", 6_624_904, (69.778, 89.53), 1.498, 49.731, crop_size=224, min_size=(15, 15)
    )
    DEFAULT = IMAGENET1K_V1


class Inception_V3_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `inception_v3`."""

    IMAGENET1K_V1 = imagenet(
        "inception_v3_google-0cc3c7bd.pth",
        27_161_264,
        (77.294, 93.45),
        5.713,
        103.903,
        crop_size=299,
        resize_size=342,
        min_size=(75, 75),
    )
    DEFAULT = IMAGENET1K_V1


class ResNet101_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `resnet101`."""

    IMAGENET1K_V1 = imagenet("resnet101-63fe2227.pth", 44_549_160, (77.374, 93.546), 7.801, 170.511, crop_size=224)
    IMAGENET1K_V2 = imagenet("resnet101-cd907fc2.pth", 44_549_160, (81.886, 95.78), 7.801, 170.53, crop_size=224, resize_size=232)
    DEFAULT = IMAGENET1K_V2


class ResNet152_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `resnet152`."""

    IMAGENET1K_V1 = imagenet("resnet152-394f9c45.pth", 60_192_808, (78.312, 94.046), 11.514, 230.434, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "resnet152-f82ba261.pth", 60_192_808, (82.284, 96.002), 11.514, 230.474, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class ResNet18_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `resnet18`."""

    IMAGENET1K_V1 = imagenet("resnet18-f37072fd.pth", 11_689_512, (69.758, 89.078), 1.814, 44.661, crop_size=224)
    DEFAULT = IMAGENET1K_V1


class ResNet34_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `resnet34`."""

    IMAGENET1K_V1 = imagenet("resnet34-b627a593.pth", 21_797_672, (73.314, 91.42), 3.664, 83.275, crop_size=224)
    DEFAULT = IMAGENET1K_V1


class ResNet50_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `resnet50`."""

    IMAGENET1K_V1 = imagenet("resnet50-0676ba61.pth", 25_557_032, (76.13, 92.862), 4.089, 97.781, crop_size=224)
    IMAGENET1K_V2 = imagenet("resnet50-11ad3fa6.pth", 25_557_032, (80.858, 95.434), 4.089, 97.79, crop_size=224, resize_size=232)
    DEFAULT = IMAGENET1K_V2


class ResNeXt101_32X8D_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `resnext101_32x8d`."""

    IMAGENET1K_V1 = imagenet("resnext101_32x8d-8ba56ff5.pth", 88_791_336, (79.312, 94.526), 16.414, 339.586, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "resnext101_32x8d-110c445d.pth", 88_791_336, (82.834, 96.228), 16.414, 339.673, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class ResNeXt101_64X4D_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `resnext101_64x4d`."""

    IMAGENET1K_V1 = imagenet(
        "resnext101_64x4d-173b62eb.pth", 83_455_272, (83.246, 96.454), 15.46, 319.318, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V1


class ResNeXt50_32X4D_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `resnext50_32x4d`."""

    IMAGENET1K_V1 = imagenet("resnext50_32x4d-7cdf4587.pth", 25_028_904, (77.618, 93.698), 4.23, 95.789, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "resnext50_32x4d-1a0047aa.pth", 25_028_904, (81.198, 95.34), 4.23, 95.833, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class VGG11_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `vgg11`."""

    IMAGENET1K_V1 = imagenet("vgg11-8a719046.pth", 132_863_336, (69.02, 88.628), 7.609, 506.84, crop_size=224, min_size=(32, 32))
    DEFAULT = IMAGENET1K_V1


class VGG11_BN_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `vgg11_bn`."""

    IMAGENET1K_V1 = imagenet(
        "vgg11_bn-6002323d.pth", 132_868_840, (70.37, 89.81), 7.609, 506.881, crop_size=224, min_size=(32, 32)
    )
    DEFAULT = IMAGENET1K_V1


class VGG13_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `vgg13`."""

    IMAGENET1K_V1 = imagenet(
        "vgg13-19584684.pth", 133_047_848, (69.928, 89.246), 11.308, 507.545, crop_size=224, min_size=(32, 32)
    )
    DEFAULT = IMAGENET1K_V1


class VGG13_BN_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `vgg13_bn`."""

    IMAGENET1K_V1 = imagenet(
        "vgg13_bn-abd245e5.pth", 133_053_736, (71.586, 90.374), 11.308, 507.59, crop_size=224, min_size=(32, 32)
    )
    DEFAULT = IMAGENET1K_V1


class VGG16_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `vgg16`."""

    IMAGENET1K_V1 = imagenet(
        "vgg16-397923af.pth", 138_357_544, (71.592, 90.382), 15.47, 527.796, crop_size=224, min_size=(32, 32)
    )
    IMAGENET1K_FEATURES = imagenet(
        "vgg16_features-amdegroot-88682ab5.pth",
        138_357_544,
        None,
        15.47,
        527.802,
        crop_size=224,
        mean=(0.48235, 0.45882, 0.40784),
        std=(0.00392156862745098, 0.00392156862745098, 0.00392156862745098),
        min_size=(32, 32),
    )
    DEFAULT = IMAGENET1K_V1


class VGG16_BN_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `vgg16_bn`."""

    IMAGENET1K_V1 = imagenet(
        "vgg16_bn-6c64b313.pth", 138_365_992, (73.36, 91.516), 15.47, 527.866, crop_size=224, min_size=(32, 32)
    )
    DEFAULT = IMAGENET1K_V1


class VGG19_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `vgg19`."""

    IMAGENET1K_V1 = imagenet(
        "vgg19-dcbb9e9d.pth", 143_667_240, (72.376, 90.876), 19.632, 548.051, crop_size=224, min_size=(32, 32)
    )
    DEFAULT = IMAGENET1K_V1


class VGG19_BN_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `vgg19_bn`."""

    IMAGENET1K_V1 = imagenet(
        "vgg19_bn-c79401a0.pth", 143_678_248, (74.218, 91.842), 19.632, 548.143, crop_size=224, min_size=(32, 32)
    )
    DEFAULT = IMAGENET1K_V1


class Wide_ResNet101_2_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `wide_resnet101_2`."""

    IMAGENET1K_V1 = imagenet("wide_resnet101_2-32ee1156.pth", 126_886_696, (78.848, 94.284), 22.753, 242.896, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "wide_resnet101_2-d733dc28.pth", 126_886_696, (82.51, 96.02), 22.753, 484.747, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2


class Wide_ResNet50_2_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `wide_resnet50_2`."""

    IMAGENET1K_V1 = imagenet("wide_resnet50_2-95faca4d.pth", 68_883_240, (78.468, 94.086), 11.398, 131.82, crop_size=224)
    IMAGENET1K_V2 = imagenet(
        "wide_resnet50_2-9ba9bcbe.pth", 68_883_240, (81.602, 95.758), 11.398, 263.124, crop_size=224, resize_size=232
    )
    DEFAULT = IMAGENET1K_V2
