"""Faster R-CNN, Mask R-CNN and Keypoint R-CNN on the backbones of the published checkpoints."""

from __future__ import annotations

from typing import Any

from tenfold import nn
from tenfold.vision.models.catalog.convolutional import ResNet50_Weights
from tenfold.vision.models.catalog.detection import (
    FasterRCNN_MobileNet_V3_Large_320_FPN_Weights,
    FasterRCNN_MobileNet_V3_Large_FPN_Weights,
    FasterRCNN_ResNet50_FPN_V2_Weights,
    FasterRCNN_ResNet50_FPN_Weights,
    KeypointRCNN_ResNet50_FPN_Weights,
    MaskRCNN_ResNet50_FPN_V2_Weights,
    MaskRCNN_ResNet50_FPN_Weights,
)
from tenfold.vision.models.catalog.mobile import MobileNet_V3_Large_Weights
from tenfold.vision.models.detection.backbones import mobilenet_pyramid, resnet50_pyramid, trainable_layers
from tenfold.vision.models.detection.boxes import AnchorGenerator
from tenfold.vision.models.detection.keypoint_rcnn import KeypointRCNN
from tenfold.vision.models.detection.rcnn import (
    ANCHOR_SIZES,
    RATIOS,
    FasterRCNN,
    FastRCNNConvFCHead,
    MaskRCNN,
    MaskRCNNHeads,
)
from tenfold.vision.models.detection.rpn import RPNHead
from tenfold.vision.models.mobilenetv3 import mobilenet_v3_large
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import WeightsEnum, require
from tenfold.vision.ops.misc import FrozenBatchNorm2d

Backbone = ResNet50_Weights | MobileNet_V3_Large_Weights | str | None


def checked(
    catalog: type[WeightsEnum], weights: Any, backbones: type[WeightsEnum], backbone: Any, num_classes: int | None
) -> tuple[Any, Any, int]:
    """Checkpoint, the backbone's checkpoint and the number of classes, as they go together."""
    chosen = catalog.verify(weights)
    if chosen is None:
        return None, backbones.verify(backbone), 91 if num_classes is None else num_classes
    options: dict[str, Any] = {} if num_classes is None else {"num_classes": num_classes}
    require(options, "num_classes", len(chosen.meta["categories"]))
    return chosen, None, options["num_classes"]


def loaded(network: Any, chosen: Any, progress: bool) -> Any:
    """The network with the checkpoint's parameters, if there is one."""
    if chosen is not None:
        network.load_state_dict(chosen.get_state_dict(progress=progress, check_hash=True))
    return network


def _on_resnet(
    kind: type[FasterRCNN],
    second: bool,
    catalog: type[WeightsEnum],
    weights: Any,
    backbone: Any,
    progress: bool,
    num_classes: int | None,
    trainable: int | None,
    options: dict[str, Any],
) -> Any:
    chosen, first, classes = checked(catalog, weights, ResNet50_Weights, backbone, num_classes)
    pretrained = chosen is not None or first is not None
    layers = trainable_layers(pretrained, trainable, 5, 3)
    norm = nn.BatchNorm2d if second else None
    body = resnet50_pyramid(first, progress, layers, pretrained and not second, norm_layer=norm)
    if second:
        anchors = AnchorGenerator(ANCHOR_SIZES, (RATIOS,) * len(ANCHOR_SIZES))
        options.setdefault("rpn_anchor_generator", anchors)
        options.setdefault("rpn_head", RPNHead(256, anchors.num_anchors_per_location()[0], conv_depth=2))
        options.setdefault("box_head", FastRCNNConvFCHead((256, 7, 7), [256] * 4, [1024], norm_layer=nn.BatchNorm2d))
        if kind is MaskRCNN:
            options.setdefault("mask_head", MaskRCNNHeads(256, [256] * 4, 1, norm_layer=nn.BatchNorm2d))
    return loaded(kind(body, num_classes=classes, **options), chosen, progress)


@model(FasterRCNN_ResNet50_FPN_Weights, ResNet50_Weights.IMAGENET1K_V1)
def fasterrcnn_resnet50_fpn(
    *,
    weights: FasterRCNN_ResNet50_FPN_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    weights_backbone: Backbone = ResNet50_Weights.IMAGENET1K_V1,
    trainable_backbone_layers: int | None = None,
    **kwargs: Any,
) -> FasterRCNN:
    """Faster R-CNN on a ResNet-50's pyramid, 41,755,286 parameters; ``weights_backbone=None`` starts from nothing."""
    catalog, layers = FasterRCNN_ResNet50_FPN_Weights, trainable_backbone_layers
    made: FasterRCNN = _on_resnet(FasterRCNN, False, catalog, weights, weights_backbone, progress, num_classes, layers, kwargs)
    return made


@model(FasterRCNN_ResNet50_FPN_V2_Weights, ResNet50_Weights.IMAGENET1K_V1)
def fasterrcnn_resnet50_fpn_v2(
    *,
    weights: FasterRCNN_ResNet50_FPN_V2_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    weights_backbone: Backbone = None,
    trainable_backbone_layers: int | None = None,
    **kwargs: Any,
) -> FasterRCNN:
    """Faster R-CNN with deeper heads (arXiv:2111.11429), 43,712,278 parameters."""
    catalog, layers = FasterRCNN_ResNet50_FPN_V2_Weights, trainable_backbone_layers
    made: FasterRCNN = _on_resnet(FasterRCNN, True, catalog, weights, weights_backbone, progress, num_classes, layers, kwargs)
    return made


