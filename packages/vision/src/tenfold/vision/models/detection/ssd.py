"""SSD: boxes of every level classified in one step, of which the hardest background is trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import cross_entropy, smooth_l1_loss
from tenfold.vision.models.detection.boxes import BELOW, BoxCoder, Matcher
from tenfold.vision.models.detection.default_boxes import DefaultBoxGenerator
from tenfold.vision.models.detection.images import GeneralizedRCNNTransform, Target, require_targets
from tenfold.vision.models.detection.roi_heads import CODE_WEIGHTS
from tenfold.vision.models.detection.rpn import per_anchor
from tenfold.vision.ops.boxes import batched_nms, box_iou, clip_boxes_to_image
from tenfold.vision.transforms.presets import MEAN, STD


class SSDMatcher(Matcher):
    """`Matcher` that gives each true box the one that overlaps it most, however little, and to none but it."""

    def __init__(self, threshold: float) -> None:
        super().__init__(threshold, threshold, allow_low_quality_matches=False)

    def __call__(self, match_quality_matrix: Tensor) -> Tensor:
        matches = super().__call__(match_quality_matrix)
        best = match_quality_matrix.max(dim=1).indices
        matches[best] = tenfold.arange(len(best), dtype=matches.dtype, device=matches.device)
        return matches


class SSDScoringHead(nn.Module):
    """One module for each level, whose channels are ``num_columns`` numbers of each anchor."""

    def __init__(self, module_list: nn.ModuleList, num_columns: int) -> None:
        super().__init__()
        self.module_list = module_list
        self.num_columns = num_columns

    def forward(self, x: Sequence[Tensor]) -> Tensor:
        levels = zip(self.module_list, x, strict=True)
        return tenfold.cat([per_anchor(module(maps), self.num_columns) for module, maps in levels], 1)


class SSDClassificationHead(SSDScoringHead):
    """The classes of every anchor, by a 3x3 convolution of each level."""

    def __init__(self, in_channels: Sequence[int], num_anchors: Sequence[int], num_classes: int) -> None:
        sizes = zip(in_channels, num_anchors, strict=True)
        super().__init__(nn.ModuleList(nn.Conv2d(c, a * num_classes, 3, padding=1) for c, a in sizes), num_classes)
        even_convolutions(self)


class SSDRegressionHead(SSDScoringHead):
    """The shifts of every anchor, by a 3x3 convolution of each level."""

    def __init__(self, in_channels: Sequence[int], num_anchors: Sequence[int]) -> None:
        sizes = zip(in_channels, num_anchors, strict=True)
        super().__init__(nn.ModuleList(nn.Conv2d(c, a * 4, 3, padding=1) for c, a in sizes), 4)
        even_convolutions(self)


class SSDHead(nn.Module):
    """Classes and shifts of every anchor, by a 3x3 convolution of each level."""

    def __init__(self, in_channels: Sequence[int], num_anchors: Sequence[int], num_classes: int) -> None:
        super().__init__()
        self.classification_head: nn.Module = SSDClassificationHead(in_channels, num_anchors, num_classes)
        self.regression_head: nn.Module = SSDRegressionHead(in_channels, num_anchors)

    def forward(self, x: Sequence[Tensor]) -> dict[str, Tensor]:
        return {"bbox_regression": self.regression_head(x), "cls_logits": self.classification_head(x)}


def even_convolutions(network: nn.Module) -> None:
    """Convolutions start with as much variance forwards as backwards, and without bias."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


