"""FCOS: every pixel of a pyramid inside a box tells how far its four edges are; key for key with torchvision's checkpoints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import binary_cross_entropy_with_logits, relu
from tenfold.vision.models.catalog.convolutional import ResNet50_Weights
from tenfold.vision.models.catalog.detection import FCOS_ResNet50_FPN_Weights
from tenfold.vision.models.detection.backbones import resnet50_pyramid, trainable_layers
from tenfold.vision.models.detection.boxes import BELOW, AnchorGenerator, BoxLinearCoder
from tenfold.vision.models.detection.images import GeneralizedRCNNTransform, Target, require_targets
from tenfold.vision.models.detection.published_rcnn import checked, loaded
from tenfold.vision.models.detection.rcnn import require_kind, require_width
from tenfold.vision.models.detection.rpn import per_anchor
from tenfold.vision.models.registry import model
from tenfold.vision.ops.box_losses import generalized_box_iou_loss
from tenfold.vision.ops.boxes import batched_nms, box_area, clip_boxes_to_image
from tenfold.vision.ops.focal_loss import sigmoid_focal_loss
from tenfold.vision.ops.pyramid import LastLevelP6P7
from tenfold.vision.transforms.presets import MEAN, STD

Layer = Callable[..., nn.Module]
STRIDES = (8, 16, 32, 64, 128)
NEAR, FAR = 4.0, 8.0  # a level is for boxes whose farthest edge is between so many of its strides away


class _Tower(nn.Module):
    """Convolutions with norms, under the name ``conv``."""

    def __init__(self, width: int, count: int, norm_layer: Layer | None) -> None:
        super().__init__()
        norm = partial(nn.GroupNorm, 32) if norm_layer is None else norm_layer
        layers: list[nn.Module] = []
        for _ in range(count):
            layers += [nn.Conv2d(width, width, 3, padding=1), norm(width), nn.ReLU()]
        self.conv = nn.Sequential(*layers)


def _initialise(head: nn.Module) -> None:
    for module in head.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.normal_(module.weight, std=0.01)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


class FCOSClassificationHead(_Tower):
    """The logits of every class."""

    def __init__(
        self,
        in_channels: int,
        num_anchors: int,
        num_classes: int,
        num_convs: int = 4,
        prior_probability: float = 0.01,
        norm_layer: Layer | None = None,
    ) -> None:
        super().__init__(in_channels, num_convs, norm_layer)
        self.num_classes, self.num_anchors = num_classes, num_anchors
        self.cls_logits = nn.Conv2d(in_channels, num_anchors * num_classes, 3, padding=1)
        _initialise(self)
        nn.init.constant_(self.cls_logits.bias, -math.log((1 - prior_probability) / prior_probability))

    def forward(self, x: Sequence[Tensor]) -> Tensor:
        return tenfold.cat([per_anchor(self.cls_logits(self.conv(level)), self.num_classes) for level in x], 1)


class FCOSRegressionHead(_Tower):
    """The distances of the edges, and how much in the middle of its box a pixel is."""

    def __init__(self, in_channels: int, num_anchors: int, num_convs: int = 4, norm_layer: Layer | None = None) -> None:
        super().__init__(in_channels, num_convs, norm_layer)
        self.bbox_reg = nn.Conv2d(in_channels, num_anchors * 4, 3, padding=1)
        self.bbox_ctrness = nn.Conv2d(in_channels, num_anchors, 3, padding=1)
        _initialise(self)

    def forward(self, x: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        towers = [self.conv(level) for level in x]
        edges = tenfold.cat([per_anchor(relu(self.bbox_reg(tower)), 4) for tower in towers], 1)
        return edges, tenfold.cat([per_anchor(self.bbox_ctrness(tower), 1) for tower in towers], 1)


class FCOSHead(nn.Module):
    """Classes, distances and middles of every pixel of every level."""

    def __init__(self, in_channels: int, num_anchors: int, num_classes: int, num_convs: int | None = 4) -> None:
        super().__init__()
        count = 4 if num_convs is None else num_convs
        self.box_coder = BoxLinearCoder(normalize_by_size=True)
        self.classification_head = FCOSClassificationHead(in_channels, num_anchors, num_classes, count)
        self.regression_head = FCOSRegressionHead(in_channels, num_anchors, count)

    def forward(self, x: Sequence[Tensor]) -> dict[str, Tensor]:
        edges, middle = self.regression_head(x)
        return {"cls_logits": self.classification_head(x), "bbox_regression": edges, "bbox_ctrness": middle}

    def compute_loss(
        self,
        targets: Sequence[Target],
        head_outputs: dict[str, Tensor],
        anchors: Sequence[Tensor],
        matched_idxs: Sequence[Tensor],
    ) -> dict[str, Tensor]:
        """The focal loss of all pixels, and the overlaps and middles of those that are matched, for each of these."""
        classes, boxes, middles, found = [], [], [], 0
        parts = [head_outputs[name] for name in ("cls_logits", "bbox_regression", "bbox_ctrness")]
        for logits, edges, middle, around, target, matches in zip(*parts, anchors, targets, matched_idxs, strict=True):
            own = target["boxes"].to(around.dtype)
            matched = tenfold.where(matches >= 0)[0]
            truth = tenfold.zeros_like(logits)
            truth[matched, target["labels"][matches[matched]].to(tenfold.int64)] = 1.0
            classes.append(sigmoid_focal_loss(logits, truth, reduction="sum"))
            box, place = own[matches[matched]], around[matched]
            boxes.append(generalized_box_iou_loss(self.box_coder.decode(edges[matched], place), box, reduction="sum"))
            middles.append(binary_cross_entropy_with_logits(middle[matched, 0], centredness(box, place), reduction="sum"))
            found += len(matched)
        share = max(1, found)
        losses = {"classification": classes, "bbox_regression": boxes, "bbox_ctrness": middles}
        return {name: tenfold.stack(parts).sum() / share for name, parts in losses.items()}


class FCOS(nn.Module):
    """Boxes of things in pictures without anchors: pixels near the middle of a box are trained on, on the level of its size.

    Arguments and results are those of `FasterRCNN`; every class counts, there is no background. A score is the geometric
    mean of the class's probability and of the middle's.

    Raises:
        ValueError: the backbone does not tell its ``out_channels``, or a pixel has several anchors.

    Source: Z. Tian and others, FCOS: Fully Convolutional One-Stage Object Detection, arXiv:1904.01355.
    """

    def __init__(
        self,
        backbone: nn.Module,
        num_classes: int,
        min_size: int | Sequence[int] = 800,
        max_size: int = 1333,
        image_mean: Sequence[float] | None = None,
        image_std: Sequence[float] | None = None,
        anchor_generator: AnchorGenerator | None = None,
        head: nn.Module | None = None,
        center_sampling_radius: float = 1.5,
        score_thresh: float = 0.2,
        nms_thresh: float = 0.6,
        detections_per_img: int = 100,
        topk_candidates: int = 1000,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        width = require_width(backbone)
        require_kind("anchor_generator", anchor_generator, AnchorGenerator)
        anchors = anchor_generator or AnchorGenerator(tuple((s,) for s in STRIDES), ((1.0,),) * len(STRIDES))
        if anchors.num_anchors_per_location()[0] != 1:
            raise ValueError(
                f"FCOS: a pixel has one anchor, got {anchors.num_anchors_per_location()[0]}; give one size and ratio"
            )
        self.backbone, self.anchor_generator = backbone, anchors
        self.head: Any = head or FCOSHead(width, 1, num_classes)
        self.transform = GeneralizedRCNNTransform(min_size, max_size, image_mean or MEAN, image_std or STD, **kwargs)
        self.box_coder = BoxLinearCoder(normalize_by_size=True)
        self.center_sampling_radius = center_sampling_radius
        self.score_thresh, self.nms_thresh = score_thresh, nms_thresh
        self.detections_per_img, self.topk_candidates = detections_per_img, topk_candidates

    def forward(self, images: Sequence[Tensor], targets: Sequence[Target] | None = None) -> Any:
        if self.training:
            require_targets(targets, len(images))
        originals = [(image.shape[-2], image.shape[-1]) for image in images]
        batch, resized = self.transform(images, targets)
        features = self.backbone(batch.tensors)
        levels = [features] if isinstance(features, Tensor) else list(features.values())
        outputs = self.head(levels)
        anchors = self.anchor_generator(batch, levels)
        counts = [level.shape[-2] * level.shape[-1] for level in levels]
        if self.training:
            return self.eager_outputs(self.compute_loss(resized or [], outputs, anchors, counts), [])
        by_level = {name: list(values.split(counts, 1)) for name, values in outputs.items()}
        found = self.postprocess_detections(by_level, [list(own.split(counts)) for own in anchors], batch.image_sizes)
        return self.eager_outputs({}, self.transform.postprocess(found, batch.image_sizes, originals))

    def eager_outputs(self, losses: dict[str, Tensor], detections: list[Target]) -> Any:
        """What a call gives: the losses while training, else the detections."""
        return losses if self.training else detections

    def compute_loss(
        self,
        targets: Sequence[Target],
        head_outputs: dict[str, Tensor],
        anchors: Sequence[Tensor],
        num_anchors_per_level: Sequence[int],
    ) -> dict[str, Tensor]:
        """The head's losses, of pixels matched with the true boxes."""
        pairs = zip(targets, anchors, strict=True)
        found = [self.matches(target["boxes"].to(around.dtype), around, num_anchors_per_level) for target, around in pairs]
        losses: dict[str, Tensor] = self.head.compute_loss(targets, head_outputs, anchors, found)
        return losses

    def matches(self, boxes: Tensor, anchors: Tensor, counts: Sequence[int]) -> Tensor:
        """The number of each pixel's box, the smallest of those that it lies in the middle of, or -1."""
        nothing = tenfold.full((len(anchors),), BELOW, dtype=tenfold.int64, device=anchors.device)
        if not len(boxes):
            return nothing
        places, sides = (anchors[:, :2] + anchors[:, 2:]) / 2, anchors[:, 2] - anchors[:, 0]
        middles = (boxes[:, :2] + boxes[:, 2:]) / 2
        apart = (places[:, None] - middles[None]).abs().amax(2)  # (pixels, boxes)
        edges = edge_distances(boxes[None], places[:, None])  # (pixels, boxes, 4)
        least, most = sides * NEAR, sides * FAR
        least[: counts[0]] = 0.0
        most[-counts[-1] :] = float("inf")
        farthest = edges.amax(2)
        fits = (apart < self.center_sampling_radius * sides[:, None]) & (edges.amin(2) > 0)
        fits &= (farthest > least[:, None]) & (farthest < most[:, None])
        areas = tenfold.where(fits, box_area(boxes)[None], float("inf"))
        smallest, number = areas.min(dim=1)
        return tenfold.where(smallest < float("inf"), number, nothing)

    def postprocess_detections(
        self,
        head_outputs: dict[str, list[Tensor]],
        anchors: Sequence[Sequence[Tensor]],
        image_shapes: Sequence[tuple[int, int]],
    ) -> list[Target]:
        """Of each picture the best boxes that do not overlap.

        Shape: of each level the heads' (N, pixels, ...), of each picture a list of the levels' anchors.
        """
        found = []
        for i, (around, shape) in enumerate(zip(anchors, image_shapes, strict=True)):
            of_picture = {name: [level[i] for level in levels] for name, levels in head_outputs.items()}
            found.append(self._best(of_picture, around, shape))
        return found

    def _best(self, outputs: dict[str, list[Tensor]], anchors: Sequence[Tensor], shape: tuple[int, int]) -> Target:
        """The best pixels of each level, then of all, whose boxes do not overlap."""
        chosen: list[tuple[Tensor, Tensor, Tensor]] = []
        parts = [outputs[name] for name in ("cls_logits", "bbox_ctrness", "bbox_regression")]
        for of_classes, middle, moves, around in zip(*parts, anchors, strict=True):
            classes = of_classes.shape[-1]
            flat = (of_classes.sigmoid() * middle.sigmoid()).sqrt().flatten()
            good = tenfold.where(flat > self.score_thresh)[0]
            best, order = flat[good].topk(min(self.topk_candidates, len(good)))
            good = good[order]
            place = good // classes
            boxes = clip_boxes_to_image(self.box_coder.decode(moves[place], around[place]), shape)
            chosen.append((boxes, best, good % classes))
        boxes, best, labels = (tenfold.cat(part) for part in zip(*chosen, strict=True))
        keep = batched_nms(boxes, best, labels, self.nms_thresh)[: self.detections_per_img]
        return {"boxes": boxes[keep], "scores": best[keep], "labels": labels[keep]}


