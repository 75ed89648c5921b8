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
from tenfold.vision.models.detection.boxes import BELOW, BETWEEN, AnchorGenerator, BoxCoder, Matcher
from tenfold.vision.models.detection.images import GeneralizedRCNNTransform, Target, require_targets
from tenfold.vision.models.detection.published_rcnn import checked, loaded
from tenfold.vision.models.detection.rcnn import require_kind, require_width
from tenfold.vision.models.detection.rpn import per_anchor
from tenfold.vision.models.registry import model
from tenfold.vision.ops.box_losses import generalized_box_iou_loss
from tenfold.vision.ops.boxes import batched_nms, box_iou, clip_boxes_to_image
from tenfold.vision.ops.focal_loss import sigmoid_focal_loss
from tenfold.vision.ops.misc import Conv2dNormActivation
from tenfold.vision.ops.pyramid import LastLevelP6P7
from tenfold.vision.transforms.presets import MEAN, STD

Layer = Callable[..., nn.Module]
Outputs = dict[str, Tensor]
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


class RetinaNetClassificationHead(_Branch):
    """The logits of every anchor's classes; at first each is as likely as ``prior_probability``.

    Shape: levels (N, C, H, W) -> (N, anchors, classes).
    """

    def __init__(
        self,
        in_channels: int,
        num_anchors: int,
        num_classes: int,
        prior_probability: float = 0.01,
        norm_layer: Layer | None = None,
    ) -> None:
        super().__init__(in_channels, num_classes, num_anchors, "cls_logits", norm_layer)
        nn.init.constant_(self.cls_logits.bias, -math.log((1 - prior_probability) / prior_probability))
        self.num_classes, self.num_anchors = num_classes, num_anchors
        self.BETWEEN_THRESHOLDS = BETWEEN

    def compute_loss(self, targets: Sequence[Target], head_outputs: Outputs, matched_idxs: Sequence[Tensor]) -> Tensor:
        """The focal loss of all anchors that are something or background, for each that is something."""
        losses = []
        for target, logits, matches in zip(targets, head_outputs["cls_logits"], matched_idxs, strict=True):
            matched = tenfold.where(matches >= 0)[0]
            truth = tenfold.zeros_like(logits)
            truth[matched, target["labels"][matches[matched]]] = 1.0
            valid = matches != self.BETWEEN_THRESHOLDS
            losses.append(sigmoid_focal_loss(logits[valid], truth[valid], reduction="sum") / max(1, len(matched)))
        return sum(losses) / len(targets)  # type: ignore[return-value]


class RetinaNetRegressionHead(_Branch):
    """The shifts of every anchor.

    Shape: levels (N, C, H, W) -> (N, anchors, 4).
    """

    def __init__(self, in_channels: int, num_anchors: int, norm_layer: Layer | None = None) -> None:
        super().__init__(in_channels, 4, num_anchors, "bbox_reg", norm_layer)
        self.box_coder = BoxCoder((1.0, 1.0, 1.0, 1.0))
        self._loss_type = "l1"

    def compute_loss(
        self, targets: Sequence[Target], head_outputs: Outputs, anchors: Sequence[Tensor], matched_idxs: Sequence[Tensor]
    ) -> Tensor:
        """The distance of the anchors that are something from their boxes, for each of them."""
        losses = []
        parts = zip(targets, head_outputs["bbox_regression"], anchors, matched_idxs, strict=True)
        for target, shifts, around, matches in parts:
            matched = tenfold.where(matches >= 0)[0]
            own = target["boxes"].to(around.dtype)[matches[matched]]
            losses.append(self._distance(own, around[matched], shifts[matched]) / max(1, len(matched)))
        return sum(losses) / max(1, len(targets))  # type: ignore[return-value]

    def _distance(self, truth: Tensor, anchors: Tensor, shifts: Tensor) -> Tensor:
        if self._loss_type == "giou":
            return generalized_box_iou_loss(self.box_coder.decode_single(shifts, anchors), truth, reduction="sum", eps=1e-7)
        return l1_loss(shifts, self.box_coder.encode_single(truth, anchors), reduction="sum")


