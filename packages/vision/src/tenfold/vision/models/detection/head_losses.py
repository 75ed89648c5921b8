"""What the heads of a detector learn from and what they find: the losses and results of boxes, masks and points."""

from __future__ import annotations

from collections.abc import Sequence

import tenfold
from tenfold import Tensor
from tenfold.nn.functional import binary_cross_entropy_with_logits, cross_entropy, interpolate, smooth_l1_loss
from tenfold.vision.ops.pooling import roi_align

# Boxes


def fastrcnn_loss(
    class_logits: Tensor, box_regression: Tensor, labels: Sequence[Tensor], regression_targets: Sequence[Tensor]
) -> tuple[Tensor, Tensor]:
    """Cross entropy of the classes, and the distance of the codes of matched boxes in their own class.

    Shape: (K, classes), (K, classes 4), and each picture's labels and codes, together K.
    """
    classes, codes = tenfold.cat(list(labels)), tenfold.cat(list(regression_targets))
    matched = tenfold.where(classes > 0)[0]
    own = box_regression.reshape(len(class_logits), -1, 4)[matched, classes[matched]]
    distance = smooth_l1_loss(own, codes[matched], beta=1 / 9, reduction="sum") / classes.numel()
    return cross_entropy(class_logits, classes), distance


# Masks


def project_masks_on_boxes(gt_masks: Tensor, boxes: Tensor, matched_idxs: Tensor, M: int) -> Tensor:
    """What of its true mask each box holds, M squared: (T, H, W), (K, 4), (K) -> (K, M, M)."""
    regions = tenfold.cat([matched_idxs.to(boxes.dtype)[:, None], boxes], 1)
    return roi_align(gt_masks[:, None].to(regions.dtype), regions, (M, M), 1.0)[:, 0]


def maskrcnn_loss(
    mask_logits: Tensor,
    proposals: Sequence[Tensor],
    gt_masks: Sequence[Tensor],
    gt_labels: Sequence[Tensor],
    mask_matched_idxs: Sequence[Tensor],
) -> Tensor:
    """The cross entropy of each box's mask in its own class: (K, classes, M, M) and each picture's boxes, masks and labels."""
    side = mask_logits.shape[-1]
    pairs = list(zip(gt_masks, proposals, gt_labels, mask_matched_idxs, strict=True))
    classes = tenfold.cat([labels[match] for _, _, labels, match in pairs])
    truth = tenfold.cat([project_masks_on_boxes(masks, boxes, match, side) for masks, boxes, _, match in pairs])
    if truth.numel() == 0:
        return mask_logits.sum() * 0
    own = mask_logits[tenfold.arange(len(classes), device=classes.device), classes]
    return binary_cross_entropy_with_logits(own, truth)


def maskrcnn_inference(x: Tensor, labels: Sequence[Tensor]) -> list[Tensor]:
    """The masks of each box's own class as probabilities: (K, classes, M, M) -> for each picture (its boxes, 1, M, M)."""
    classes = tenfold.cat(list(labels))
    own = x.sigmoid()[tenfold.arange(len(classes), device=classes.device), classes][:, None]
    return list(own.split([len(part) for part in labels], 0))


# Points


def keypoints_to_heatmap(keypoints: Tensor, rois: Tensor, heatmap_size: int) -> tuple[Tensor, Tensor]:
    """Where on its box's map each point is, and whether it is there: (K, P, 3), (K, 4) -> (K, P) each, int64."""
    low, high = rois[:, None, :2], rois[:, None, 2:]
    places = keypoints[..., :2]
    cells = ((places - low) * (heatmap_size / (high - low))).floor().to(tenfold.int64)
    cells = tenfold.where(places == high, heatmap_size - 1, cells)
    inside = ((cells >= 0) & (cells < heatmap_size)).all(-1) & (keypoints[..., 2] > 0)
    return (cells[..., 1] * heatmap_size + cells[..., 0]) * inside, inside.to(tenfold.int64)


def keypointrcnn_loss(
    keypoint_logits: Tensor,
    proposals: Sequence[Tensor],
    gt_keypoints: Sequence[Tensor],
    keypoint_matched_idxs: Sequence[Tensor],
) -> Tensor:
    """The cross entropy of each seen point's place in its map: (K, P, M, M) and each picture's boxes and points."""
    side = keypoint_logits.shape[-1]
    parts = zip(proposals, gt_keypoints, keypoint_matched_idxs, strict=True)
    found = [keypoints_to_heatmap(points[match].to(boxes.dtype), boxes, side) for boxes, points, match in parts]
    places, seen = (tenfold.cat(part).flatten() for part in zip(*found, strict=True))
    valid = tenfold.where(seen)[0]
    if keypoint_logits.numel() == 0 or len(valid) == 0:
        return keypoint_logits.sum() * 0
    return cross_entropy(keypoint_logits.flatten(0, 1).flatten(1)[valid], places[valid])


def heatmaps_to_keypoints(maps: Tensor, rois: Tensor) -> tuple[Tensor, Tensor]:
    """The likeliest place of each point, from maps resized to whole pixels of their boxes.

    Shape: (K, P, M, M), (K, 4) -> (K, P, 3), each (x, y, 1), and their logits (K, P).
    """
    points = maps.new_zeros((len(maps), maps.shape[1], 3))
    scores = maps.new_zeros((len(maps), maps.shape[1]))
    sides = (rois[:, 2:] - rois[:, :2]).clamp(min=1)
    whole = sides.ceil()
    for i, (map_, (width, height)) in enumerate(zip(maps, whole.to(tenfold.int64).tolist(), strict=True)):
        large = interpolate(map_[None], size=(height, width), mode="bicubic", align_corners=False)[0]
        best, place = large.flatten(1).max(dim=1)
        cells = tenfold.stack([place % width, place // width], 1).to(rois.dtype)
        points[i, :, :2] = (cells + 0.5) * (sides[i] / whole[i]) + rois[i, :2]
        points[i, :, 2] = 1
        scores[i] = best
    return points, scores


def keypointrcnn_inference(x: Tensor, boxes: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """`heatmaps_to_keypoints` of each picture: (K, P, M, M) and the pictures' boxes -> two lists."""
    parts = zip(x.split([len(own) for own in boxes], 0), boxes, strict=True)
    found = [heatmaps_to_keypoints(maps, own) for maps, own in parts]
    return [points for points, _ in found], [scores for _, scores in found]
