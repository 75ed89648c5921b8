"""Builders of networks that could be quantized: with ``quantize=False`` they are networks of floats, with their checkpoints."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

from tenfold import nn
from tenfold.vision.models import resnet
from tenfold.vision.models.catalog import convolutional as floats, mobile, quantized
from tenfold.vision.models.googlenet import with_auxiliary
from tenfold.vision.models.mobilenetv3 import settings
from tenfold.vision.models.quantization import networks
from tenfold.vision.models.registry import model
from tenfold.vision.models.shufflenetv2 import REPEATS
from tenfold.vision.models.weights import with_weights

Network = TypeVar("Network", bound=nn.Module)


def _in_floats(name: str, quantize: bool) -> None:
    if quantize:
        raise NotImplementedError(
            f"quantization.{name}: quantize=True needs tensors of 8 bits with a scale and kernels for them: {networks.MISSING}; "
            "quantize=False builds the network of floats, which takes the checkpoints of the network without quantization"
        )


def _ready(network: Network) -> Network:
    networks.replace_relu(network)
    return network


@model(quantized.ResNet18_QuantizedWeights, name="quantized_resnet18", former=floats.ResNet18_Weights)
def resnet18(
    *, weights: floats.ResNet18_Weights | str | None = None, progress: bool = True, quantize: bool = False, **kwargs: Any
) -> networks.QuantizableResNet:
    """`models.resnet18`, which could be quantized."""
    _in_floats("resnet18", quantize)
    return _ready(
        with_weights(
            partial(networks.QuantizableResNet, resnet.BasicBlock, [2, 2, 2, 2]),
            floats.ResNet18_Weights,
            weights,
            progress,
            kwargs,
        )
    )


@model(quantized.ResNet50_QuantizedWeights, name="quantized_resnet50", former=floats.ResNet50_Weights)
def resnet50(
    *, weights: floats.ResNet50_Weights | str | None = None, progress: bool = True, quantize: bool = False, **kwargs: Any
) -> networks.QuantizableResNet:
    """`models.resnet50`, which could be quantized."""
    _in_floats("resnet50", quantize)
    return _ready(
        with_weights(
            partial(networks.QuantizableResNet, resnet.Bottleneck, [3, 4, 6, 3]),
            floats.ResNet50_Weights,
            weights,
            progress,
            kwargs,
        )
    )


@model(quantized.ResNeXt101_32X8D_QuantizedWeights, name="quantized_resnext101_32x8d", former=floats.ResNeXt101_32X8D_Weights)
def resnext101_32x8d(
    *, weights: floats.ResNeXt101_32X8D_Weights | str | None = None, progress: bool = True, quantize: bool = False, **kwargs: Any
) -> networks.QuantizableResNet:
    """`models.resnext101_32x8d`, which could be quantized."""
    _in_floats("resnext101_32x8d", quantize)
    return _ready(
        with_weights(
            partial(networks.QuantizableResNet, resnet.Bottleneck, [3, 4, 23, 3]),
            floats.ResNeXt101_32X8D_Weights,
            weights,
            progress,
            {**kwargs, "groups": 32, "width_per_group": 8},
        )
    )


@model(quantized.ResNeXt101_64X4D_QuantizedWeights, name="quantized_resnext101_64x4d", former=floats.ResNeXt101_64X4D_Weights)
def resnext101_64x4d(
    *, weights: floats.ResNeXt101_64X4D_Weights | str | None = None, progress: bool = True, quantize: bool = False, **kwargs: Any
) -> networks.QuantizableResNet:
    """`models.resnext101_64x4d`, which could be quantized."""
    _in_floats("resnext101_64x4d", quantize)
    return _ready(
        with_weights(
            partial(networks.QuantizableResNet, resnet.Bottleneck, [3, 4, 23, 3]),
            floats.ResNeXt101_64X4D_Weights,
            weights,
            progress,
            {**kwargs, "groups": 64, "width_per_group": 4},
        )
    )


@model(quantized.GoogLeNet_QuantizedWeights, name="quantized_googlenet", former=floats.GoogLeNet_Weights)
def googlenet(
    *, weights: floats.GoogLeNet_Weights | str | None = None, progress: bool = True, quantize: bool = False, **kwargs: Any
) -> networks.QuantizableGoogLeNet:
    """`models.googlenet`, which could be quantized."""
    _in_floats("googlenet", quantize)
    return _ready(
        with_auxiliary(networks.QuantizableGoogLeNet, floats.GoogLeNet_Weights, weights, progress, kwargs, ("aux1", "aux2"))
    )


@model(quantized.Inception_V3_QuantizedWeights, name="quantized_inception_v3", former=floats.Inception_V3_Weights)
def inception_v3(
    *, weights: floats.Inception_V3_Weights | str | None = None, progress: bool = True, quantize: bool = False, **kwargs: Any
) -> networks.QuantizableInception3:
    """`models.inception_v3`, which could be quantized."""
    _in_floats("inception_v3", quantize)
    return _ready(
        with_auxiliary(networks.QuantizableInception3, floats.Inception_V3_Weights, weights, progress, kwargs, ("AuxLogits",))
    )


@model(quantized.MobileNet_V2_QuantizedWeights, name="quantized_mobilenet_v2", former=mobile.MobileNet_V2_Weights)
def mobilenet_v2(
    *, weights: mobile.MobileNet_V2_Weights | str | None = None, progress: bool = True, quantize: bool = False, **kwargs: Any
) -> networks.QuantizableMobileNetV2:
    """`models.mobilenet_v2`, which could be quantized."""
    _in_floats("mobilenet_v2", quantize)
    return _ready(with_weights(networks.QuantizableMobileNetV2, mobile.MobileNet_V2_Weights, weights, progress, kwargs))


@model(
    quantized.MobileNet_V3_Large_QuantizedWeights, name="quantized_mobilenet_v3_large", former=mobile.MobileNet_V3_Large_Weights
)
def mobilenet_v3_large(
    *,
    weights: mobile.MobileNet_V3_Large_Weights | str | None = None,
    progress: bool = True,
    quantize: bool = False,
    **kwargs: Any,
) -> networks.QuantizableMobileNetV3:
    """`models.mobilenet_v3_large`, which could be quantized."""
    _in_floats("mobilenet_v3_large", quantize)
    return _ready(
        with_weights(
            partial(networks.QuantizableMobileNetV3, *settings("mobilenet_v3_large", **kwargs)),
            mobile.MobileNet_V3_Large_Weights,
            weights,
            progress,
            kwargs,
        )
    )


@model(
    quantized.ShuffleNet_V2_X0_5_QuantizedWeights, name="quantized_shufflenet_v2_x0_5", former=mobile.ShuffleNet_V2_X0_5_Weights
)
def shufflenet_v2_x0_5(
    *,
    weights: mobile.ShuffleNet_V2_X0_5_Weights | str | None = None,
    progress: bool = True,
    quantize: bool = False,
    **kwargs: Any,
) -> networks.QuantizableShuffleNetV2:
    """`models.shufflenet_v2_x0_5`, which could be quantized."""
    _in_floats("shufflenet_v2_x0_5", quantize)
    return _ready(
        with_weights(
            partial(networks.QuantizableShuffleNetV2, REPEATS, (24, 48, 96, 192, 1024)),
            mobile.ShuffleNet_V2_X0_5_Weights,
            weights,
            progress,
            kwargs,
        )
    )


@model(
    quantized.ShuffleNet_V2_X1_0_QuantizedWeights, name="quantized_shufflenet_v2_x1_0", former=mobile.ShuffleNet_V2_X1_0_Weights
)
def shufflenet_v2_x1_0(
    *,
    weights: mobile.ShuffleNet_V2_X1_0_Weights | str | None = None,
    progress: bool = True,
    quantize: bool = False,
    **kwargs: Any,
) -> networks.QuantizableShuffleNetV2:
    """`models.shufflenet_v2_x1_0`, which could be quantized."""
    _in_floats("shufflenet_v2_x1_0", quantize)
    return _ready(
        with_weights(
            partial(networks.QuantizableShuffleNetV2, REPEATS, (24, 116, 232, 464, 1024)),
            mobile.ShuffleNet_V2_X1_0_Weights,
            weights,
            progress,
            kwargs,
        )
    )


@model(
    quantized.ShuffleNet_V2_X1_5_QuantizedWeights, name="quantized_shufflenet_v2_x1_5", former=mobile.ShuffleNet_V2_X1_5_Weights
)
def shufflenet_v2_x1_5(
    *,
    weights: mobile.ShuffleNet_V2_X1_5_Weights | str | None = None,
    progress: bool = True,
    quantize: bool = False,
    **kwargs: Any,
) -> networks.QuantizableShuffleNetV2:
    """`models.shufflenet_v2_x1_5`, which could be quantized."""
    _in_floats("shufflenet_v2_x1_5", quantize)
    return _ready(
        with_weights(
            partial(networks.QuantizableShuffleNetV2, REPEATS, (24, 176, 352, 704, 1024)),
            mobile.ShuffleNet_V2_X1_5_Weights,
            weights,
            progress,
            kwargs,
        )
    )


@model(
    quantized.ShuffleNet_V2_X2_0_QuantizedWeights, name="quantized_shufflenet_v2_x2_0", former=mobile.ShuffleNet_V2_X2_0_Weights
)
def shufflenet_v2_x2_0(
    *,
    weights: mobile.ShuffleNet_V2_X2_0_Weights | str | None = None,
    progress: bool = True,
    quantize: bool = False,
    **kwargs: Any,
) -> networks.QuantizableShuffleNetV2:
    """`models.shufflenet_v2_x2_0`, which could be quantized."""
    _in_floats("shufflenet_v2_x2_0", quantize)
    return _ready(
        with_weights(
            partial(networks.QuantizableShuffleNetV2, REPEATS, (24, 244, 488, 976, 2048)),
            mobile.ShuffleNet_V2_X2_0_Weights,
            weights,
            progress,
            kwargs,
        )
    )