def edge_distances(boxes: Tensor, places: Tensor) -> Tensor:
    """How far the left, upper, right and lower edges are from a place inside: (..., 4), (..., 2) -> (..., 4)."""
    return tenfold.cat([places - boxes[..., :2], boxes[..., 2:] - places], -1)


def centredness(boxes: Tensor, anchors: Tensor) -> Tensor:
    """1 in the middle of a box, 0 at its edge: sqrt(min(l, r) / max(l, r) * min(t, b) / max(t, b))."""
    left, up, right, down = edge_distances(boxes, (anchors[:, :2] + anchors[:, 2:]) / 2).unbind(1)
    across = tenfold.minimum(left, right) / tenfold.maximum(left, right)
    return (across * tenfold.minimum(up, down) / tenfold.maximum(up, down)).sqrt()


@model(FCOS_ResNet50_FPN_Weights, ResNet50_Weights.IMAGENET1K_V1)
def fcos_resnet50_fpn(
    *,
    weights: FCOS_ResNet50_FPN_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    weights_backbone: ResNet50_Weights | str | None = ResNet50_Weights.IMAGENET1K_V1,
    trainable_backbone_layers: int | None = None,
    **kwargs: Any,
) -> FCOS:
    """FCOS on a ResNet-50's pyramid, 32,269,600 parameters; ``weights_backbone=None`` starts from nothing."""
    chosen, first, classes = checked(FCOS_ResNet50_FPN_Weights, weights, ResNet50_Weights, weights_backbone, num_classes)
    pretrained = chosen is not None or first is not None
    layers = trainable_layers(pretrained, trainable_backbone_layers, 5, 3)
    body = resnet50_pyramid(first, progress, layers, pretrained, (2, 3, 4), LastLevelP6P7(256, 256))
    made: FCOS = loaded(FCOS(body, classes, **kwargs), chosen, progress)
    return made
