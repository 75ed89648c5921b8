"""The region proposal network: where something might be."""

from __future__ import annotations

from collections.abc import Sequence

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import binary_cross_entropy_with_logits, smooth_l1_loss
from tenfold.vision.models.detection.boxes import BalancedPositiveNegativeSampler, BoxCoder, Matcher
from tenfold.vision.models.detection.images import ImageList, Target
from tenfold.vision.ops.boxes import batched_nms, box_iou, clip_boxes_to_image, remove_small_boxes
from tenfold.vision.ops.misc import Conv2dNormActivation

SMALLEST_SIDE = 1e-3


class RPNHead(nn.Module):
    """3x3 convolutions, then for each anchor whether it is something, and four shifts."""

    def __init__(self, in_channels: int, num_anchors: int, conv_depth: int = 1) -> None:
        super().__init__()
        self.conv = nn.Sequential(
            *(Conv2dNormActivation(in_channels, in_channels, 3, norm_layer=None) for _ in range(conv_depth))
        )
        self.cls_logits = nn.Conv2d(in_channels, num_anchors, 1)
        self.bbox_pred = nn.Conv2d(in_channels, num_anchors * 4, 1)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.normal_(module.weight, std=0.01)
                nn.init.zeros_(module.bias)

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *rest: object) -> None:
        for kind in ("weight", "bias"):  # of checkpoints from before there could be several convolutions
            former = f"{prefix}conv.{kind}"
            if former in state_dict:
                state_dict[f"{prefix}conv.0.0.{kind}"] = state_dict.pop(former)
        super()._load_from_state_dict(state_dict, prefix, *rest)  # type: ignore[arg-type]

    def forward(self, x: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        hidden = [self.conv(level) for level in x]
        return [self.cls_logits(level) for level in hidden], [self.bbox_pred(level) for level in hidden]


def per_anchor(maps: Tensor, count: int) -> Tensor:
    """A level's results in the order of its anchors: (N, A count, H, W) -> (N, H W A, count)."""
    return maps.unflatten(1, (-1, count)).permute(0, 3, 4, 1, 2).flatten(1, 3)


class RegionProposalNetwork(nn.Module):
    """Anchors shifted and ranked by a head; the best of each level that do not overlap are proposals.

    Source: S. Ren, K. He, R. Girshick, J. Sun, Faster R-CNN, arXiv:1506.01497, section 3.
    """

    def __init__(
        self,
        anchor_generator: nn.Module,
        head: nn.Module,
        fg_iou_thresh: float,
        bg_iou_thresh: float,
        batch_size_per_image: int,
        positive_fraction: float,
        pre_nms_top_n: dict[str, int],
        post_nms_top_n: dict[str, int],
        nms_thresh: float,
        score_thresh: float = 0.0,
    ) -> None:
        super().__init__()
        self.anchor_generator = anchor_generator
        self.head = head
        self.box_coder = BoxCoder((1.0, 1.0, 1.0, 1.0))
        self.proposal_matcher = Matcher(fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=True)
        self.fg_bg_sampler = BalancedPositiveNegativeSampler(batch_size_per_image, positive_fraction)
        self._pre_nms_top_n, self._post_nms_top_n = pre_nms_top_n, post_nms_top_n
        self.nms_thresh, self.score_thresh = nms_thresh, score_thresh

    def forward(
        self, images: ImageList, features: dict[str, Tensor], targets: Sequence[Target] | None = None
    ) -> tuple[list[Tensor], dict[str, Tensor]]:
        levels = list(features.values())
        scores, shifts = self.head(levels)
        anchors = self.anchor_generator(images, levels)
        counts = [score[0].numel() for score in scores]
        objectness = tenfold.cat([per_anchor(score, 1) for score in scores], 1)  # (N, anchors, 1)
        deltas = tenfold.cat([per_anchor(shift, 4) for shift in shifts], 1).reshape(-1, 4)
        proposals = self.box_coder.decode(deltas.detach(), anchors).view(len(anchors), -1, 4)
        boxes = self._filtered(proposals, objectness.detach().squeeze(2), images.image_sizes, counts)
        if not self.training:
            return boxes, {}
        if targets is None:
            raise ValueError("targets should not be None")
        return boxes, self._losses(objectness.flatten(), deltas, anchors, targets)

    def _filtered(
        self, proposals: Tensor, objectness: Tensor, shapes: Sequence[tuple[int, int]], counts: Sequence[int]
    ) -> list[Tensor]:
        mode = "training" if self.training else "testing"
        chosen, levels, first = [], [], 0
        for level, count in enumerate(counts):
            best = objectness[:, first : first + count].topk(min(self._pre_nms_top_n[mode], count), dim=1).indices + first
            chosen.append(best)
            levels.append(tenfold.full_like(best, level))
            first += count
        index, level_of = tenfold.cat(chosen, 1), tenfold.cat(levels, 1)
        found = []
        for boxes, logits, which, numbers, shape in zip(proposals, objectness, index, level_of, shapes, strict=True):
            inside, scores = clip_boxes_to_image(boxes[which], shape), logits[which].sigmoid()
            keep = remove_small_boxes(inside, SMALLEST_SIDE)
            keep = keep[scores[keep] >= self.score_thresh]
            kept = batched_nms(inside[keep], scores[keep], numbers[keep], self.nms_thresh)
            found.append(inside[keep][kept[: self._post_nms_top_n[mode]]])
        return found

    def _losses(
        self, objectness: Tensor, deltas: Tensor, anchors: Sequence[Tensor], targets: Sequence[Target]
    ) -> dict[str, Tensor]:
        labels, codes = [], []
        for around, target in zip(anchors, targets, strict=True):
            label, matched = self._assigned(around, target["boxes"])
            labels.append(label)
            codes.append(self.box_coder.encode_single(matched, around))
        positive, negative = (tenfold.cat(masks) for masks in self.fg_bg_sampler(labels))
        sampled = tenfold.where(positive | negative)[0]
        chosen = tenfold.where(positive)[0]
        shift = smooth_l1_loss(deltas[chosen], tenfold.cat(codes)[chosen], beta=1 / 9, reduction="sum") / sampled.numel()
        truth = tenfold.cat(labels)[sampled]
        return {"loss_objectness": binary_cross_entropy_with_logits(objectness[sampled], truth), "loss_rpn_box_reg": shift}

    def _assigned(self, anchors: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
        """Labels of anchors (1, 0, or -1 for neither), and their true boxes."""
        if len(truth) == 0:
            return anchors.new_zeros(len(anchors)), tenfold.zeros_like(anchors)
        matches = self.proposal_matcher(box_iou(truth, anchors))
        labels = (matches >= 0).to(anchors.dtype)
        labels = tenfold.where(matches == -2, -1.0, labels).to(anchors.dtype)
        return labels, truth[matches.clamp(min=0)]
