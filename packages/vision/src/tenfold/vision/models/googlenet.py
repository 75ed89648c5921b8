"""GoogLeNet, key for key with torchvision's checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.catalog.convolutional import GoogLeNet_Weights
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import require, with_weights

Layer = Callable[..., nn.Module]

# Table 1 of the paper: input width, then 1x1, narrowing and 3x3, narrowing and 5x5 (3x3 in these checkpoints), pooled
INCEPTIONS = {
    "3a": (192, 64, 96, 128, 16, 32, 32), "3b": (256, 128, 128, 192, 32, 96, 64),
    "4a": (480, 192, 96, 208, 16, 48, 64), "4b": (512, 160, 112, 224, 24, 64, 64), "4c": (512, 128, 128, 256, 24, 64, 64),
    "4d": (512, 112, 144, 288, 32, 64, 64), "4e": (528, 256, 160, 320, 32, 128, 128),
    "5a": (832, 256, 160, 320, 32, 128, 128), "5b": (832, 384, 192, 384, 48, 128, 128),
}  # fmt: skip
# from ImageNet's mean and deviation of each channel to 0.5 and 0.5, with which the checkpoint was trained
SHIFTED_INPUT = tuple((std / 0.5, (mean - 0.5) / 0.5) for mean, std in ((0.485, 0.229), (0.456, 0.224), (0.406, 0.225)))


class GoogLeNetOutputs(NamedTuple):
    """What `GoogLeNet` gives while training: its logits and those of the two auxiliary classifiers."""

    logits: Tensor
    aux_logits2: Tensor | None
    aux_logits1: Tensor | None


class BasicConv2d(nn.Module):
    """Convolution, batch normalization, ReLU."""

    def __init__(self, in_channels: int, out_channels: int, **kwargs: Any) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.bn(self.conv(x))
        return nn.functional.relu(result, inplace=True)


class Inception(nn.Module):
    """Four branches beside each other: 1x1, 3x3, 3x3 and pooling."""

    def __init__(
        self,
        in_channels: int,
        ch1x1: int,
        ch3x3red: int,
        ch3x3: int,
        ch5x5red: int,
        ch5x5: int,
        pool_proj: int,
        conv_block: Layer | None = None,
    ) -> None:
        super().__init__()
        unit = BasicConv2d if conv_block is None else conv_block
        self.branch1 = unit(in_channels, ch1x1, kernel_size=1)
        self.branch2 = nn.Sequential(unit(in_channels, ch3x3red, kernel_size=1), unit(ch3x3red, ch3x3, kernel_size=3, padding=1))
        # the published network has 3x3 where the paper has 5x5
        self.branch3 = nn.Sequential(unit(in_channels, ch5x5red, kernel_size=1), unit(ch5x5red, ch5x5, kernel_size=3, padding=1))
        pool = nn.MaxPool2d(3, stride=1, padding=1, ceil_mode=True)
        self.branch4 = nn.Sequential(pool, unit(in_channels, pool_proj, kernel_size=1))

    def forward(self, x: Tensor) -> Tensor:
        return tenfold.cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)


class InceptionAux(nn.Module):
    """A classifier on inner maps, which brings gradients to the lower layers."""

    def __init__(self, in_channels: int, num_classes: int, conv_block: Layer | None = None, dropout: float = 0.7) -> None:
        super().__init__()
        self.conv = (BasicConv2d if conv_block is None else conv_block)(in_channels, 128, kernel_size=1)
        self.fc1 = nn.Linear(2048, 1024)
        self.fc2 = nn.Linear(1024, num_classes)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x: Tensor) -> Tensor:
        maps = self.conv(nn.functional.adaptive_avg_pool2d(x, (4, 4)))
        result: Tensor = self.fc2(self.dropout(self.fc1(maps.flatten(1)).relu()))
        return result


class GoogLeNet(nn.Module):
    """Nine inception modules; while training with ``aux_logits`` the result is `GoogLeNetOutputs`.

    Shape: (N, 3, H, W) -> (N, num_classes), pictures of 15 pixels at least.

    Source: C. Szegedy and others, Going Deeper with Convolutions, arXiv:1409.4842.
    """

    usual_deviation = 0.01  # of the first weights

    def __init__(
        self,
        num_classes: int = 1000,
        aux_logits: bool = True,
        transform_input: bool = False,
        init_weights: bool | None = None,
        blocks: Sequence[Layer] | None = None,
        dropout: float = 0.2,
        dropout_aux: float = 0.7,
    ) -> None:
        super().__init__()
        unit, inception, auxiliary = (BasicConv2d, Inception, InceptionAux) if blocks is None else blocks
        self.aux_logits = aux_logits
        self.transform_input = transform_input
        self.conv1 = unit(3, 64, kernel_size=7, stride=2, padding=3)
        self.maxpool1 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.conv2 = unit(64, 64, kernel_size=1)
        self.conv3 = unit(64, 192, kernel_size=3, padding=1)
        self.maxpool2 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        for name, widths in INCEPTIONS.items():
            self.add_module(f"inception{name}", inception(*widths))
            if name == "3b":
                self.maxpool3 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
            elif name == "4e":
                self.maxpool4 = nn.MaxPool2d(2, stride=2, ceil_mode=True)
        self.aux1 = auxiliary(512, num_classes, dropout=dropout_aux) if aux_logits else None
        self.aux2 = auxiliary(528, num_classes, dropout=dropout_aux) if aux_logits else None
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Linear(1024, num_classes)
        if init_weights is not False:
            initialise(self)

    def forward(self, x: Tensor) -> Any:
        x = with_published_input(x) if self.transform_input else x
        x = self.maxpool2(self.conv3(self.conv2(self.maxpool1(self.conv1(x)))))
        x = self.inception4a(self.maxpool3(self.inception3b(self.inception3a(x))))  # (N, 512, H / 16, W / 16)
        first = self.aux1(x) if self.training and self.aux1 is not None else None
        x = self.inception4d(self.inception4c(self.inception4b(x)))
        second = self.aux2(x) if self.training and self.aux2 is not None else None
        x = self.inception5b(self.inception5a(self.maxpool4(self.inception4e(x))))
        logits = self.fc(self.dropout(self.avgpool(x).flatten(1)))
        return GoogLeNetOutputs(logits, second, first) if self.training and self.aux_logits else logits


def with_published_input(x: Tensor) -> Tensor:
    """Pictures normalized by ImageNet's statistics, as they were normalized when the checkpoint was made."""
    return tenfold.stack([x[:, i] * scale + shift for i, (scale, shift) in enumerate(SHIFTED_INPUT)], 1)


