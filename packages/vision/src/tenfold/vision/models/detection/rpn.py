"""The region proposal network: where something might be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import binary_cross_entropy_with_logits, smooth_l1_loss
from tenfold.vision.models.detection.boxes import BETWEEN, BalancedPositiveNegativeSampler, BoxCoder, Matcher
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


def permute_and_flatten(layer: Tensor, N: int, A: int, C: int, H: int, W: int) -> Tensor:
    """A level's results in the order of its anchors: (N, A C, H, W) -> (N, H W A, C)."""
    return layer.view(N, -1, C, H, W).permute(0, 3, 4, 1, 2).reshape(N, -1, C)


def per_anchor(maps: Tensor, count: int) -> Tensor:
    """`permute_and_flatten` of so many numbers for each anchor: (N, A count, H, W) -> (N, H W A, count)."""
    images, channels, rows, columns = maps.shape
    return permute_and_flatten(maps, images, channels // count, count, rows, columns)


def concat_box_prediction_layers(box_cls: Sequence[Tensor], box_regression: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Several levels' classes (N, A C, H, W) and shifts (N, A 4, H, W) as two rows for each anchor: (all, C), (all, 4)."""
    pairs = list(zip(box_cls, box_regression, strict=True))
    classes = [per_anchor(scores, scores.shape[1] * 4 // shifts.shape[1]) for scores, shifts in pairs]
    return tenfold.cat(classes, 1).flatten(0, -2), tenfold.cat([per_anchor(shifts, 4) for _, shifts in pairs], 1).reshape(-1, 4)


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
        self.box_similarity: Callable[[Tensor, Tensor], Tensor] = box_iou
        self.proposal_matcher = Matcher(fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=True)
        self.fg_bg_sampler = BalancedPositiveNegativeSampler(batch_size_per_image, positive_fraction)
        self._pre_nms_top_n, self._post_nms_top_n = pre_nms_top_n, post_nms_top_n
        self.nms_thresh, self.score_thresh, self.min_size = nms_thresh, score_thresh, SMALLEST_SIDE

    def pre_nms_top_n(self) -> int:
        """How many of each level are looked at."""
        return self._pre_nms_top_n["training" if self.training else "testing"]

    def post_nms_top_n(self) -> int:
        """How many proposals a picture has at most."""
        return self._post_nms_top_n["training" if self.training else "testing"]

    def forward(
        self, images: ImageList, features: dict[str, Tensor], targets: Sequence[Target] | None = None
    ) -> tuple[list[Tensor], dict[str, Tensor]]:
        levels = list(features.values())
        scores, shifts = self.head(levels)
        anchors = self.anchor_generator(images, levels)
        counts = [score[0].numel() for score in scores]
        objectness, deltas = concat_box_prediction_layers(scores, shifts)
        proposals = self.box_coder.decode(deltas.detach(), anchors).view(len(anchors), -1, 4)
        boxes, _ = self.filter_proposals(proposals, objectness, images.image_sizes, counts)
        if not self.training:
            return boxes, {}
        if targets is None:
            raise ValueError("targets should not be None")
        labels, matched = self.assign_targets_to_anchors(anchors, targets)
        codes = self.box_coder.encode(matched, anchors)
        of_objects, of_boxes = self.compute_loss(objectness, deltas, labels, list(codes))
        return boxes, {"loss_objectness": of_objects, "loss_rpn_box_reg": of_boxes}

    def _get_top_n_idx(self, objectness: Tensor, num_anchors_per_level: Sequence[int]) -> Tensor:
        """The numbers of each level's best anchors: (N, anchors) -> (N, chosen)."""
        chosen, first = [], 0
        for count in num_anchors_per_level:
            best = objectness[:, first : first + count].topk(min(self.pre_nms_top_n(), count), dim=1).indices
            chosen.append(best + first)
            first += count
        return tenfold.cat(chosen, 1)

    def filter_proposals(
        self,
        proposals: Tensor,
        objectness: Tensor,
        image_shapes: Sequence[tuple[int, int]],
        num_anchors_per_level: Sequence[int],
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Of each picture the best boxes that do not overlap, and how likely they are something.

        Shape: (N, anchors, 4) and as many logits -> two lists of N.
        """
        logits = objectness.detach().reshape(len(proposals), -1)
        index = self._get_top_n_idx(logits, num_anchors_per_level)
        levels = [tenfold.full((count,), level) for level, count in enumerate(num_anchors_per_level)]
        level_of = tenfold.cat(levels).to(logits.device)
        found, scores = [], []
        for boxes, own, which, shape in zip(proposals, logits, index, image_shapes, strict=True):
            inside, likely = clip_boxes_to_image(boxes[which], shape), own[which].sigmoid()
            keep = remove_small_boxes(inside, self.min_size)
            keep = keep[likely[keep] >= self.score_thresh]
            kept = batched_nms(inside[keep], likely[keep], level_of[which[keep]], self.nms_thresh)
            keep = keep[kept[: self.post_nms_top_n()]]
            found.append(inside[keep])
            scores.append(likely[keep])
        return found, scores

    def assign_targets_to_anchors(
        self, anchors: Sequence[Tensor], targets: Sequence[Target]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Of each picture its anchors' labels (1, 0, or -1 for neither), and their true boxes."""
        labels, matched = [], []
        for around, target in zip(anchors, targets, strict=True):
            truth = target["boxes"]
            if truth.numel() == 0:
                labels.append(around.new_zeros(len(around)))
                matched.append(tenfold.zeros_like(around))
                continue
            matches = self.proposal_matcher(self.box_similarity(truth, around))
            label = (matches >= 0).to(around.dtype)
            labels.append(tenfold.where(matches == BETWEEN, -1.0, label).to(around.dtype))
            matched.append(truth[matches.clamp(min=0)])
        return labels, matched

    def compute_loss(
        self, objectness: Tensor, pred_bbox_deltas: Tensor, labels: Sequence[Tensor], regression_targets: Sequence[Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Of sampled anchors: whether they are something, and the distance of their shifts."""
        positive, negative = (tenfold.where(tenfold.cat(masks))[0] for masks in self.fg_bg_sampler(labels))
        sampled = tenfold.cat([positive, negative])
        truth, codes = tenfold.cat(list(labels)), tenfold.cat(list(regression_targets))
        shift = smooth_l1_loss(pred_bbox_deltas[positive], codes[positive], beta=1 / 9, reduction="sum") / sampled.numel()
        return binary_cross_entropy_with_logits(objectness.flatten()[sampled], truth[sampled]), shift
