"""torchvision's private functions of tensors, which libraries import: those of `functional`, and sampling by a grid."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn.functional import grid_sample
from tenfold.vision.transforms.functional import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    adjust_sharpness,
    autocontrast,
    convert_image_dtype,
    crop,
    equalize,
    get_dimensions,
    hflip,
    invert,
    normalize,
    pad,
    posterize,
    rgb_to_grayscale,
    solarize,
    vflip,
)

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "autocontrast",
    "convert_image_dtype",
    "crop",
    "equalize",
    "get_dimensions",
    "hflip",
    "invert",
    "normalize",
    "pad",
    "posterize",
    "rgb_to_grayscale",
    "solarize",
    "vflip",
]


def _gen_affine_grid(theta: Tensor, w: int, h: int, ow: int, oh: int) -> Tensor:
    """Where the pixels of an image of (oh, ow) lie in one of (h, w), in units of half its sides, by a matrix of pixels.

    Shape: theta (1, 2, 3) -> (1, oh, ow, 2).

    >>> _gen_affine_grid(tenfold.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), 2, 2, 2, 1).tolist()
    [[[[-0.5, 0.0], [0.5, 0.0]]]]
    """
    x, y = ((tenfold.arange(n, dtype=theta.dtype, device=theta.device) + (1 - n) / 2) for n in (ow, oh))
    places = tenfold.stack([x.expand(oh, ow), y[:, None].expand(oh, ow), tenfold.ones_like(x).expand(oh, ow)], -1)
    halves = tenfold.tensor([0.5 * w, 0.5 * h], dtype=theta.dtype, device=theta.device)
    return (places.view(1, oh * ow, 3) @ (theta.mT / halves)).view(1, oh, ow, 2)


def _apply_grid_transform(img: Tensor, grid: Tensor, mode: str, fill: Any) -> Tensor:
    """An image, or a batch, read at the places of one grid; `fill` is what lies outside. Dtype: the image's."""
    batch = img if img.dim() > 3 else img[None]
    floats = batch.to(grid.dtype)
    grid = grid.expand(len(batch), *grid.shape[1:])
    found = grid_sample(floats, grid, mode=mode, padding_mode="zeros", align_corners=False)
    if fill is not None:
        inside = grid_sample(tenfold.ones_like(floats[:, :1]), grid, mode=mode, padding_mode="zeros", align_corners=False)
        around = tenfold.tensor(fill if isinstance(fill, (tuple, list)) else [fill], dtype=found.dtype).view(1, -1, 1, 1)
        found = tenfold.where(inside < 0.5, around, found) if mode == "nearest" else found * inside + (1 - inside) * around
    found = found if img.is_floating_point() else found.round()
    return (found if img.dim() > 3 else found[0]).to(img.dtype)
