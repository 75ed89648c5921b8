"""Networks that a checkpoint of eight-bit numbers could be made for: their keys are those of the networks of floats."""

from __future__ import annotations

from typing import Any

from tenfold import nn
from tenfold.vision.models.googlenet import GoogLeNet
from tenfold.vision.models.inception import Inception3
from tenfold.vision.models.mobilenetv2 import MobileNetV2
from tenfold.vision.models.mobilenetv3 import MobileNetV3
from tenfold.vision.models.resnet import ResNet
from tenfold.vision.models.shufflenetv2 import ShuffleNetV2

MISSING = "Tenfold has no quantized tensors, and so no quantized networks"


def replace_relu(network: nn.Module) -> None:
    """Activations that write elsewhere, since observers of a quantization look at what they are given."""
    for child in network.modules():
        for name, part in child.named_children():
            if type(part) in (nn.ReLU, nn.ReLU6):
                setattr(child, name, nn.ReLU(inplace=False))


class Quantizable(nn.Module):
    """A network between the places where numbers would be quantized and would become floats again; both pass them through."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.quant, self.dequant = nn.Identity(), nn.Identity()

    def forward(self, x: Any) -> Any:
        return self.dequant(super().forward(self.quant(x)))

    def fuse_model(self, is_qat: bool | None = None) -> None:
        """Would make one layer of a convolution, its norm and its activation, which only quantized networks need.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(f"{type(self).__name__}.fuse_model: {MISSING}; use the network of floats as it is")


class QuantizableResNet(Quantizable, ResNet):
    """`ResNet`."""


class QuantizableGoogLeNet(Quantizable, GoogLeNet):
    """`GoogLeNet`."""


class QuantizableInception3(Quantizable, Inception3):
    """`Inception3`."""


class QuantizableMobileNetV2(Quantizable, MobileNetV2):
    """`MobileNetV2`."""


class QuantizableMobileNetV3(Quantizable, MobileNetV3):
    """`MobileNetV3`."""


class QuantizableShuffleNetV2(Quantizable, ShuffleNetV2):
    """`ShuffleNetV2`."""
