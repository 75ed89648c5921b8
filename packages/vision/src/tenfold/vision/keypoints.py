"""Drawing points, and lines between them, on pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.vision.drawing import require_image
from tenfold.vision.transforms.conversion import convert_image_dtype, pil_to_tensor, to_pil_image


def draw_keypoints(
    image: Tensor,
    keypoints: Tensor,
    connectivity: Sequence[tuple[int, int]] | None = None,
    colors: str | tuple[int, int, int] | None = None,
    radius: int = 2,
    width: int = 3,
    visibility: Tensor | None = None,
) -> Tensor:
    """A copy of the picture with the points (x, y) of every object on it, and white lines between those that ``connectivity``
    pairs.

    Shape: ``image`` (3, H, W), uint8 or float in 0..1; ``keypoints`` (objects, K, 2); ``visibility`` (objects, K), bool.

    Raises:
        TypeError: ``image`` is not a tensor.
        ValueError: a shape or dtype does not fit.
    """
    require_image("draw_keypoints", image, channels=(3,))
    if keypoints.ndim != 3 or keypoints.shape[-1] != 2:
        raise ValueError(f"draw_keypoints: keypoints must be of shape (num_instances, K, 2), got {tuple(keypoints.shape)}")
    shown = tenfold.ones(keypoints.shape[:2], dtype=tenfold.bool) if visibility is None else visibility
    shown = shown.squeeze(-1) if shown.ndim == 3 else shown
    if shown.shape != keypoints.shape[:2]:
        raise ValueError(
            f"draw_keypoints: keypoints and visibility must have the same dimensionality for num_instances and K. "
            f"Got {tuple(shown.shape)} for {tuple(keypoints.shape)}"
        )
    pixels = convert_image_dtype(image.detach(), tenfold.uint8) if image.is_floating_point() else image.detach()
    picture = to_pil_image(pixels)
    for points, visible in zip(keypoints.to(tenfold.int64).tolist(), shown.bool().tolist(), strict=True):
        _draw(picture, points, visible, connectivity or (), colors, radius, width)
    return convert_image_dtype(pil_to_tensor(picture), image.dtype)


def _draw(picture: Any, points: Any, visible: list[bool], pairs: Any, color: Any, radius: int, width: int) -> None:
    from PIL import ImageDraw

    canvas = ImageDraw.Draw(picture)
    for (x, y), seen in zip(points, visible, strict=True):
        if seen:
            canvas.ellipse([x - radius, y - radius, x + radius, y + radius], fill=color, outline=None, width=0)
    for first, second in pairs:
        if visible[first] and visible[second]:
            canvas.line([tuple(points[first]), tuple(points[second])], width=width)  # in white, as torchvision draws them
