"""RetinaNet, key for key with torchvision's checkpoints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import l1_loss
from tenfold.vision.models.catalog.convolutional import ResNet50_Weights
from tenfold.vision.models.catalog.detection import RetinaNet_ResNet50_FPN_V2_Weights, RetinaNet_ResNet50_FPN_Weights
from tenfold.vision.models.detection.backbones import resnet50_pyramid, trainable_layers
from tenfold.vision.models.detection.boxes import AnchorGenerator, BoxCoder, Matcher
from tenfold.vision.models.detection.images import GeneralizedRCNNTransform, Target, require_targets
from tenfold.vision.models.detection.published_rcnn import checked, loaded
from tenfold.vision.models.detection.rpn import per_anchor
from tenfold.vision.models.registry import model
from tenfold.vision.ops.box_losses import generalized_box_iou_loss
from tenfold.vision.ops.boxes import batched_nms, box_iou, clip_boxes_to_image
from tenfold.vision.ops.focal_loss import sigmoid_focal_loss
from tenfold.vision.ops.misc import Conv2dNormActivation
from tenfold.vision.ops.pyramid import LastLevelP6P7
from tenfold.vision.transforms.presets import MEAN, STD

Layer = Callable[..., nn.Module]
ANCHOR_SIZES = tuple((side, int(side * 2 ** (1 / 3)), int(side * 2 ** (2 / 3))) for side in (32, 64, 128, 256, 512))


class _Branch(nn.Module):
    """Four convolutions, and one that gives so many numbers for each anchor, under the name ``last``."""

    def __init__(self, width: int, numbers: int, anchors: int, last: str, norm_layer: Layer | None) -> None:
        super().__init__()
        self.conv = nn.Sequential(*(Conv2dNormActivation(width, width, norm_layer=norm_layer) for _ in range(4)))
        self.add_module(last, nn.Conv2d(width, anchors * numbers, 3, stride=1, padding=1))
        self._numbers, self._last = numbers, last
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.normal_(module.weight, std=0.01)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for i in range(4):  # of checkpoints from before there could be a norm
            for kind in ("weight", "bias"):
                former = f"{prefix}conv.{2 * i}.{kind}"
                if former in state_dict:
                    state_dict[f"{prefix}conv.{i}.0.{kind}"] = state_dict.pop(former)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def forward(self, x: Sequence[Tensor]) -> Tensor:
        last = getattr(self, self._last)
        return tenfold.cat([per_anchor(last(self.conv(level)), self._numbers) for level in x], 1)


class RetinaNetHead(nn.Module):
    """Classes and shifts of every anchor of every level."""

    def __init__(self, in_channels: int, num_anchors: int, num_classes: int, norm_layer: Layer | None = None) -> None:
        super().__init__()
        self.classification_head = _Branch(in_channels, num_classes, num_anchors, "cls_logits", norm_layer)
        self.regression_head = _Branch(in_channels, 4, num_anchors, "bbox_reg", norm_layer)
        nn.init.constant_(self.classification_head.cls_logits.bias, -math.log((1 - 0.01) / 0.01))  # rare at first

    def forward(self, x: Sequence[Tensor]) -> dict[str, Tensor]:
        return {"cls_logits": self.classification_head(x), "bbox_regression": self.regression_head(x)}


class RetinaNet(nn.Module):
    """Boxes of things in pictures, in one step: every anchor is classified, by the focal loss.

    Arguments and results are those of `FasterRCNN`; every class counts, there is no background.

    Source: T.-Y. Lin and others, Focal Loss for Dense Object Detection, arXiv:1708.02002.
    """

    def __init__(
        self,
        backbone: nn.Module,
        num_classes: int,
        min_size: int | Sequence[int] = 800,
        max_size: int = 1333,
        image_mean: Sequence[float] | None = None,
        image_std: Sequence[float] | None = None,
        anchor_generator: nn.Module | None = None,
        head: nn.Module | None = None,
        proposal_matcher: Matcher | None = None,
        score_thresh: float = 0.05,
        nms_thresh: float = 0.5,
        detections_per_img: int = 300,
        fg_iou_thresh: float = 0.5,
        bg_iou_thresh: float = 0.4,
        topk_candidates: int = 1000,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        width: Any = getattr(backbone, "out_channels", None)
        if width is None:
            raise ValueError("backbone should contain an attribute out_channels specifying the number of output channels")
        anchors: Any = anchor_generator or AnchorGenerator(ANCHOR_SIZES, ((0.5, 1.0, 2.0),) * len(ANCHOR_SIZES))
        self.backbone = backbone
        self.anchor_generator = anchors
        self.head = head or RetinaNetHead(width, anchors.num_anchors_per_location()[0], num_classes)
        self.proposal_matcher = proposal_matcher or Matcher(fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=True)
        self.box_coder = BoxCoder((1.0, 1.0, 1.0, 1.0))
        self.box_loss = "l1"
        self.transform = GeneralizedRCNNTransform(min_size, max_size, image_mean or MEAN, image_std or STD, **kwargs)
        self.score_thresh, self.nms_thresh = score_thresh, nms_thresh
        self.detections_per_img, self.topk_candidates = detections_per_img, topk_candidates

    def forward(self, images: Sequence[Tensor], targets: Sequence[Target] | None = None) -> Any:
        if self.training:
            require_targets(targets, len(images))
        originals = [(image.shape[-2], image.shape[-1]) for image in images]
        batch, resized = self.transform(images, targets)
        levels = list(self.backbone(batch.tensors).values())
        outputs = self.head(levels)
        anchors = self.anchor_generator(batch, levels)
        if self.training:
            return self._losses(outputs, anchors, resized or [])
        each = len(self.anchor_generator.sizes[0]) * len(self.anchor_generator.aspect_ratios[0])
        counts = [level.shape[-2] * level.shape[-1] * each for level in levels]
        found = [
            self._best(*parts, counts)
            for parts in zip(outputs["cls_logits"], outputs["bbox_regression"], anchors, batch.image_sizes, strict=True)
        ]
        return self.transform.postprocess(found, batch.image_sizes, originals)

    def _losses(self, outputs: dict[str, Tensor], anchors: Sequence[Tensor], targets: Sequence[Target]) -> dict[str, Tensor]:
        classes, boxes = [], []
        for logits, shifts, around, target in zip(
            outputs["cls_logits"], outputs["bbox_regression"], anchors, targets, strict=True
        ):
            matches = tenfold.full((len(around),), -1, dtype=tenfold.int64, device=around.device)
            if len(target["boxes"]):
                matches = self.proposal_matcher(box_iou(target["boxes"].to(around.dtype), around))
            matched = tenfold.where(matches >= 0)[0]
            truth = tenfold.zeros_like(logits)
            truth[matched, target["labels"][matches[matched]]] = 1.0
            valid = matches != -2
            share = max(1, len(matched))
            classes.append(sigmoid_focal_loss(logits[valid], truth[valid], reduction="sum") / share)
            own = target["boxes"].to(around.dtype)[matches[matched]]
            boxes.append(self._distance(own, around[matched], shifts[matched]) / share)
        count = max(1, len(targets))
        return {"classification": sum(classes) / count, "bbox_regression": sum(boxes) / count}  # type: ignore[dict-item]

    def _distance(self, truth: Tensor, anchors: Tensor, shifts: Tensor) -> Tensor:
        if self.box_loss == "giou":
            return generalized_box_iou_loss(self.box_coder.decode_single(shifts, anchors), truth, reduction="sum", eps=1e-7)
        return l1_loss(shifts, self.box_coder.encode_single(truth, anchors), reduction="sum")

    def _best(self, logits: Tensor, shifts: Tensor, anchors: Tensor, shape: tuple[int, int], counts: Sequence[int]) -> Target:
        """The best anchors of each level, then of all, that do not overlap."""
        found: list[tuple[Tensor, Tensor, Tensor]] = []
        classes = logits.shape[-1]
        for scores, moves, around in zip(logits.split(counts), shifts.split(counts), anchors.split(counts), strict=True):
            flat = scores.sigmoid().flatten()
            good = tenfold.where(flat > self.score_thresh)[0]
            values, order = flat[good].topk(min(self.topk_candidates, len(good)))
            good = good[order]
            place = good // classes
            boxes = clip_boxes_to_image(self.box_coder.decode_single(moves[place], around[place]), shape)
            found.append((boxes, values, good % classes))
        boxes, values, labels = (tenfold.cat(part) for part in zip(*found, strict=True))
        keep = batched_nms(boxes, values, labels, self.nms_thresh)[: self.detections_per_img]
        return {"boxes": boxes[keep], "scores": values[keep], "labels": labels[keep]}


@model(RetinaNet_ResNet50_FPN_Weights, ResNet50_Weights.IMAGENET1K_V1)
def retinanet_resnet50_fpn(
    *,
    weights: RetinaNet_ResNet50_FPN_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    weights_backbone: ResNet50_Weights | str | None = ResNet50_Weights.IMAGENET1K_V1,
    trainable_backbone_layers: int | None = None,
    **kwargs: Any,
) -> RetinaNet:
    """RetinaNet on a ResNet-50's pyramid, 34,014,999 parameters; ``weights_backbone=None`` starts from nothing."""
    chosen, first, classes = checked(RetinaNet_ResNet50_FPN_Weights, weights, ResNet50_Weights, weights_backbone, num_classes)
    pretrained = chosen is not None or first is not None
    layers = trainable_layers(pretrained, trainable_backbone_layers, 5, 3)
    body = resnet50_pyramid(first, progress, layers, pretrained, (2, 3, 4), LastLevelP6P7(256, 256))
    made: RetinaNet = loaded(RetinaNet(body, classes, **kwargs), chosen, progress)
    return made


