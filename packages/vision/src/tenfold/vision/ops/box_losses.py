"""Overlaps with distance and shape, and the losses of boxes made of them."""

from __future__ import annotations

import math

import tenfold
from tenfold import Tensor
from tenfold.vision.ops.boxes import upcast


def distance_box_iou(boxes1: Tensor, boxes2: Tensor, eps: float = 1e-7) -> Tensor:
    """Overlap less the squared distance of the centres over that of the enclosing box's corners: (N, 4), (M, 4) -> (N, M).

    Source: Z. Zheng and others, Distance-IoU Loss, arXiv:1911.08287, equation 7.
    """
    overlap, penalty = _distance(*_every_pair(boxes1, boxes2), eps)
    return overlap - penalty


def complete_box_iou(boxes1: Tensor, boxes2: Tensor, eps: float = 1e-7) -> Tensor:
    """`distance_box_iou` less a term of the angle between the diagonals: (N, 4), (M, 4) -> (N, M).

    Source: Z. Zheng and others, Distance-IoU Loss, arXiv:1911.08287, equations 8 to 11.
    """
    first, second = _every_pair(boxes1, boxes2)
    overlap, penalty = _distance(first, second, eps)
    return overlap - penalty - _angle(first, second, overlap, eps)


def _every_pair(boxes1: Tensor, boxes2: Tensor) -> tuple[Tensor, Tensor]:
    return upcast(boxes1)[:, None], upcast(boxes2)[None]


def _intersection(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """The intersection and the union of pairs of boxes."""
    sides = (tenfold.minimum(first[..., 2:], second[..., 2:]) - tenfold.maximum(first[..., :2], second[..., :2])).clamp(min=0)
    both = sides[..., 0] * sides[..., 1]
    areas = [(boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1]) for boxes in (first, second)]
    return both, areas[0] + areas[1] - both


def _enclosing(first: Tensor, second: Tensor) -> Tensor:
    """Width and height of the box around each pair."""
    return tenfold.maximum(first[..., 2:], second[..., 2:]) - tenfold.minimum(first[..., :2], second[..., :2])


def _distance(first: Tensor, second: Tensor, eps: float, iou_eps: float = 0.0) -> tuple[Tensor, Tensor]:
    both, union = _intersection(first, second)
    diagonal = _enclosing(first, second).clamp(min=0).pow(2).sum(-1) + eps
    apart = (first[..., :2] + first[..., 2:] - second[..., :2] - second[..., 2:]) / 2
    return both / (union + iou_eps), apart.pow(2).sum(-1) / diagonal


def _angle(first: Tensor, second: Tensor, overlap: Tensor, eps: float) -> Tensor:
    angles = [tenfold.atan((boxes[..., 2] - boxes[..., 0]) / (boxes[..., 3] - boxes[..., 1])) for boxes in (first, second)]
    v = 4 / math.pi**2 * (angles[0] - angles[1]).pow(2)
    weight = (v / (1 - overlap + v + eps)).detach()  # equation 11 is not differentiated
    return weight * v


def generalized_box_iou_loss(boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7) -> Tensor:
    """One less the generalized overlap of boxes side by side: (N, 4), (N, 4) -> (N), or 0-d for "mean" and "sum".

    Source: H. Rezatofighi and others, Generalized Intersection over Union, arXiv:1902.09630.

    >>> generalized_box_iou_loss(tenfold.tensor([[0.0, 0.0, 2.0, 2.0]]), tenfold.tensor([[0.0, 0.0, 2.0, 1.0]]))
    tensor([0.5000])
    """
    first, second = upcast(boxes1), upcast(boxes2)
    both, union = _intersection(first, second)
    around = _enclosing(first, second).prod(-1)
    loss = 1 - (both / (union + eps) - (around - union) / (around + eps))
    return _reduced("generalized_box_iou_loss", loss, reduction)


def distance_box_iou_loss(boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7) -> Tensor:
    """One less the overlap with distance of boxes side by side: (N, 4), (N, 4) -> (N), or 0-d for "mean" and "sum"."""
    overlap, penalty = _distance(upcast(boxes1), upcast(boxes2), eps, eps)
    return _reduced("distance_box_iou_loss", 1 - overlap + penalty, reduction)


def complete_box_iou_loss(boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7) -> Tensor:
    """One less the complete overlap of boxes side by side: (N, 4), (N, 4) -> (N), or 0-d for "mean" and "sum"."""
    first, second = upcast(boxes1), upcast(boxes2)
    overlap, penalty = _distance(first, second, eps, eps)
    return _reduced("complete_box_iou_loss", 1 - overlap + penalty + _angle(first, second, overlap, eps), reduction)


def _reduced(operator: str, loss: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return loss
    if reduction == "sum":
        return loss.sum()
    if reduction != "mean":
        raise ValueError(
            f"{operator}: Invalid Value for arg 'reduction': {reduction!r}; Supported reduction modes: 'none', 'mean', 'sum'"
        )
    return loss.mean() if loss.numel() > 0 else 0.0 * loss.sum()
