"""Published checkpoints of quantized networks: what is known of them. Eight-bit numbers are not read here."""

from __future__ import annotations

import dataclasses
from typing import Any

from tenfold.vision.models.catalog import convolutional as floats, mobile
from tenfold.vision.models.catalog.kinds import imagenet
from tenfold.vision.models.weights import Weights, WeightsEnum

RECIPES = "https://github.com/pytorch/vision/tree/main/references/classification#"
POST_TRAINING = RECIPES + "post-training-quantized-models"


def _eight_bits(
    file: str,
    unquantized: WeightsEnum,
    accuracy: tuple[float, float],
    file_size: float,
    recipe: str = POST_TRAINING,
    backend: str = "fbgemm",
    **preset: Any,
) -> Weights:
    """A checkpoint made from another; ``backend`` names the library whose kernels it was made for."""
    known = unquantized.meta
    made = imagenet("quantized/" + file, known["num_params"], accuracy, known["_ops"], file_size, known["min_size"], **preset)
    return dataclasses.replace(made, meta={**made.meta, "backend": backend, "recipe": recipe, "unquantized": unquantized})


class GoogLeNet_QuantizedWeights(WeightsEnum):  # noqa: N801
    """Checkpoints of `quantization.googlenet`."""

    IMAGENET1K_FBGEMM_V1 = _eight_bits(
        "googlenet_fbgemm-c81f6644.pth", floats.GoogLeNet_Weights.IMAGENET1K_V1, (69.826, 89.404), 12.618, crop_size=224
    )
    DEFAULT = IMAGENET1K_FBGEMM_V1


class Inception_V3_QuantizedWeights(WeightsEnum):  # noqa: N801
    """Checkpoints of `quantization.inception_v3`."""

    IMAGENET1K_FBGEMM_V1 = _eight_bits(
        "inception_v3_google_fbgemm-a2837893.pth",
        floats.Inception_V3_Weights.IMAGENET1K_V1,
        (77.176, 93.354),
        23.146,
        crop_size=299,
        resize_size=342,
    )
    DEFAULT = IMAGENET1K_FBGEMM_V1


class MobileNet_V2_QuantizedWeights(WeightsEnum):  # noqa: N801
    """Checkpoints of `quantization.mobilenet_v2`."""

    IMAGENET1K_QNNPACK_V1 = _eight_bits(
        "mobilenet_v2_qnnpack_37f702c5.pth",
        mobile.MobileNet_V2_Weights.IMAGENET1K_V1,
        (71.658, 90.15),
        3.423,
        RECIPES + "qat-mobilenetv2",
        "qnnpack",
        crop_size=224,
    )
    DEFAULT = IMAGENET1K_QNNPACK_V1


class MobileNet_V3_Large_QuantizedWeights(WeightsEnum):  # noqa: N801
    """Checkpoints of `quantization.mobilenet_v3_large`."""

    IMAGENET1K_QNNPACK_V1 = _eight_bits(
        "mobilenet_v3_large_qnnpack-5bcacf28.pth",
        mobile.MobileNet_V3_Large_Weights.IMAGENET1K_V1,
        (73.004, 90.858),
        21.554,
        RECIPES + "qat-mobilenetv3",
        "qnnpack",
        crop_size=224,
    )
    DEFAULT = IMAGENET1K_QNNPACK_V1


class ResNet18_QuantizedWeights(WeightsEnum):  # noqa: N801
    """Checkpoints of `quantization.resnet18`."""

    IMAGENET1K_FBGEMM_V1 = _eight_bits(
        "resnet18_fbgemm_16fa66dd.pth", floats.ResNet18_Weights.IMAGENET1K_V1, (69.494, 88.882), 11.238, crop_size=224
    )
    DEFAULT = IMAGENET1K_FBGEMM_V1


class ResNet50_QuantizedWeights(WeightsEnum):  # noqa: N801
    """Checkpoints of `quantization.resnet50`."""

    IMAGENET1K_FBGEMM_V1 = _eight_bits(
        "resnet50_fbgemm_bf931d71.pth", floats.ResNet50_Weights.IMAGENET1K_V1, (75.92, 92.814), 24.759, crop_size=224
    )
    IMAGENET1K_FBGEMM_V2 = _eight_bits(
        "resnet50_fbgemm-23753f79.pth",
        floats.ResNet50_Weights.IMAGENET1K_V2,
        (80.282, 94.976),
        24.953,
        crop_size=224,
        resize_size=232,
    )
    DEFAULT = IMAGENET1K_FBGEMM_V2