@model(MaskRCNN_ResNet50_FPN_Weights, ResNet50_Weights.IMAGENET1K_V1)
def maskrcnn_resnet50_fpn(
    *,
    weights: MaskRCNN_ResNet50_FPN_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    weights_backbone: Backbone = ResNet50_Weights.IMAGENET1K_V1,
    trainable_backbone_layers: int | None = None,
    **kwargs: Any,
) -> MaskRCNN:
    """Mask R-CNN on a ResNet-50's pyramid, 44,401,393 parameters; ``weights_backbone=None`` starts from nothing."""
    catalog, layers = MaskRCNN_ResNet50_FPN_Weights, trainable_backbone_layers
    made: MaskRCNN = _on_resnet(MaskRCNN, False, catalog, weights, weights_backbone, progress, num_classes, layers, kwargs)
    return made


@model(MaskRCNN_ResNet50_FPN_V2_Weights, ResNet50_Weights.IMAGENET1K_V1)
def maskrcnn_resnet50_fpn_v2(
    *,
    weights: MaskRCNN_ResNet50_FPN_V2_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    weights_backbone: Backbone = None,
    trainable_backbone_layers: int | None = None,
    **kwargs: Any,
) -> MaskRCNN:
    """Mask R-CNN with deeper heads (arXiv:2111.11429), 46,359,409 parameters."""
    catalog, layers = MaskRCNN_ResNet50_FPN_V2_Weights, trainable_backbone_layers
    made: MaskRCNN = _on_resnet(MaskRCNN, True, catalog, weights, weights_backbone, progress, num_classes, layers, kwargs)
    return made


@model(KeypointRCNN_ResNet50_FPN_Weights, ResNet50_Weights.IMAGENET1K_V1)
def keypointrcnn_resnet50_fpn(
    *,
    weights: KeypointRCNN_ResNet50_FPN_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    num_keypoints: int | None = None,
    weights_backbone: Backbone = ResNet50_Weights.IMAGENET1K_V1,
    trainable_backbone_layers: int | None = None,
    **kwargs: Any,
) -> KeypointRCNN:
    """Keypoint R-CNN on a ResNet-50's pyramid, 59,137,258 parameters; ``weights_backbone=None`` starts from nothing."""
    catalog, layers = KeypointRCNN_ResNet50_FPN_Weights, trainable_backbone_layers
    options: dict[str, Any] = {"num_keypoints": 17 if num_keypoints is None else num_keypoints, **kwargs}
    chosen = catalog.verify(weights)
    if chosen is None:
        num_classes = 2 if num_classes is None else num_classes
    elif num_keypoints is not None:
        require(options, "num_keypoints", len(chosen.meta["keypoint_names"]))
    made: KeypointRCNN = _on_resnet(
        KeypointRCNN, False, catalog, chosen, weights_backbone, progress, num_classes, layers, options
    )
    return made


def _on_mobilenet(
    catalog: type[WeightsEnum],
    weights: Any,
    backbone: Any,
    progress: bool,
    num_classes: int | None,
    trainable: int | None,
    options: dict[str, Any],
) -> FasterRCNN:
    chosen, first, classes = checked(catalog, weights, MobileNet_V3_Large_Weights, backbone, num_classes)
    pretrained = chosen is not None or first is not None
    norm = FrozenBatchNorm2d if pretrained else nn.BatchNorm2d
    network = mobilenet_v3_large(weights=first, progress=progress, norm_layer=norm)
    body = mobilenet_pyramid(network, True, trainable_layers(pretrained, trainable, 6, 3))
    sizes = tuple(size for (size,) in ANCHOR_SIZES)
    options.setdefault("rpn_anchor_generator", AnchorGenerator((sizes,) * 3, (RATIOS,) * 3))
    made: FasterRCNN = loaded(FasterRCNN(body, classes, **options), chosen, progress)
    return made


@model(FasterRCNN_MobileNet_V3_Large_FPN_Weights, MobileNet_V3_Large_Weights.IMAGENET1K_V1)
def fasterrcnn_mobilenet_v3_large_fpn(
    *,
    weights: FasterRCNN_MobileNet_V3_Large_FPN_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    weights_backbone: Backbone = MobileNet_V3_Large_Weights.IMAGENET1K_V1,
    trainable_backbone_layers: int | None = None,
    **kwargs: Any,
) -> FasterRCNN:
    """Faster R-CNN on a MobileNet v3's pyramid, 19,386,354 parameters; ``weights_backbone=None`` starts from nothing."""
    options = {"rpn_score_thresh": 0.05, **kwargs}
    catalog, layers = FasterRCNN_MobileNet_V3_Large_FPN_Weights, trainable_backbone_layers
    return _on_mobilenet(catalog, weights, weights_backbone, progress, num_classes, layers, options)


@model(FasterRCNN_MobileNet_V3_Large_320_FPN_Weights, MobileNet_V3_Large_Weights.IMAGENET1K_V1)
def fasterrcnn_mobilenet_v3_large_320_fpn(
    *,
    weights: FasterRCNN_MobileNet_V3_Large_320_FPN_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    weights_backbone: Backbone = MobileNet_V3_Large_Weights.IMAGENET1K_V1,
    trainable_backbone_layers: int | None = None,
    **kwargs: Any,
) -> FasterRCNN:
    """The same for pictures of 320 pixels, 19,386,354 parameters; ``weights_backbone=None`` starts from nothing."""
    small = {"min_size": 320, "max_size": 640, "rpn_pre_nms_top_n_test": 150, "rpn_post_nms_top_n_test": 150}
    options = {**small, "rpn_score_thresh": 0.05, **kwargs}
    catalog, layers = FasterRCNN_MobileNet_V3_Large_320_FPN_Weights, trainable_backbone_layers
    return _on_mobilenet(catalog, weights, weights_backbone, progress, num_classes, layers, options)
