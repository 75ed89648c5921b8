"""Boxes as (N, 4) tensors of corners (x1, y1, x2, y2): area, overlap, conversion and suppression."""

from __future__ import annotations

from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.tensor.tensor import host

FORMATS = ("xyxy", "xywh", "cxcywh")


def upcast(values: Tensor) -> Tensor:
    """The values as they are, or wide enough to multiply without overflow: float32 or float64, int32 or int64."""
    if values.is_floating_point():
        return values if values.dtype in (tenfold.float32, tenfold.float64) else values.float()
    return values if values.dtype in (tenfold.int32, tenfold.int64) else values.int()


def _require_format(operator: str, fmt: str) -> None:
    if fmt not in FORMATS:
        raise ValueError(f"{operator}: Unsupported box format {fmt!r}; known: {FORMATS}")


def box_area(boxes: Tensor, fmt: str = "xyxy") -> Tensor:
    """Width times height of every box, given as `box_convert` names it: (N, 4) -> (N,).

    >>> box_area(tenfold.tensor([[0.0, 0.0, 2.0, 3.0]]))
    tensor([6.])

    Raises:
        ValueError: an unknown format.
    """
    _require_format("box_area", fmt)
    wide = upcast(boxes)
    if fmt != "xyxy":
        return wide[..., 2] * wide[..., 3]
    return (wide[..., 2] - wide[..., 0]) * (wide[..., 3] - wide[..., 1])


def _overlap(boxes1: Tensor, boxes2: Tensor) -> tuple[Tensor, Tensor]:
    """Intersection and union of every pair: two (N, M)."""
    upper_left = tenfold.maximum(boxes1[:, None, :2], boxes2[None, :, :2])
    lower_right = tenfold.minimum(boxes1[:, None, 2:], boxes2[None, :, 2:])
    sides = upcast(lower_right - upper_left).clamp(min=0)  # (N, M, 2)
    shared = sides[..., 0] * sides[..., 1]
    return shared, box_area(boxes1)[:, None] + box_area(boxes2)[None, :] - shared


def box_iou(boxes1: Tensor, boxes2: Tensor, fmt: str = "xyxy") -> Tensor:
    """Intersection over union of every pair, given as `box_convert` names it: (N, 4), (M, 4) -> (N, M).

    >>> box_iou(tenfold.tensor([[0.0, 0.0, 2.0, 2.0]]), tenfold.tensor([[1.0, 0.0, 3.0, 2.0]]))
    tensor([[0.3333]])
    """
    _require_format("box_iou", fmt)
    shared, union = _overlap(_to_corners(boxes1, fmt), _to_corners(boxes2, fmt))
    return shared / union