def initialise(network: Any) -> None:
    """Normal weights cut off at two, of the network's usual deviation or the module's own ``stddev``."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            deviation = float(getattr(module, "stddev", network.usual_deviation))
            nn.init.trunc_normal_(module.weight, mean=0.0, std=deviation, a=-2, b=2)
        elif isinstance(module, nn.BatchNorm2d):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)


def with_auxiliary(
    make: Callable[..., Any], catalog: Any, weights: Any, progress: bool, options: dict[str, Any], parts: Sequence[str]
) -> Any:
    """A network whose checkpoint has auxiliary classifiers, without them unless ``aux_logits`` asks for them."""
    chosen = catalog.verify(weights)
    if chosen is None:
        return make(**options)
    options.setdefault("transform_input", True)
    keep = options.pop("aux_logits", parts == ("AuxLogits",))
    require(options, "num_classes", chosen.value.num_classes)
    network = with_weights(make, catalog, chosen, progress, {**options, "aux_logits": True, "init_weights": False})
    if not keep:
        network.aux_logits = False
        for part in parts:
            setattr(network, part, None)
    return network


@model(GoogLeNet_Weights)
def googlenet(*, weights: GoogLeNet_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> GoogLeNet:
    """GoogLeNet, 6,624,904 parameters (13,004,888 with the auxiliary classifiers).

    With weights, ``transform_input`` is on and ``aux_logits`` off by default.
    """
    made: GoogLeNet = with_auxiliary(GoogLeNet, GoogLeNet_Weights, weights, progress, kwargs, ("aux1", "aux2"))
    return made