class ResNeXt101_32X8D_QuantizedWeights(WeightsEnum):  # noqa: N801
    """Checkpoints of `quantization.resnext101_32x8d`."""

    IMAGENET1K_FBGEMM_V1 = _eight_bits(
        "resnext101_32x8_fbgemm_09835ccf.pth",
        floats.ResNeXt101_32X8D_Weights.IMAGENET1K_V1,
        (78.986, 94.48),
        86.034,
        crop_size=224,
    )
    IMAGENET1K_FBGEMM_V2 = _eight_bits(
        "resnext101_32x8_fbgemm-ee16d00c.pth",
        floats.ResNeXt101_32X8D_Weights.IMAGENET1K_V2,
        (82.574, 96.132),
        86.645,
        crop_size=224,
        resize_size=232,
    )
    DEFAULT = IMAGENET1K_FBGEMM_V2


class ResNeXt101_64X4D_QuantizedWeights(WeightsEnum):  # noqa: N801
    """Checkpoints of `quantization.resnext101_64x4d`."""

    IMAGENET1K_FBGEMM_V1 = _eight_bits(
        "resnext101_64x4d_fbgemm-605a1cb3.pth",
        floats.ResNeXt101_64X4D_Weights.IMAGENET1K_V1,
        (82.898, 96.326),
        81.556,
        "https://github.com/pytorch/vision/pull/5935",
        crop_size=224,
        resize_size=232,
    )
    DEFAULT = IMAGENET1K_FBGEMM_V1


class ShuffleNet_V2_X0_5_QuantizedWeights(WeightsEnum):  # noqa: N801
    """Checkpoints of `quantization.shufflenet_v2_x0_5`."""

    IMAGENET1K_FBGEMM_V1 = _eight_bits(
        "shufflenetv2_x0.5_fbgemm-00845098.pth",
        mobile.ShuffleNet_V2_X0_5_Weights.IMAGENET1K_V1,
        (57.972, 79.78),
        1.501,
        crop_size=224,
    )
    DEFAULT = IMAGENET1K_FBGEMM_V1


class ShuffleNet_V2_X1_0_QuantizedWeights(WeightsEnum):  # noqa: N801
    """Checkpoints of `quantization.shufflenet_v2_x1_0`."""

    IMAGENET1K_FBGEMM_V1 = _eight_bits(
        "shufflenetv2_x1_fbgemm-1e62bb32.pth",
        mobile.ShuffleNet_V2_X1_0_Weights.IMAGENET1K_V1,
        (68.36, 87.582),
        2.334,
        crop_size=224,
    )
    DEFAULT = IMAGENET1K_FBGEMM_V1


class ShuffleNet_V2_X1_5_QuantizedWeights(WeightsEnum):  # noqa: N801
    """Checkpoints of `quantization.shufflenet_v2_x1_5`."""

    IMAGENET1K_FBGEMM_V1 = _eight_bits(
        "shufflenetv2_x1_5_fbgemm-d7401f05.pth",
        mobile.ShuffleNet_V2_X1_5_Weights.IMAGENET1K_V1,
        (72.052, 90.7),
        3.672,
        "https://github.com/pytorch/vision/pull/5906",
        crop_size=224,
        resize_size=232,
    )
    DEFAULT = IMAGENET1K_FBGEMM_V1


class ShuffleNet_V2_X2_0_QuantizedWeights(WeightsEnum):  # noqa: N801
    """Checkpoints of `quantization.shufflenet_v2_x2_0`."""

    IMAGENET1K_FBGEMM_V1 = _eight_bits(
        "shufflenetv2_x2_0_fbgemm-5cac526c.pth",
        mobile.ShuffleNet_V2_X2_0_Weights.IMAGENET1K_V1,
        (75.354, 92.488),
        7.467,
        "https://github.com/pytorch/vision/pull/5906",
        crop_size=224,
        resize_size=232,
    )
    DEFAULT = IMAGENET1K_FBGEMM_V1
