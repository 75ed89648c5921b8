"""What is in each proposal: classes, boxes, masks and points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.detection.boxes import BELOW, BETWEEN, BalancedPositiveNegativeSampler, BoxCoder, Matcher
from tenfold.vision.models.detection.head_losses import (
    fastrcnn_loss,
    heatmaps_to_keypoints,
    keypointrcnn_inference,
    keypointrcnn_loss,
    keypoints_to_heatmap,
    maskrcnn_inference,
    maskrcnn_loss,
    project_masks_on_boxes,
)
from tenfold.vision.models.detection.images import (
    Target,
    expand_boxes,
    expand_masks,
    paste_mask_in_image,
    paste_masks_in_image,
)
from tenfold.vision.ops.boxes import batched_nms, box_iou, clip_boxes_to_image, remove_small_boxes

__all__ = [
    "RoIHeads",
    "expand_boxes",
    "expand_masks",
    "fastrcnn_loss",
    "heatmaps_to_keypoints",
    "keypointrcnn_inference",
    "keypointrcnn_loss",
    "keypoints_to_heatmap",
    "maskrcnn_inference",
    "maskrcnn_loss",
    "paste_mask_in_image",
    "paste_masks_in_image",
    "project_masks_on_boxes",
]

SMALLEST_SIDE = 1e-2
CODE_WEIGHTS = (10.0, 10.0, 5.0, 5.0)
FLOATS = (tenfold.float32, tenfold.float64, tenfold.float16)
Features = dict[str, Tensor]
Losses = dict[str, Tensor]


class RoIHeads(nn.Module):
    """Pools each proposal and classifies it, shifts its box and, with heads for them, draws its mask and finds its points.

    A subclass may change any step: `select_training_samples` and those that it calls, `postprocess_detections`. The losses are
    functions of this module, looked up when they are needed.

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
        keypoint_roi_pool: nn.Module | None = None,
        keypoint_head: nn.Module | None = None,
        keypoint_predictor: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.box_similarity: Callable[[Tensor, Tensor], Tensor] = box_iou
        self.proposal_matcher = Matcher(fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=False)
        self.fg_bg_sampler = BalancedPositiveNegativeSampler(batch_size_per_image, positive_fraction)
        self.box_coder = BoxCoder(CODE_WEIGHTS if bbox_reg_weights is None else bbox_reg_weights)
        self.box_roi_pool, self.box_head, self.box_predictor = box_roi_pool, box_head, box_predictor
        self.score_thresh, self.nms_thresh, self.detections_per_img = score_thresh, nms_thresh, detections_per_img
        self.mask_roi_pool, self.mask_head, self.mask_predictor = mask_roi_pool, mask_head, mask_predictor
        self.keypoint_roi_pool, self.keypoint_head = keypoint_roi_pool, keypoint_head
        self.keypoint_predictor = keypoint_predictor

    def has_mask(self) -> bool:
        """Whether masks are drawn."""
        return None not in (self.mask_roi_pool, self.mask_head, self.mask_predictor)

    def has_keypoint(self) -> bool:
        """Whether points are found."""
        return None not in (self.keypoint_roi_pool, self.keypoint_head, self.keypoint_predictor)

    def forward(
        self,
        features: Features,
        proposals: Sequence[Tensor],
        image_shapes: Sequence[tuple[int, int]],
        targets: Sequence[Target] | None = None,
    ) -> tuple[list[Target], Losses]:
        if targets is not None:
            self._check_dtypes(targets)
        if self.training:
            return [], self._losses(features, proposals, image_shapes, targets)
        logits, shifts = self._boxes(features, proposals, image_shapes)
        parts = self.postprocess_detections(logits, shifts, proposals, image_shapes)
        found = [{"boxes": boxes, "labels": labels, "scores": scores} for boxes, scores, labels in zip(*parts, strict=True)]
        boxes = [detection["boxes"] for detection in found]
        if self.has_mask():
            masks = maskrcnn_inference(self._masks(features, boxes, image_shapes), [own["labels"] for own in found])
            for detection, own_masks in zip(found, masks, strict=True):
                detection["masks"] = own_masks
        if self.has_keypoint():
            points = keypointrcnn_inference(self._points(features, boxes, image_shapes), boxes)
            for detection, own_points, scores in zip(found, *points, strict=True):
                detection["keypoints"], detection["keypoints_scores"] = own_points, scores
        return found, {}

    def _boxes(self, features: Features, proposals: Any, shapes: Any) -> tuple[Tensor, Tensor]:
        logits, shifts = self.box_predictor(self.box_head(self.box_roi_pool(features, proposals, shapes)))
        return logits, shifts

    def _masks(self, features: Features, boxes: Any, shapes: Any) -> Any:
        pool, head, predictor = self.mask_roi_pool, self.mask_head, self.mask_predictor
        return predictor(head(pool(features, boxes, shapes)))  # type: ignore[misc]

    def _points(self, features: Features, boxes: Any, shapes: Any) -> Any:
        pool, head, predictor = self.keypoint_roi_pool, self.keypoint_head, self.keypoint_predictor
        return predictor(head(pool(features, boxes, shapes)))  # type: ignore[misc]

    # While training

    def _losses(self, features: Features, proposals: Any, shapes: Any, targets: Any) -> Losses:
        sampled, matches, labels, codes = self.select_training_samples(proposals, targets)
        logits, shifts = self._boxes(features, sampled, shapes)
        of_classes, of_boxes = fastrcnn_loss(logits, shifts, labels, codes)
        losses = {"loss_classifier": of_classes, "loss_box_reg": of_boxes}
        matched = [tenfold.where(label > 0)[0] for label in labels]
        boxes = [own[kept] for own, kept in zip(sampled, matched, strict=True)]
        numbers = [match[kept] for match, kept in zip(matches, matched, strict=True)]
        if self.has_mask():
            masks, classes = ([target[name] for target in targets] for name in ("masks", "labels"))
            losses["loss_mask"] = maskrcnn_loss(self._masks(features, boxes, shapes), boxes, masks, classes, numbers)
        if self.has_keypoint():
            points = [target["keypoints"] for target in targets]
            losses["loss_keypoint"] = keypointrcnn_loss(self._points(features, boxes, shapes), boxes, points, numbers)
        return losses

    def _check_dtypes(self, targets: Sequence[Target]) -> None:
        for target in targets:
            if target["boxes"].dtype not in FLOATS:
                raise TypeError(f"target boxes must of float type, instead got {target['boxes'].dtype}")
            if target["labels"].dtype != tenfold.int64:
                raise TypeError(f"target labels must of int64 type, instead got {target['labels'].dtype}")
            if self.has_keypoint() and target["keypoints"].dtype not in FLOATS:
                raise TypeError(f"target keypoints must of float type, instead got {target['keypoints'].dtype}")

    def check_targets(self, targets: Sequence[Target] | None) -> None:
        """Raise ValueError unless there is what the heads learn from."""
        if targets is None:
            raise ValueError("targets should not be None")
        for name in ("boxes", "labels", *(["masks"] if self.has_mask() else [])):
            if not all(name in target for target in targets):
                raise ValueError(f"Every element of targets should have a {name} key")

    def add_gt_proposals(self, proposals: Sequence[Tensor], gt_boxes: Sequence[Tensor]) -> list[Tensor]:
        """Each picture's proposals and true boxes."""
        return [tenfold.cat([boxes, truth]) for boxes, truth in zip(proposals, gt_boxes, strict=True)]

    def assign_targets_to_proposals(
        self, proposals: Sequence[Tensor], gt_boxes: Sequence[Tensor], gt_labels: Sequence[Tensor]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Of each picture's proposals the numbers of their true boxes, and their labels: 0 is background, -1 neither."""
        matches, labels = [], []
        for boxes, truth, classes in zip(proposals, gt_boxes, gt_labels, strict=True):
            if truth.numel() == 0:
                nothing = tenfold.zeros(len(boxes), dtype=tenfold.int64, device=boxes.device)
                matches.append(nothing)
                labels.append(nothing.clone())
                continue
            found = self.proposal_matcher(self.box_similarity(truth, boxes))
            match = found.clamp(min=0)
            label = tenfold.where(found == BELOW, 0, classes[match].to(tenfold.int64))
            matches.append(match)
            labels.append(tenfold.where(found == BETWEEN, -1, label))
        return matches, labels

    def subsample(self, labels: Sequence[Tensor]) -> list[Tensor]:
        """The numbers of the proposals of each picture that are trained on."""
        positive, negative = self.fg_bg_sampler(labels)
        return [tenfold.where(of_things | of_ground)[0] for of_things, of_ground in zip(positive, negative, strict=True)]

    def select_training_samples(
        self, proposals: Sequence[Tensor], targets: Sequence[Target] | None
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor]]:
        """Of each picture sampled boxes, the numbers of their true boxes, their labels, and the codes of the true boxes.

        Raises:
            ValueError: targets are missing.
        """
        self.check_targets(targets)
        known = targets or []
        truth = [target["boxes"].to(own.dtype) for own, target in zip(proposals, known, strict=True)]
        boxes = self.add_gt_proposals(proposals, truth)
        matches, labels = self.assign_targets_to_proposals(boxes, truth, [target["labels"] for target in known])
        matched = []
        for i, chosen in enumerate(self.subsample(labels)):
            boxes[i], labels[i], matches[i] = boxes[i][chosen], labels[i][chosen], matches[i][chosen]
            own = truth[i] if len(truth[i]) else boxes[i].new_zeros((1, 4))
            matched.append(own[matches[i]])
        return boxes, matches, labels, list(self.box_coder.encode(matched, boxes))

    # Afterwards

    def postprocess_detections(
        self, class_logits: Tensor, box_regression: Tensor, proposals: Sequence[Tensor], image_shapes: Sequence[tuple[int, int]]
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Of each picture the best boxes that do not overlap, their scores and their labels.

        Shape: logits (K, classes), shifts (K, classes 4), and the pictures' K proposals.
        """
        counts = [len(boxes) for boxes in proposals]
        decoded = self.box_coder.decode(box_regression, proposals)  # (K, classes, 4)
        parts = zip(decoded.split(counts, 0), class_logits.softmax(-1).split(counts, 0), image_shapes, strict=True)
        found = [self._best(boxes, scores, shape) for boxes, scores, shape in parts]
        return [boxes for boxes, _, _ in found], [scores for _, scores, _ in found], [labels for _, _, labels in found]

    def _best(self, boxes: Tensor, scores: Tensor, shape: tuple[int, int]) -> tuple[Tensor, Tensor, Tensor]:
        inside = clip_boxes_to_image(boxes, shape)[:, 1:].reshape(-1, 4)  # class 0 is the background
        labels = tenfold.arange(scores.shape[-1], device=scores.device)[None].expand(scores.shape)[:, 1:].reshape(-1)
        flat = scores[:, 1:].reshape(-1)
        keep = tenfold.where(flat > self.score_thresh)[0]
        keep = keep[remove_small_boxes(inside[keep], SMALLEST_SIDE)]
        keep = keep[batched_nms(inside[keep], flat[keep], labels[keep], self.nms_thresh)[: self.detections_per_img]]
        return inside[keep], flat[keep], labels[keep]