def generalized_box_iou(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """Intersection over union less the share of the enclosing box that neither covers: (N, 4), (M, 4) -> (N, M), in -1..1.

    Source: H. Rezatofighi and others, Generalized Intersection over Union, arXiv:1902.09630.
    """
    shared, union = _overlap(boxes1, boxes2)
    upper_left = tenfold.minimum(boxes1[:, None, :2], boxes2[None, :, :2])
    lower_right = tenfold.maximum(boxes1[:, None, 2:], boxes2[None, :, 2:])
    sides = upcast(lower_right - upper_left).clamp(min=0)
    enclosing = sides[..., 0] * sides[..., 1]
    return shared / union - (enclosing - union) / enclosing


def box_convert(boxes: Tensor, in_fmt: str, out_fmt: str) -> Tensor:
    """Between corners "xyxy", corner and size "xywh", and centre and size "cxcywh": (..., 4) -> (..., 4).

    >>> box_convert(tenfold.tensor([1.0, 2.0, 3.0, 6.0]), "xyxy", "cxcywh")
    tensor([2., 4., 2., 4.])

    Raises:
        ValueError: a format is none of these.
    """
    if in_fmt not in FORMATS or out_fmt not in FORMATS:
        raise ValueError(
            f"box_convert: Unsupported conversion for given in_fmt {in_fmt!r} and out_fmt {out_fmt!r}; known: {FORMATS}"
        )
    if in_fmt == out_fmt:
        return boxes.clone()
    return _from_corners(_to_corners(boxes, in_fmt), out_fmt)


def _to_corners(boxes: Tensor, fmt: str) -> Tensor:
    if fmt == "xyxy":
        return boxes
    first, second, w, h = boxes.unbind(-1)
    if fmt == "xywh":
        return tenfold.stack([first, second, first + w, second + h], dim=-1)
    return tenfold.stack([first - 0.5 * w, second - 0.5 * h, first + 0.5 * w, second + 0.5 * h], dim=-1)


def _from_corners(boxes: Tensor, fmt: str) -> Tensor:
    if fmt == "xyxy":
        return boxes
    x1, y1, x2, y2 = boxes.unbind(-1)
    first, second = (x1, y1) if fmt == "xywh" else ((x1 + x2) / 2, (y1 + y2) / 2)
    return tenfold.stack([first, second, x2 - x1, y2 - y1], dim=-1)


def clip_boxes_to_image(boxes: Tensor, size: tuple[int, int]) -> Tensor:
    """Move corners outside a picture of (height, width) to its edge: (..., 4) -> (..., 4)."""
    height, width = size
    x, y = boxes[..., 0::2].clamp(0, width), boxes[..., 1::2].clamp(0, height)
    return tenfold.stack([x, y], dim=-1).reshape(boxes.shape)


def remove_small_boxes(boxes: Tensor, min_size: float) -> Tensor:
    """The indices of boxes whose width and height are at least ``min_size``: (N, 4) -> (K,)."""
    wide, high = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    return tenfold.where((wide >= min_size) & (high >= min_size))[0]


def nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Non-maximum suppression: from the highest score down, keep a box unless it overlaps a kept one by more than the threshold.

    Shape: (N, 4), (N,) -> (K,), int64, by falling score. Not differentiable.

    >>> boxes = tenfold.tensor([[0.0, 0.0, 10.0, 10.0], [0.0, 0.0, 10.0, 9.0], [20.0, 20.0, 30.0, 30.0]])
    >>> nms(boxes, tenfold.tensor([0.8, 0.9, 0.5]), 0.5)
    tensor([1, 2])

    Raises:
        RuntimeError: the shapes do not fit each other.
    """
    if boxes.ndim != 2 or boxes.shape[1] != 4 or scores.shape != boxes.shape[:1]:
        raise RuntimeError(
            f"nms: expected boxes of shape (N, 4) and scores of shape (N,), got {tuple(boxes.shape)} and {tuple(scores.shape)}"
        )
    order = tenfold.argsort(scores.detach(), descending=True, stable=True)
    kept = _kept(host(upcast(boxes.detach())), host(order), iou_threshold)
    return order[tenfold.from_numpy(kept).to(order.device)]


def _kept(boxes: Any, order: Any, iou_threshold: float) -> Any:
    """The ranks that survive, of boxes (N, 4) ranked by `order`.

    The boxes lie sorted by their left edge, so that those which can overlap one are a slice.
    """
    by_left = np.argsort(boxes[:, 0], kind="stable")
    x1, y1, x2, y2 = boxes[by_left].T
    area = (x2 - x1) * (y2 - y1)
    place = np.empty_like(by_left)
    place[by_left] = np.arange(len(by_left))
    gone = np.zeros(len(by_left), bool)
    first, last = _slices(x1, x2, iou_threshold)
    kept = []
    for rank, i in enumerate(place[order]):
        if gone[i]:
            continue
        kept.append(rank)
        near = slice(first[i], last[i])
        wide = np.minimum(x2[near], x2[i]) - np.maximum(x1[near], x1[i])
        high = np.minimum(y2[near], y2[i]) - np.maximum(y1[near], y1[i])
        both = np.maximum(wide, 0) * np.maximum(high, 0)
        with np.errstate(invalid="ignore", divide="ignore"):  # a NaN overlap (two empty boxes) suppresses nothing
            gone[near] |= both / (area[i] + area[near] - both) > iou_threshold
    return np.asarray(kept, np.int64)


def _slices(x1: Any, x2: Any, iou_threshold: float) -> tuple[Any, Any]:
    """Of each box, which ones of those sorted by left edge can overlap it by more than the threshold."""
    n = len(x1)
    if not iou_threshold >= 0 or not np.isfinite(x1).all() or not np.isfinite(x2).all():
        return np.zeros(n, np.int64), np.full(n, n)
    widest = np.max(x2 - x1, initial=0)
    return np.searchsorted(x1, x1 - widest, "left"), np.searchsorted(x1, x2, "right")


def batched_nms(boxes: Tensor, scores: Tensor, idxs: Tensor, iou_threshold: float) -> Tensor:
    """`nms` within each category of ``idxs`` alone; the kept indices of all, by falling score."""
    if len(boxes) == 0:
        return tenfold.empty((0,), dtype=tenfold.int64, device=boxes.device)
    kept = []
    for category in tenfold.unique(idxs).tolist():
        members = tenfold.where(idxs == category)[0]
        kept.append(members[nms(boxes[members], scores[members], iou_threshold)])
    found: Tensor = tenfold.cat(kept).sort().values  # of equal scores the first comes first
    return found[tenfold.argsort(scores[found], descending=True, stable=True)]


def masks_to_boxes(masks: Tensor) -> Tensor:
    """The smallest box around each mask's non-zero pixels: (N, H, W) -> (N, 4), float32.

    Raises:
        ValueError: a mask has no such pixel.
    """
    boxes = []
    for number, mask in enumerate(masks):
        y, x = tenfold.where(mask != 0)
        if len(x) == 0:
            raise ValueError(f"masks_to_boxes: mask {number} is empty; a box needs at least one pixel")
        boxes.append(tenfold.stack([x.min(), y.min(), x.max(), y.max()]))
    return tenfold.stack(boxes).float() if boxes else tenfold.zeros((0, 4), device=masks.device)
