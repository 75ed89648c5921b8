"""Pictures of different sizes as one batch, and detections back in their own sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import interpolate

Target = dict[str, Tensor]


class ImageList:
    """Padded pictures (N, C, H, W), and the (height, width) of each within."""

    def __init__(self, tensors: Tensor, image_sizes: Sequence[tuple[int, int]]) -> None:
        self.tensors, self.image_sizes = tensors, list(image_sizes)

    def to(self, device: Any) -> ImageList:
        """The same on another device."""
        return ImageList(self.tensors.to(device), self.image_sizes)


class GeneralizedRCNNTransform(nn.Module):
    """Normalize, resize so that the shorter edge is ``min_size`` unless the longer would exceed ``max_size``, pad to one batch.

    While training, with several ``min_size``, one is drawn for each picture. ``fixed_size`` (width, height) takes their place.
    """

    def __init__(
        self,
        min_size: int | Sequence[int],
        max_size: int,
        image_mean: Sequence[float],
        image_std: Sequence[float],
        size_divisible: int = 32,
        fixed_size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__()
        self.min_size = (min_size,) if isinstance(min_size, int) else tuple(min_size)
        self.max_size, self.size_divisible, self.fixed_size = max_size, size_divisible, fixed_size
        self.image_mean, self.image_std = list(image_mean), list(image_std)

    def forward(self, images: Sequence[Tensor], targets: Sequence[Target] | None = None) -> tuple[ImageList, list[Target] | None]:
        prepared, changed = [], []
        for i, image in enumerate(images):
            if image.ndim != 3:
                raise ValueError(f"images is expected to be a list of 3d tensors of shape [C, H, W], got {tuple(image.shape)}")
            resized, target = self.resize(self.normalize(image), None if targets is None else targets[i])
            prepared.append(resized)
            changed.append(target)
        sizes = [(image.shape[-2], image.shape[-1]) for image in prepared]
        batch = ImageList(self.batch_images(prepared), sizes)
        return batch, None if targets is None else [target for target in changed if target is not None]

    def normalize(self, image: Tensor) -> Tensor:
        """Values of 0..1 less their mean, in their deviation."""
        if not image.is_floating_point():
            raise TypeError(
                f"Expected input images to be of floating type (in range [0, 1]), but found type {image.dtype} instead"
            )
        mean, std = image.new_tensor(self.image_mean), image.new_tensor(self.image_std)
        return (image - mean[:, None, None]) / std[:, None, None]

    def resize(self, image: Tensor, target: Target | None = None) -> tuple[Tensor, Target | None]:
        """A picture, and the boxes, masks and points on it, at the size that the network takes."""
        height, width = image.shape[-2:]
        wanted = self.min_size[-1]
        if self.training:
            wanted = self.min_size[int(tenfold.empty(1).uniform_(0.0, float(len(self.min_size))).item())]
        if self.fixed_size is not None:
            how: dict[str, Any] = {"size": (self.fixed_size[1], self.fixed_size[0])}
        else:
            how = {"scale_factor": self._scale(height, width, wanted), "recompute_scale_factor": True}
        resized = interpolate(image[None], mode="bilinear", align_corners=False, **how)[0]
        if target is None:
            return resized, None
        changed = {**target, "boxes": resize_boxes(target["boxes"], (height, width), tuple(resized.shape[-2:]))}
        if "masks" in target:
            changed["masks"] = interpolate(target["masks"][:, None].float(), **how)[:, 0].byte()
        if "keypoints" in target:
            changed["keypoints"] = resize_keypoints(target["keypoints"], (height, width), tuple(resized.shape[-2:]))
        return resized, changed

    def _scale(self, height: int, width: int, wanted: int) -> float:
        return min(wanted / min(height, width), self.max_size / max(height, width))

    def batch_images(self, images: Sequence[Tensor]) -> Tensor:
        """All pictures in the upper left corners of zeros, whose sides ``size_divisible`` divides."""
        unit = self.size_divisible
        height, width = (math.ceil(max(image.shape[axis] for image in images) / unit) * unit for axis in (1, 2))
        batch = images[0].new_zeros((len(images), images[0].shape[0], height, width))
        for place, image in zip(batch, images, strict=True):
            place[:, : image.shape[1], : image.shape[2]] = image
        return batch

    def postprocess(
        self, result: Sequence[Target], image_shapes: Sequence[tuple[int, int]], original_image_sizes: Sequence[tuple[int, int]]
    ) -> list[Target]:
        """Detections in the pictures' own pixels."""
        if self.training:
            return list(result)
        found = []
        for detection, size, original in zip(result, image_shapes, original_image_sizes, strict=True):
            boxes = resize_boxes(detection["boxes"], size, original)
            changed = {**detection, "boxes": boxes}
            if "masks" in detection:
                changed["masks"] = paste_masks(detection["masks"], boxes, original)
            if "keypoints" in detection:
                changed["keypoints"] = resize_keypoints(detection["keypoints"], size, original)
            found.append(changed)
        return found


