"""What is in each proposal: classes, boxes, and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import binary_cross_entropy_with_logits, cross_entropy, smooth_l1_loss
from tenfold.vision.models.detection.boxes import BalancedPositiveNegativeSampler, BoxCoder, Matcher
from tenfold.vision.models.detection.images import Target
from tenfold.vision.ops.boxes import batched_nms, box_iou, clip_boxes_to_image, remove_small_boxes
from tenfold.vision.ops.pooling import roi_align

SMALLEST_SIDE = 1e-2
CODE_WEIGHTS = (10.0, 10.0, 5.0, 5.0)
Features = dict[str, Tensor]


class RoIHeads(nn.Module):
    """Pools each proposal and classifies it, shifts its box and, with a mask head, draws its mask.

    Source: R. Girshick, Fast R-CNN, arXiv:1504.08083; K. He and others, Mask R-CNN, arXiv:1703.06870.
    """

    def __init__(
        self,
        box_roi_pool: nn.Module,
        box_head: nn.Module,
        box_predictor: nn.Module,
        fg_iou_thresh: float,
        bg_iou_thresh: float,
        batch_size_per_image: int,
        positive_fraction: float,
        bbox_reg_weights: Sequence[float] | None,
        score_thresh: float,
        nms_thresh: float,
        detections_per_img: int,
        mask_roi_pool: nn.Module | None = None,
        mask_head: nn.Module | None = None,
        mask_predictor: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.proposal_matcher = Matcher(fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=False)
        self.fg_bg_sampler = BalancedPositiveNegativeSampler(batch_size_per_image, positive_fraction)
        self.box_coder = BoxCoder(CODE_WEIGHTS if bbox_reg_weights is None else bbox_reg_weights)
        self.box_roi_pool, self.box_head, self.box_predictor = box_roi_pool, box_head, box_predictor
        self.score_thresh, self.nms_thresh, self.detections_per_img = score_thresh, nms_thresh, detections_per_img
        self.mask_roi_pool, self.mask_head, self.mask_predictor = mask_roi_pool, mask_head, mask_predictor

    def has_mask(self) -> bool:
        """Whether masks are drawn."""
        return self.mask_roi_pool is not None and self.mask_head is not None and self.mask_predictor is not None

    def forward(
        self,
        features: Features,
        proposals: Sequence[Tensor],
        image_shapes: Sequence[tuple[int, int]],
        targets: Sequence[Target] | None = None,
    ) -> tuple[list[Target], dict[str, Tensor]]:
        if self.training:
            if targets is None:
                raise ValueError("targets should not be None")
            return [], self._losses(features, proposals, image_shapes, targets)
        logits, shifts = self._boxes(features, proposals, image_shapes)
        found = self._detections(logits, shifts, proposals, image_shapes)
        if self.has_mask():
            self._add_masks(found, features, image_shapes)
        self._add_further(found, features, image_shapes)
        return found, {}

    def _boxes(self, features: Features, proposals: Any, shapes: Any) -> tuple[Tensor, Tensor]:
        logits, shifts = self.box_predictor(self.box_head(self.box_roi_pool(features, proposals, shapes)))
        return logits, shifts

    # While training

    def _losses(
        self, features: Features, proposals: Sequence[Tensor], shapes: Any, targets: Sequence[Target]
    ) -> dict[str, Tensor]:
        sampled, labels, codes, matched = self.select_training_samples(proposals, targets)
        logits, shifts = self._boxes(features, sampled, shapes)
        losses = box_losses(logits, shifts, tenfold.cat(labels), tenfold.cat(codes))
        if self.has_mask():
            losses["loss_mask"] = self._mask_loss(features, sampled, shapes, labels, matched, targets)
        return losses | self._further_losses(features, sampled, shapes, labels, matched, targets)

    def _further_losses(self, *trained_on: Any) -> dict[str, Tensor]:
        return {}  # those of what a kind of network finds besides boxes and masks

    def select_training_samples(
        self, proposals: Sequence[Tensor], targets: Sequence[Target]
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor]]:
        """Of each picture sampled boxes, their labels, the codes of their true boxes, and the numbers of these."""
        boxes = [tenfold.cat([p, t["boxes"].to(p.dtype)]) for p, t in zip(proposals, targets, strict=True)]
        matches, labels = [], []
        for around, target in zip(boxes, targets, strict=True):
            match, label = self._assigned(around, target)
            matches.append(match)
            labels.append(label)
        positive, negative = self.fg_bg_sampler(labels)
        sampled, codes = [], []
        for i, target in enumerate(targets):
            chosen = tenfold.where(positive[i] | negative[i])[0]
            sampled.append(boxes[i][chosen])
            labels[i], matches[i] = labels[i][chosen], matches[i][chosen]
            truth = target["boxes"].to(boxes[i].dtype)
            truth = truth if len(truth) else boxes[i].new_zeros((1, 4))
            codes.append(self.box_coder.encode_single(truth[matches[i]], sampled[i]))
        return sampled, labels, codes, matches

    def _assigned(self, boxes: Tensor, target: Target) -> tuple[Tensor, Tensor]:
        if len(target["boxes"]) == 0:
            nothing = tenfold.zeros(len(boxes), dtype=tenfold.int64, device=boxes.device)
            return nothing, nothing.clone()
        found = self.proposal_matcher(box_iou(target["boxes"].to(boxes.dtype), boxes))
        match = found.clamp(min=0)
        label = target["labels"][match].to(tenfold.int64)
        label = tenfold.where(found == -1, 0, label)
        return match, tenfold.where(found == -2, -1, label)

    def _mask_loss(
        self, features: Features, proposals: Any, shapes: Any, labels: Any, matches: Any, targets: Sequence[Target]
    ) -> Tensor:
        kept = [tenfold.where(label > 0)[0] for label in labels]
        boxes = [p[k] for p, k in zip(proposals, kept, strict=True)]
        logits: Tensor = self._masks(features, boxes, shapes)  # (K, classes, M, M)
        if logits.numel() == 0:
            return logits.sum() * 0
        side = logits.shape[-1]
        truth = []
        for target, around, match, k in zip(targets, boxes, matches, kept, strict=True):
            regions = tenfold.cat([match[k][:, None].to(around.dtype), around], 1)
            truth.append(roi_align(target["masks"][:, None].to(around.dtype), regions, (side, side), 1.0)[:, 0])
        classes = tenfold.cat([label[k] for label, k in zip(labels, kept, strict=True)])
        own = logits[tenfold.arange(len(classes), device=classes.device), classes]
        return binary_cross_entropy_with_logits(own, tenfold.cat(truth))

    # Afterwards

    def _detections(
        self, logits: Tensor, shifts: Tensor, proposals: Sequence[Tensor], shapes: Sequence[tuple[int, int]]
    ) -> list[Target]:
        counts = [len(boxes) for boxes in proposals]
        decoded = self.box_coder.decode(shifts, proposals)  # (K, classes, 4)
        parts = zip(decoded.split(counts, 0), logits.softmax(-1).split(counts, 0), shapes, strict=True)
        return [self._best(boxes, scores, shape) for boxes, scores, shape in parts]

    def _best(self, boxes: Tensor, scores: Tensor, shape: tuple[int, int]) -> Target:
        inside = clip_boxes_to_image(boxes, shape)[:, 1:].reshape(-1, 4)  # class 0 is the background
        labels = tenfold.arange(scores.shape[-1], device=scores.device)[None].expand(scores.shape)[:, 1:].reshape(-1)
        flat = scores[:, 1:].reshape(-1)
        keep = tenfold.where(flat > self.score_thresh)[0]
        keep = keep[remove_small_boxes(inside[keep], SMALLEST_SIDE)]
        keep = keep[batched_nms(inside[keep], flat[keep], labels[keep], self.nms_thresh)[: self.detections_per_img]]
        return {"boxes": inside[keep], "labels": labels[keep], "scores": flat[keep]}

    def _masks(self, features: Features, boxes: Any, shapes: Any) -> Any:
        pool, head, predictor = self.mask_roi_pool, self.mask_head, self.mask_predictor
        return predictor(head(pool(features, boxes, shapes)))  # type: ignore[misc]

    def _add_masks(self, found: list[Target], features: Features, shapes: Any) -> None:
        boxes = [detection["boxes"] for detection in found]
        logits = self._masks(features, boxes, shapes)
        labels = tenfold.cat([detection["labels"] for detection in found])
        own = logits[tenfold.arange(len(labels), device=labels.device), labels][:, None].sigmoid()
        for detection, masks in zip(found, own.split([len(b) for b in boxes], 0), strict=True):
            detection["masks"] = masks

    def _add_further(self, found: list[Target], features: Features, shapes: Any) -> None:
        pass  # what a kind of network finds besides boxes and masks


def box_losses(logits: Tensor, shifts: Tensor, labels: Tensor, codes: Tensor) -> dict[str, Tensor]:
    """Cross entropy of the classes, and the distance of the codes of matched boxes in their own class."""
    matched = tenfold.where(labels > 0)[0]
    own = shifts.reshape(len(logits), -1, 4)[matched, labels[matched]]
    distance = smooth_l1_loss(own, codes[matched], beta=1 / 9, reduction="sum") / labels.numel()
    return {"loss_classifier": cross_entropy(logits, labels), "loss_box_reg": distance}
