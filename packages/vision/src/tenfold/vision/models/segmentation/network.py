"""What segmentation networks share: a backbone, a classifier of pixels, perhaps an auxiliary one, and enlarging."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from tenfold import Tensor, nn
from tenfold.nn.functional import interpolate
from tenfold.vision.models.feature_extraction import IntermediateLayerGetter
from tenfold.vision.models.mobilenetv3 import MobileNetV3, mobilenet_v3_large
from tenfold.vision.models.resnet import ResNet, resnet50, resnet101
from tenfold.vision.models.weights import WeightsEnum, require


class SimpleSegmentation(nn.Module):
    """Maps of a backbone classified and enlarged to the picture: {"out": logits} and, with an auxiliary classifier, "aux".

    Shape: (N, 3, H, W) -> (N, num_classes, H, W) each.
    """

    def __init__(self, backbone: nn.Module, classifier: nn.Module, aux_classifier: nn.Module | None = None) -> None:
        super().__init__()
        self.backbone = backbone
        self.classifier = classifier
        self.aux_classifier = aux_classifier

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        size = tuple(x.shape[-2:])
        features = self.backbone(x)
        result = OrderedDict(out=_enlarged(self.classifier(features["out"]), size))
        if self.aux_classifier is not None:
            result["aux"] = _enlarged(self.aux_classifier(features["aux"]), size)
        return result


def _enlarged(maps: Tensor, size: tuple[int, ...]) -> Tensor:
    return interpolate(maps, size=size, mode="bilinear", align_corners=False)


class FCNHead(nn.Sequential):
    """3x3 to a quarter of the width, dropout, and 1x1 to the classes (arXiv:1411.4038)."""

    def __init__(self, in_channels: int, channels: int) -> None:
        inner = in_channels // 4
        super().__init__(
            nn.Conv2d(in_channels, inner, 3, padding=1, bias=False),
            nn.BatchNorm2d(inner),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Conv2d(inner, channels, 1),
        )


def resnet_body(name: str, weights: Any, progress: bool, with_aux: bool) -> nn.Module:
    """A ResNet of an eighth of the picture's resolution, its last and, where wanted, its third stage's maps."""
    build: Callable[..., ResNet] = {"resnet50": resnet50, "resnet101": resnet101}[name]
    network = build(weights=weights, progress=progress, replace_stride_with_dilation=[False, True, True])
    layers = {"layer4": "out", **({"layer3": "aux"} if with_aux else {})}
    return IntermediateLayerGetter(network, layers)


def mobilenet_body(weights: Any, progress: bool) -> tuple[nn.Module, list[tuple[int, int]]]:
    """A dilated MobileNet v3's features, and place and width of those that end each resolution."""
    network: MobileNetV3 = mobilenet_v3_large(weights=weights, progress=progress, dilated=True)
    features = network.features
    stages = [i for i, block in enumerate(features) if i == 0 or getattr(block, "_is_cn", False)] + [len(features) - 1]
    return features, [(i, features[i].out_channels) for i in stages]


def checked(
    catalog: type[WeightsEnum], weights: Any, weights_backbone: Any, num_classes: int | None, aux_loss: bool | None
) -> tuple[Any, Any, int, bool]:
    """The checkpoints and settings as they go together: a whole checkpoint decides classes and auxiliary classifier."""
    chosen = catalog.verify(weights)
    if chosen is None:
        return None, weights_backbone, 21 if num_classes is None else num_classes, bool(aux_loss)
    options: dict[str, Any] = {} if num_classes is None else {"num_classes": num_classes}
    options |= {} if aux_loss is None else {"aux_loss": aux_loss}
    require(options, "num_classes", len(chosen.meta["categories"]))
    require(options, "aux_loss", True)
    return chosen, None, options["num_classes"], True


def loaded(network: Any, chosen: Any, progress: bool) -> Any:
    """The network with the checkpoint's parameters, if there is one."""
    if chosen is not None:
        network.load_state_dict(chosen.get_state_dict(progress=progress, check_hash=True))
    return network
