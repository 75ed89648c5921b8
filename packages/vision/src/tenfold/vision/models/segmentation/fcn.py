"""Fully convolutional networks, key for key with torchvision's checkpoints."""

from __future__ import annotations

from typing import Any

from tenfold.vision.models.catalog.convolutional import ResNet50_Weights, ResNet101_Weights
from tenfold.vision.models.catalog.segmentation import FCN_ResNet50_Weights, FCN_ResNet101_Weights
from tenfold.vision.models.registry import model
from tenfold.vision.models.segmentation.network import FCNHead, SimpleSegmentation, checked, loaded, resnet_body

Best = ResNet50_Weights | ResNet101_Weights | str | None


class FCN(SimpleSegmentation):
    """Logits for every pixel from a network without linear layers.

    Source: J. Long, E. Shelhamer, T. Darrell, Fully Convolutional Networks for Semantic Segmentation, arXiv:1411.4038.
    """


def _build(name: str, catalog: Any, weights: Any, backbone: Any, progress: bool, classes: int | None, aux: bool | None) -> FCN:
    chosen, first, count, with_aux = checked(catalog, weights, backbone, classes, aux)
    body = resnet_body(name, first, progress, with_aux)
    network = FCN(body, FCNHead(2048, count), FCNHead(1024, count) if with_aux else None)
    made: FCN = loaded(network, chosen, progress)
    return made


@model(FCN_ResNet50_Weights, ResNet50_Weights.IMAGENET1K_V1)
def fcn_resnet50(
    *,
    weights: FCN_ResNet50_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    aux_loss: bool | None = None,
    weights_backbone: Best = ResNet50_Weights.IMAGENET1K_V1,
) -> FCN:
    """FCN on ResNet-50; ``weights_backbone=None`` starts from nothing."""
    backbone = ResNet50_Weights.verify(weights_backbone)  # type: ignore[arg-type]
    return _build("resnet50", FCN_ResNet50_Weights, weights, backbone, progress, num_classes, aux_loss)


@model(FCN_ResNet101_Weights, ResNet101_Weights.IMAGENET1K_V1)
def fcn_resnet101(
    *,
    weights: FCN_ResNet101_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    aux_loss: bool | None = None,
    weights_backbone: Best = ResNet101_Weights.IMAGENET1K_V1,
) -> FCN:
    """FCN on ResNet-101; ``weights_backbone=None`` starts from nothing."""
    backbone = ResNet101_Weights.verify(weights_backbone)  # type: ignore[arg-type]
    return _build("resnet101", FCN_ResNet101_Weights, weights, backbone, progress, num_classes, aux_loss)
