"""Drawing boxes with labels, and masks, on pictures."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms.conversion import convert_image_dtype, pil_to_tensor, scaled_to_floats, to_pil_image

Color = str | tuple[int, int, int]
PALETTE_STEPS = (2**25 - 1, 2**15 - 1, 2**21 - 1)
FILL_ALPHA = 100
DASH = 5


def draw_bounding_boxes(
    image: Tensor,
    boxes: Tensor,
    labels: list[str | None] | None = None,
    colors: list[Color] | Color | None = None,
    fill: bool | None = False,
    width: int = 1,
    font: str | None = None,
    font_size: int | None = None,
    label_colors: list[Color] | Color | None = None,
    label_background_colors: list[Color] | Color | None = None,
    fill_labels: bool = False,
) -> Tensor:
    """A copy of the picture with the boxes (x1, y1, x2, y2) on it, each in its colour and with its label.

    Turned boxes are given by their four corners; the line between the first two is dashed. ``fill_labels`` draws the label, black
    unless ``label_colors`` says otherwise, on a ground of its box's colour or of ``label_background_colors``.

    Shape: ``image`` (3, H, W) or (1, H, W), uint8 or float in 0..1; ``boxes`` (N, 4) or (N, 8) -> (3, H, W).

    Raises:
        TypeError: ``image`` is not a tensor.
        ValueError: a shape, dtype or number of labels or colours does not fit, or a box has its corners swapped.
    """
    require_image("draw_bounding_boxes", image)
    count = boxes.shape[0]
    if count == 0:
        warnings.warn("boxes doesn't contain any box. No box was drawn", stacklevel=2)
        return image
    if boxes.shape[-1] == 4 and ((boxes[:, 0] > boxes[:, 2]) | (boxes[:, 1] > boxes[:, 3])).any():
        raise ValueError("draw_bounding_boxes: Boxes need to be in (xmin, ymin, xmax, ymax) format; box_convert makes them so")
    names = [None] * count if labels is None else labels
    if len(names) != count:
        raise ValueError(
            f"draw_bounding_boxes: The number of boxes ({count}) and labels ({len(names)}) mismatch; give one label for each box"
        )
    outlines = _colors(colors, count)
    texts = _colors(label_colors or "black", count) if label_colors or fill_labels else outlines
    grounds = _colors(label_background_colors or outlines, count) if fill_labels else [None] * count
    grey_as_rgb = image.expand(3, *image.shape[1:]) if image.shape[0] == 1 else image
    pixels = convert_image_dtype(grey_as_rgb.detach(), tenfold.uint8) if image.is_floating_point() else grey_as_rgb.detach()
    picture = to_pil_image(pixels)
    labels_drawn = list(zip(names, texts, grounds, strict=True))
    _draw(picture, boxes.to(tenfold.int64).tolist(), labels_drawn, outlines, bool(fill), width, _font(font, font_size))
    drawn = pil_to_tensor(picture)
    return scaled_to_floats(drawn, image.dtype) if image.is_floating_point() else drawn


def _draw(
    picture: Any,
    boxes: list[list[int]],
    labels: Sequence[tuple[str | None, Any, Any]],
    outlines: list[Any],
    fill: bool,
    width: int,
    font: Any,
) -> None:
    from PIL import ImageDraw

    canvas = ImageDraw.Draw(picture, "RGBA" if fill else None)
    for box, (name, text, ground), outline in zip(boxes, labels, outlines, strict=True):
        inside = (*outline, FILL_ALPHA) if fill else None
        if len(box) == 4:
            canvas.rectangle(box, width=width, outline=outline, fill=inside)
        else:
            _draw_turned(canvas, [(x, y) for x, y in zip(box[::2], box[1::2], strict=True)], outline, inside, width)
        if name is None:
            continue
        corner = (box[0] + width + 1, box[1] + width + 1)
        if ground is not None:
            left, top, right, bottom = canvas.textbbox(corner, name, font=font)
            canvas.rectangle((left - 1, top - 1, right + 1, bottom + 1), fill=ground)
        canvas.text(corner, name, fill=text, font=font)


def _draw_turned(canvas: Any, corners: list[tuple[int, int]], outline: Any, inside: Any, width: int) -> None:
    """Lines between four corners, of which the first is dashed and says which side is the upper one."""
    (x, y), second = corners[:2]
    left = math.dist(corners[0], second)
    angle = math.atan2(second[1] - y, second[0] - x)
    at, drawn = (float(x), float(y)), True
    while left > 0:
        length = min(left, DASH)
        end = (at[0] + math.cos(angle) * length, at[1] + math.sin(angle) * length)
        if drawn:
            canvas.line([at, end], fill=outline, width=width)
        at, drawn, left = end, not drawn, left - length
    for start, stop in zip(corners[1:], [*corners[2:], corners[0]], strict=True):
        canvas.line([start, stop], fill=outline, width=width)
    canvas.polygon(corners, fill=inside, outline=None, width=0)


def _font(name: str | None, size: int | None) -> Any:
    from PIL import ImageFont

    if name is None:
        if size is not None:
            warnings.warn("Argument 'font_size' will be ignored since 'font' is not set.", stacklevel=3)
        return ImageFont.load_default()
    return ImageFont.truetype(font=name, size=size or 10)


def draw_segmentation_masks(
    image: Tensor, masks: Tensor, alpha: float = 0.8, colors: list[Color] | Color | None = None
) -> Tensor:
    """A copy of the picture with every mask's pixels tinted; ``alpha`` 1 is opaque. Where masks overlap
    the tint is black.

    Shape: ``image`` (3, H, W), uint8 or float in 0..1; ``masks`` (N, H, W) or (H, W), bool -> (3, H, W).

    Raises:
        TypeError: ``image`` is not a tensor, or of another dtype.
        ValueError: a shape, dtype or number of colours does not fit.
    """
    require_image("draw_segmentation_masks", image, channels=(3,))
    layers = masks[None] if masks.ndim == 2 else masks
    if layers.ndim != 3 or layers.dtype != tenfold.bool or layers.shape[-2:] != image.shape[-2:]:
        raise ValueError(
            f"draw_segmentation_masks: masks must be bool, (N, H, W) like the image, got {layers.dtype}, {tuple(masks.shape)}"
        )
    if len(layers) == 0:
        warnings.warn("masks doesn't contain any mask. No mask was drawn", stacklevel=2)
        return image
    tinted = image.detach()
    for layer, color in zip(layers, _colors(colors, len(layers)), strict=True):
        tint = tenfold.tensor(color, dtype=tenfold.uint8, device=image.device).view(3, 1, 1)
        tinted = tenfold.where(layer, convert_image_dtype(tint, image.dtype), tinted)
    tinted = tinted * (layers.sum(dim=0) <= 1)
    return (image * (1 - alpha) + tinted * alpha).to(image.dtype)


def require_image(operator: str, image: Any, channels: tuple[int, ...] = (1, 3)) -> None:
    """Raise unless this is a picture of so many channels, of bytes or floating point numbers."""
    if not isinstance(image, Tensor):
        raise TypeError(f"{operator}: The image must be a tensor, got {type(image).__name__}; pil_to_tensor makes one")
    if image.dtype != tenfold.uint8 and not image.is_floating_point():
        raise ValueError(f"{operator}: The image dtype must be uint8 or float, got {image.dtype}")
    if image.ndim != 3 or image.shape[0] not in channels:
        raise ValueError(
            f"{operator}: Only images of {' or '.join(map(str, channels))} channels can be passed, got {tuple(image.shape)}"
        )


def _colors(colors: Any, count: int) -> list[tuple[int, int, int]]:
    """One RGB triple for each of ``count`` things."""
    if colors is None:
        return [tuple(index * step % 255 for step in PALETTE_STEPS) for index in range(count)]  # type: ignore[misc]
    if isinstance(colors, str | tuple):
        colors = [colors] * count
    if len(colors) < count:
        raise ValueError(f"Number of colors must be equal or larger than the number of objects, but got {len(colors)} < {count}.")
    from PIL import ImageColor

    return [ImageColor.getrgb(color)[:3] if isinstance(color, str) else tuple(color) for color in colors[:count]]
