"""Networks that could be quantized, in floats: torchvision's names, keys and builders; ``quantize=True`` says what is missing."""

from __future__ import annotations

from tenfold.vision.models.catalog.quantized import (
    GoogLeNet_QuantizedWeights,
    Inception_V3_QuantizedWeights,
    MobileNet_V2_QuantizedWeights,
    MobileNet_V3_Large_QuantizedWeights,
    ResNet18_QuantizedWeights,
    ResNet50_QuantizedWeights,
    ResNeXt101_32X8D_QuantizedWeights,
    ResNeXt101_64X4D_QuantizedWeights,
    ShuffleNet_V2_X0_5_QuantizedWeights,
    ShuffleNet_V2_X1_0_QuantizedWeights,
    ShuffleNet_V2_X1_5_QuantizedWeights,
    ShuffleNet_V2_X2_0_QuantizedWeights,
)
from tenfold.vision.models.quantization.builders import (
    googlenet,
    inception_v3,
    mobilenet_v2,
    mobilenet_v3_large,
    resnet18,
    resnet50,
    resnext101_32x8d,
    resnext101_64x4d,
    shufflenet_v2_x0_5,
    shufflenet_v2_x1_0,
    shufflenet_v2_x1_5,
    shufflenet_v2_x2_0,
)
from tenfold.vision.models.quantization.networks import (
    QuantizableGoogLeNet,
    QuantizableInception3,
    QuantizableMobileNetV2,
    QuantizableMobileNetV3,
    QuantizableResNet,
    QuantizableShuffleNetV2,
)
from tenfold.vision.paths import show_paths

__all__ = [
    "GoogLeNet_QuantizedWeights",
    "Inception_V3_QuantizedWeights",
    "MobileNet_V2_QuantizedWeights",
    "MobileNet_V3_Large_QuantizedWeights",
    "QuantizableGoogLeNet",
    "QuantizableInception3",
    "QuantizableMobileNetV2",
    "QuantizableMobileNetV3",
    "QuantizableResNet",
    "QuantizableShuffleNetV2",
    "ResNeXt101_32X8D_QuantizedWeights",
    "ResNeXt101_64X4D_QuantizedWeights",
    "ResNet18_QuantizedWeights",
    "ResNet50_QuantizedWeights",
    "ShuffleNet_V2_X0_5_QuantizedWeights",
    "ShuffleNet_V2_X1_0_QuantizedWeights",
    "ShuffleNet_V2_X1_5_QuantizedWeights",
    "ShuffleNet_V2_X2_0_QuantizedWeights",
    "googlenet",
    "inception_v3",
    "mobilenet_v2",
    "mobilenet_v3_large",
    "resnet18",
    "resnet50",
    "resnext101_32x8d",
    "resnext101_64x4d",
    "shufflenet_v2_x0_5",
    "shufflenet_v2_x1_0",
    "shufflenet_v2_x1_5",
    "shufflenet_v2_x2_0",
]

show_paths(__name__)
