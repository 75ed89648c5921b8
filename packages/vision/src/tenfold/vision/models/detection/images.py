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
    ``_skip_resize`` leaves pictures that are trained on in their size.
    """

    def __init__(
        self,
        min_size: int | Sequence[int],
        max_size: int,
        image_mean: Sequence[float],
        image_std: Sequence[float],
        size_divisible: int = 32,
        fixed_size: tuple[int, int] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self._skip_resize = kwargs.pop("_skip_resize", False)
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
        batch = ImageList(self.batch_images(prepared, size_divisible=self.size_divisible), sizes)
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
        if self.training and self._skip_resize:
            return image, target
        wanted = self.torch_choice(self.min_size) if self.training else self.min_size[-1]
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

    def torch_choice(self, k: Sequence[int]) -> int:
        """One of these numbers, drawn from the generator of random numbers."""
        return k[int(tenfold.empty(1).uniform_(0.0, float(len(k))).item())]

    def max_by_axis(self, the_list: Sequence[Sequence[int]]) -> list[int]:
        """The greatest number at each place of these lists."""
        return [max(numbers) for numbers in zip(*the_list, strict=True)]

    def batch_images(self, images: Sequence[Tensor], size_divisible: int = 32) -> Tensor:
        """All pictures in the upper left corners of zeros, whose sides ``size_divisible`` divides."""
        channels, *sides = self.max_by_axis([list(image.shape) for image in images])
        height, width = (math.ceil(side / size_divisible) * size_divisible for side in sides)
        batch = images[0].new_zeros((len(images), channels, height, width))
        for place, image in zip(batch, images, strict=True):
            place[: image.shape[0], : image.shape[1], : image.shape[2]] = image
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
                changed["masks"] = paste_masks_in_image(detection["masks"], boxes, original)
            if "keypoints" in detection:
                changed["keypoints"] = resize_keypoints(detection["keypoints"], size, original)
            found.append(changed)
        return found


def resize_boxes(boxes: Tensor, original_size: Sequence[int], new_size: Sequence[int]) -> Tensor:
    """Boxes on a picture that was resized from one (height, width) to another; whole numbers become floats."""
    across, down = _ratios(original_size, new_size)
    whole = boxes if boxes.is_floating_point() else boxes.to(tenfold.float32)
    return whole * tenfold.stack([across, down, across, down]).to(device=whole.device, dtype=whole.dtype)


def resize_keypoints(keypoints: Tensor, original_size: Sequence[int], new_size: Sequence[int]) -> Tensor:
    """Points (x, y, seen) on a picture that was resized from one (height, width) to another."""
    across, down = _ratios(original_size, new_size)
    scale = tenfold.stack([across, down, tenfold.ones_like(down)])
    return keypoints * scale.to(device=keypoints.device, dtype=keypoints.dtype)


def _ratios(old: Sequence[int], new: Sequence[int]) -> tuple[Tensor, Tensor]:
    """How many times wider and higher; in float32, as torchvision has it."""
    across, down = (tenfold.tensor(new[i], dtype=tenfold.float32) / old[i] for i in (1, 0))
    return across, down


def expand_boxes(boxes: Tensor, scale: float) -> Tensor:
    """Boxes with so many times their sides around the same middles: (K, 4) -> (K, 4)."""
    centre, half = (boxes[:, :2] + boxes[:, 2:]) * 0.5, (boxes[:, 2:] - boxes[:, :2]) * 0.5 * scale
    return tenfold.cat([centre - half, centre + half], 1)


def expand_masks(mask: Tensor, padding: int) -> tuple[Tensor, float]:
    """Square masks with zeros around them, and how many times larger they are."""
    side = mask.shape[-1]
    return nn.functional.pad(mask, (padding,) * 4), (side + 2 * padding) / side


def paste_mask_in_image(mask: Tensor, box: Tensor, im_h: int, im_w: int) -> Tensor:
    """A mask (M, M) resized into a box of whole numbers, on a picture of zeros: (H, W)."""
    x1, y1, x2, y2 = (int(corner) for corner in box)
    w, h = max(x2 - x1 + 1, 1), max(y2 - y1 + 1, 1)
    enlarged = interpolate(mask[None, None], size=(h, w), mode="bilinear", align_corners=False)[0, 0]
    pasted = mask.new_zeros((im_h, im_w))
    left, top, right, bottom = max(x1, 0), max(y1, 0), min(x2 + 1, im_w), min(y2 + 1, im_h)
    if right > left and bottom > top:
        pasted[top:bottom, left:right] = enlarged[top - y1 : bottom - y1, left - x1 : right - x1]
    return pasted


def paste_masks_in_image(masks: Tensor, boxes: Tensor, img_shape: tuple[int, int], padding: int = 1) -> Tensor:
    """Square masks of probabilities resized into their boxes: (K, 1, M, M), (K, 4) -> (K, 1, H, W)."""
    height, width = img_shape
    padded, scale = expand_masks(masks, padding)
    corners = expand_boxes(boxes, scale).to(tenfold.int64)
    pasted = [paste_mask_in_image(mask[0], box, height, width) for mask, box in zip(padded, corners, strict=True)]
    return tenfold.stack(pasted)[:, None] if pasted else masks.new_zeros((0, 1, height, width))


def require_targets(targets: Any, count: int) -> None:
    """Raise torchvision's AssertionError unless every picture has its boxes, of positive width and height."""
    if targets is None or len(targets) < count:
        raise AssertionError("targets should not be none when in training mode, and one for each image")
    for number, target in enumerate(targets):
        boxes = target["boxes"]
        if not isinstance(boxes, Tensor):
            raise AssertionError(f"Expected target boxes to be of type Tensor, got {type(boxes)}.")
        if boxes.ndim != 2 or boxes.shape[-1] != 4:
            raise AssertionError(f"Expected target boxes to be a tensor of shape [N, 4], got {tuple(boxes.shape)}.")
        flat = (boxes[:, 2:] <= boxes[:, :2]).any(1)
        if bool(flat.any()):
            found = f"Found invalid box {boxes[flat][0].tolist()} for target at index {number}."
            raise AssertionError(f"All bounding boxes should have positive height and width. {found}")