class RetinaNetHead(nn.Module):
    """Classes and shifts of every anchor of every level."""

    def __init__(self, in_channels: int, num_anchors: int, num_classes: int, norm_layer: Layer | None = None) -> None:
        super().__init__()
        self.classification_head = RetinaNetClassificationHead(in_channels, num_anchors, num_classes, norm_layer=norm_layer)
        self.regression_head = RetinaNetRegressionHead(in_channels, num_anchors, norm_layer=norm_layer)

    def forward(self, x: Sequence[Tensor]) -> Outputs:
        return {"cls_logits": self.classification_head(x), "bbox_regression": self.regression_head(x)}

    def compute_loss(
        self, targets: Sequence[Target], head_outputs: Outputs, anchors: Sequence[Tensor], matched_idxs: Sequence[Tensor]
    ) -> dict[str, Tensor]:
        """What each branch learns from."""
        return {
            "classification": self.classification_head.compute_loss(targets, head_outputs, matched_idxs),
            "bbox_regression": self.regression_head.compute_loss(targets, head_outputs, anchors, matched_idxs),
        }


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
        width = require_width(backbone)
        require_kind("anchor_generator", anchor_generator, AnchorGenerator)
        anchors: Any = anchor_generator or AnchorGenerator(ANCHOR_SIZES, ((0.5, 1.0, 2.0),) * len(ANCHOR_SIZES))
        self.backbone = backbone
        self.anchor_generator = anchors
        self.head = head or RetinaNetHead(width, anchors.num_anchors_per_location()[0], num_classes)
        self.proposal_matcher = proposal_matcher or Matcher(fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=True)
        self.box_coder = BoxCoder((1.0, 1.0, 1.0, 1.0))
        self.transform = GeneralizedRCNNTransform(min_size, max_size, image_mean or MEAN, image_std or STD, **kwargs)
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
        if self.training:
            return self.eager_outputs(self.compute_loss(resized or [], outputs, anchors), [])
        places = [level.shape[-2] * level.shape[-1] for level in levels]
        each = outputs["cls_logits"].shape[1] // sum(places)
        counts = [count * each for count in places]
        by_level = {name: list(values.split(counts, 1)) for name, values in outputs.items()}
        found = self.postprocess_detections(by_level, [list(own.split(counts)) for own in anchors], batch.image_sizes)
        return self.eager_outputs({}, self.transform.postprocess(found, batch.image_sizes, originals))

    def eager_outputs(self, losses: dict[str, Tensor], detections: list[Target]) -> Any:
        """What a call gives: the losses while training, else the detections."""
        return losses if self.training else detections

    def compute_loss(self, targets: Sequence[Target], head_outputs: Outputs, anchors: Sequence[Tensor]) -> dict[str, Tensor]:
        """The head's losses, of anchors matched with the true boxes."""
        matches = []
        for around, target in zip(anchors, targets, strict=True):
            nothing = tenfold.full((len(around),), BELOW, dtype=tenfold.int64, device=around.device)
            truth = target["boxes"]
            matches.append(self.proposal_matcher(box_iou(truth.to(around.dtype), around)) if truth.numel() else nothing)
        losses: dict[str, Tensor] = self.head.compute_loss(targets, head_outputs, anchors, matches)
        return losses

    def postprocess_detections(
        self,
        head_outputs: dict[str, list[Tensor]],
        anchors: Sequence[Sequence[Tensor]],
        image_shapes: Sequence[tuple[int, int]],
    ) -> list[Target]:
        """Of each picture the best boxes that do not overlap.

        Shape: of each level the heads' (N, anchors, ...), of each picture a list of the levels' anchors.
        """
        found = []
        for i, (around, shape) in enumerate(zip(anchors, image_shapes, strict=True)):
            logits, shifts = ([level[i] for level in head_outputs[name]] for name in ("cls_logits", "bbox_regression"))
            found.append(self._best(logits, shifts, around, shape))
        return found

    def _best(self, logits: Sequence[Tensor], shifts: Sequence[Tensor], anchors: Any, shape: tuple[int, int]) -> Target:
        """The best anchors of each level, then of all, that do not overlap."""
        found: list[tuple[Tensor, Tensor, Tensor]] = []
        for scores, moves, around in zip(logits, shifts, anchors, strict=True):
            classes = scores.shape[-1]
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
    head.regression_head._loss_type = "giou"
    made: RetinaNet = loaded(network, chosen, progress)
    return made