class SSD(nn.Module):
    """Boxes of things in pictures, in one step, on pictures of one ``size`` (width, height).

    Arguments and results are those of `FasterRCNN`; class 0 is the background. ``head`` is made for the backbone's
    ``out_channels`` where none is given.

    Raises:
        ValueError: no head is given and the backbone does not tell its widths, or another number of levels than the
            anchors have.

    Source: W. Liu and others, SSD: Single Shot MultiBox Detector, arXiv:1512.02325.
    """

    def __init__(
        self,
        backbone: nn.Module,
        anchor_generator: DefaultBoxGenerator,
        size: tuple[int, int],
        num_classes: int,
        image_mean: Sequence[float] | None = None,
        image_std: Sequence[float] | None = None,
        head: nn.Module | None = None,
        score_thresh: float = 0.01,
        nms_thresh: float = 0.45,
        detections_per_img: int = 200,
        iou_thresh: float = 0.5,
        topk_candidates: int = 400,
        positive_fraction: float = 0.25,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.backbone, self.anchor_generator = backbone, anchor_generator
        self.box_coder = BoxCoder(CODE_WEIGHTS)
        if head is None:
            counts = anchor_generator.num_anchors_per_location()
            widths: Any = getattr(backbone, "out_channels", None) or retrieve_out_channels(backbone, size)
            if len(widths) != len(counts):
                raise ValueError(f"SSD: the backbone has {len(widths)} levels, the anchors {len(counts)}; give one for each")
            head = SSDHead(widths, counts, num_classes)
        self.head: Any = head
        self.proposal_matcher = SSDMatcher(iou_thresh)
        options = {"size_divisible": 1, "fixed_size": size, **kwargs}
        mean, std = image_mean or MEAN, image_std or STD
        self.transform = GeneralizedRCNNTransform(min(size), max(size), mean, std, **options)
        self.score_thresh, self.nms_thresh = score_thresh, nms_thresh
        self.detections_per_img, self.topk_candidates = detections_per_img, topk_candidates
        self.neg_to_pos_ratio = (1.0 - positive_fraction) / positive_fraction

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
            return self.eager_outputs(self._losses(resized or [], outputs, anchors), [])
        found = self.postprocess_detections(outputs, anchors, batch.image_sizes)
        return self.eager_outputs({}, self.transform.postprocess(found, batch.image_sizes, originals))

    def eager_outputs(self, losses: dict[str, Tensor], detections: list[Target]) -> Any:
        """What a call gives: the losses while training, else the detections."""
        return losses if self.training else detections

    def _losses(self, targets: Sequence[Target], outputs: dict[str, Tensor], anchors: Sequence[Tensor]) -> dict[str, Tensor]:
        matches = []
        for around, target in zip(anchors, targets, strict=True):
            nothing = tenfold.full((len(around),), BELOW, dtype=tenfold.int64, device=around.device)
            truth = target["boxes"].to(around.dtype)
            matches.append(self.proposal_matcher(box_iou(truth, around)) if truth.numel() else nothing)
        return self.compute_loss(targets, outputs, anchors, matches)

    def compute_loss(
        self,
        targets: Sequence[Target],
        head_outputs: dict[str, Tensor],
        anchors: Sequence[Tensor],
        matched_idxs: Sequence[Tensor],
    ) -> dict[str, Tensor]:
        """The distance of matched anchors' shifts, and the cross entropy of these and of the hardest background."""
        logits, shifts = head_outputs["cls_logits"], head_outputs["bbox_regression"]
        distances, classes, found = [], [], 0
        for i, (around, target, matches) in enumerate(zip(anchors, targets, matched_idxs, strict=True)):
            matched = tenfold.where(matches >= 0)[0]
            boxes = target["boxes"].to(around.dtype)[matches[matched]]
            truth = self.box_coder.encode_single(boxes, around[matched])
            distances.append(smooth_l1_loss(shifts[i][matched], truth, reduction="sum"))
            labels = tenfold.zeros(len(around), dtype=tenfold.int64, device=around.device)
            labels[matched] = target["labels"][matches[matched]].to(tenfold.int64)
            losses = cross_entropy(logits[i], labels, reduction="none")
            classes.append(losses[matched].sum() + losses[self._hardest(losses.detach(), matched)].sum())
            found += len(matched)
        share = max(1, found)
        return {"bbox_regression": tenfold.stack(distances).sum() / share, "classification": tenfold.stack(classes).sum() / share}

    def _hardest(self, losses: Tensor, matched: Tensor) -> Tensor:
        """The background with the greatest losses, in a fixed ratio to what is matched."""
        background = losses.clone()
        background[matched] = -float("inf")
        count = min(int(self.neg_to_pos_ratio * len(matched)), len(losses))
        return background.sort(descending=True).indices[:count]

    def postprocess_detections(
        self, head_outputs: dict[str, Tensor], image_anchors: Sequence[Tensor], image_shapes: Sequence[tuple[int, int]]
    ) -> list[Target]:
        """Of each picture the best boxes that do not overlap."""
        scores = head_outputs["cls_logits"].softmax(-1)
        parts = zip(head_outputs["bbox_regression"], scores, image_anchors, image_shapes, strict=True)
        return [self._best(*part) for part in parts]

    def _best(self, shifts: Tensor, scores: Tensor, anchors: Tensor, shape: tuple[int, int]) -> Target:
        """The best boxes of each class, then of all, that do not overlap."""
        boxes = clip_boxes_to_image(self.box_coder.decode_single(shifts, anchors), shape)
        chosen: list[tuple[Tensor, Tensor, Tensor]] = []
        for label in range(1, scores.shape[-1]):
            good = tenfold.where(scores[:, label] > self.score_thresh)[0]
            values, order = scores[good, label].topk(min(self.topk_candidates, len(good)))
            chosen.append((boxes[good[order]], values, tenfold.full_like(order, label)))
        found, values, labels = (tenfold.cat(part) for part in zip(*chosen, strict=True))
        keep = batched_nms(found, values, labels, self.nms_thresh)[: self.detections_per_img]
        return {"boxes": found[keep], "scores": values[keep], "labels": labels[keep]}


def retrieve_out_channels(model: nn.Module, size: tuple[int, int]) -> list[int]:
    """The channels of a backbone's levels, which one run on an empty picture tells."""
    learning = model.training
    model.eval()
    with tenfold.no_grad():
        levels = model(tenfold.zeros(1, 3, size[1], size[0]))
    model.train(learning)
    return [levels.shape[1]] if isinstance(levels, Tensor) else [level.shape[1] for level in levels.values()]