def resize_boxes(boxes: Tensor, original_size: Sequence[int], new_size: Sequence[int]) -> Tensor:
    """Boxes on a picture that was resized from one (height, width) to another."""
    across, down = (new / old for new, old in zip(reversed(new_size), reversed(original_size), strict=True))
    return boxes * boxes.new_tensor([across, down, across, down])


def resize_keypoints(keypoints: Tensor, original_size: Sequence[int], new_size: Sequence[int]) -> Tensor:
    """Points (x, y, seen) on a picture that was resized from one (height, width) to another."""
    across, down = (new / old for new, old in zip(reversed(new_size), reversed(original_size), strict=True))
    return keypoints * keypoints.new_tensor([across, down, 1.0])


def paste_masks(masks: Tensor, boxes: Tensor, size: tuple[int, int], padding: int = 1) -> Tensor:
    """Square masks of probabilities resized into their boxes: (K, 1, M, M), (K, 4) -> (K, 1, H, W)."""
    height, width = size
    side = masks.shape[-1]
    padded = nn.functional.pad(masks, (padding,) * 4)
    scale = (side + 2 * padding) / side
    centre = (boxes[:, :2] + boxes[:, 2:]) * 0.5
    half = (boxes[:, 2:] - boxes[:, :2]) * 0.5 * scale
    corners = tenfold.cat([centre - half, centre + half], 1).to(tenfold.int64).tolist()
    pasted = masks.new_zeros((len(masks), 1, height, width))
    for place, mask, (x1, y1, x2, y2) in zip(pasted, padded, corners, strict=True):
        w, h = max(x2 - x1 + 1, 1), max(y2 - y1 + 1, 1)
        enlarged = interpolate(mask[None], size=(h, w), mode="bilinear", align_corners=False)[0, 0]
        left, top, right, bottom = max(x1, 0), max(y1, 0), min(x2 + 1, width), min(y2 + 1, height)
        if right > left and bottom > top:
            place[0, top:bottom, left:right] = enlarged[top - y1 : bottom - y1, left - x1 : right - x1]
    return pasted


def require_targets(targets: Any, count: int) -> None:
    """Raise unless every picture has its boxes, of positive width and height."""
    if targets is None or len(targets) != count:
        raise ValueError("targets should not be none when in training mode, and one for each image")
    for number, target in enumerate(targets):
        boxes = target["boxes"]
        if not isinstance(boxes, Tensor) or boxes.ndim != 2 or boxes.shape[-1] != 4:
            shape = tuple(boxes.shape) if isinstance(boxes, Tensor) else type(boxes).__name__
            raise ValueError(f"Expected target boxes to be a tensor of shape [N, 4], got {shape}.")
        if bool((boxes[:, 2:] <= boxes[:, :2]).any()):
            raise ValueError(f"All bounding boxes should have positive height and width; those of target {number} do not")
