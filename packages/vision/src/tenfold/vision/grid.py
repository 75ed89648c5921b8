"""Many pictures in one: a grid of images, and saving it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import IO, Any

import tenfold
from tenfold import Tensor


def make_grid(
    tensor: Tensor | Sequence[Tensor],
    nrow: int = 8,
    padding: int = 2,
    normalize: bool = False,
    value_range: tuple[float, float] | None = None,
    scale_each: bool = False,
    pad_value: float = 0.0,
) -> Tensor:
    """Lay (N, C, H, W) images out in rows of ``nrow``, ``padding`` pixels of ``pad_value`` around each.

    ``normalize`` shifts and scales values to 0..1, from ``value_range`` or else the smallest and largest value of all, or
    of each image with ``scale_each``. One image comes back as it is, without a border; grey ones get three channels.

    Shape: (N, C, H, W), (C, H, W), (H, W) or a sequence of (C, H, W) -> (C, H', W').

    Raises:
        TypeError: not a tensor or a sequence of tensors, or ``value_range`` is not a tuple.
    """
    images = _as_batch(tensor)
    if value_range is not None and not isinstance(value_range, tuple):
        raise TypeError(f"make_grid: value_range has to be a tuple (min, max) if specified, got {type(value_range).__name__}")
    if normalize:
        images = images.clone()  # the caller's images keep their values
        images = (
            tenfold.stack([_to_unit(image, value_range) for image in images]) if scale_each else _to_unit(images, value_range)
        )
    if len(images) == 1:
        return images.squeeze(0)
    return _laid_out(images, min(nrow, len(images)), padding, pad_value)


def _as_batch(tensor: Any) -> Tensor:
    if isinstance(tensor, list | tuple) and tensor and all(isinstance(image, Tensor) for image in tensor):
        tensor = tenfold.stack(tensor, dim=0)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"make_grid: tensor or list of tensors expected, got {type(tensor).__name__}")
    images = tensor.unsqueeze(0) if tensor.ndim == 2 else tensor
    images = images.unsqueeze(0) if images.ndim == 3 else images
    return tenfold.cat([images] * 3, dim=1) if images.ndim == 4 and images.shape[1] == 1 else images


def _to_unit(values: Tensor, value_range: tuple[float, float] | None) -> Tensor:
    low, high = value_range if value_range is not None else (float(values.min()), float(values.max()))
    return (values.clamp(min=low, max=high) - low) / max(high - low, 1e-5)


def _laid_out(images: Tensor, columns: int, padding: int, pad_value: float) -> Tensor:
    count, channels, rows_of_one, columns_of_one = images.shape
    height, width = rows_of_one + padding, columns_of_one + padding
    rows = math.ceil(count / columns)
    grid = images.new_full((channels, height * rows + padding, width * columns + padding), pad_value)
    for index, image in enumerate(images):
        top, left = index // columns * height + padding, index % columns * width + padding
        grid[:, top : top + rows_of_one, left : left + columns_of_one] = image
    return grid


def save_image(
    tensor: Tensor | Sequence[Tensor],
    fp: str | os.PathLike[str] | IO[bytes],
    format: str | None = None,
    **kwargs: Any,
) -> None:
    """Write images with values of 0..1 to a file, as a grid if there are several; other arguments are `make_grid`'s.

    ``format`` follows from the file's name, and is needed for an open file.
    """
    from PIL import Image

    grid = make_grid(tensor, **kwargs).detach()
    pixels = grid.mul(255).add(0.5).clamp(0, 255).permute(1, 2, 0).to(tenfold.uint8).cpu().numpy()
    Image.fromarray(pixels.copy()).save(fp, format=format)