@model(RetinaNet_ResNet50_FPN_V2_Weights, ResNet50_Weights.IMAGENET1K_V1)
def retinanet_resnet50_fpn_v2(
    *,
    weights: RetinaNet_ResNet50_FPN_V2_Weights | str | None = None,
    progress: bool = True,
    num_classes: int | None = None,
    weights_backbone: ResNet50_Weights | str | None = None,
    trainable_backbone_layers: int | None = None,
    **kwargs: Any,
) -> RetinaNet:
    """RetinaNet with norms in its head and the loss of overlaps, 38,198,935 parameters."""
    chosen, first, classes = checked(RetinaNet_ResNet50_FPN_V2_Weights, weights, ResNet50_Weights, weights_backbone, num_classes)
    pretrained = chosen is not None or first is not None
    layers = trainable_layers(pretrained, trainable_backbone_layers, 5, 3)
    body = resnet50_pyramid(first, progress, layers, False, (2, 3, 4), LastLevelP6P7(2048, 256))
    anchors = AnchorGenerator(ANCHOR_SIZES, ((0.5, 1.0, 2.0),) * len(ANCHOR_SIZES))
    count = anchors.num_anchors_per_location()[0]
    head = RetinaNetHead(256, count, classes, norm_layer=partial(nn.GroupNorm, 32))
    network = RetinaNet(body, classes, anchor_generator=anchors, head=head, **kwargs)
    network.box_loss = "giou"
    made: RetinaNet = loaded(network, chosen, progress)
    return made
