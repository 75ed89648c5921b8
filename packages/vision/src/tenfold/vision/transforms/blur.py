"""Blurring and sharpening."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn.functional import conv2d, pad
from tenfold.vision.transforms.color import blend
from tenfold.vision.transforms.conversion import Picture, pil_to_tensor, require_picture, to_pil_image
from tenfold.vision.transforms.geometry import as_float_batch, from_float_batch


def gaussian_blur(img: Picture, kernel_size: int | Sequence[int], sigma: float | Sequence[float] | None = None) -> Picture:
    """Each pixel the mean of those around it, weighed by exp(-d^2 / (2 sigma^2)); the picture is mirrored at its edges.

    ``kernel_size`` and ``sigma`` are (x, y) or one number; ``sigma`` is by default 0.15 ``kernel_size`` + 0.35.

    Raises:
        ValueError: a kernel is not odd and positive, or a sigma not positive.
    """
    require_picture("gaussian_blur", img)
    sizes = _both("kernel_size", kernel_size)
    if any(size % 2 == 0 or size < 0 for size in sizes):
        raise ValueError(f"gaussian_blur: kernel_size should have odd and positive integers. Got {kernel_size}")
    widths = [0.15 * size + 0.35 for size in sizes] if sigma is None else _both("sigma", sigma)
    if any(width <= 0.0 for width in widths):
        raise ValueError(f"gaussian_blur: sigma should have positive values. Got {sigma}")
    pixels = img if isinstance(img, Tensor) else pil_to_tensor(img)
    batch = as_float_batch(pixels)
    across, down = (_bell(int(size), width, batch) for size, width in zip(sizes, widths, strict=True))
    kernel = down[:, None] @ across[None, :]  # one step in two dimensions rounds as torchvision does
    left, top = int(sizes[0]) // 2, int(sizes[1]) // 2
    padded = pad(batch, [left, left, top, top], mode="reflect")
    blurred = from_float_batch(_convolved(padded, kernel), pixels)
    return blurred if isinstance(img, Tensor) else to_pil_image(blurred, img.mode)


def _both(name: str, value: Any) -> list[Any]:
    numbers = [value] if isinstance(value, int | float) else list(value)
    if len(numbers) not in (1, 2):
        raise ValueError(f"gaussian_blur: {name} should be a number or a sequence of length 1 or 2, got {value!r}")
    return numbers * 2 if len(numbers) == 1 else numbers


def _bell(size: int, sigma: float, like: Tensor) -> Tensor:
    half = (size - 1) * 0.5
    x = tenfold.linspace(-half, half, size, dtype=like.dtype, device=like.device)
    heights = tenfold.exp(-0.5 * (x / sigma).pow(2))
    return heights / heights.sum()


def _convolved(batch: Tensor, kernel: Tensor) -> Tensor:
    """Every channel with the same kernel."""
    channels = batch.shape[1]
    return conv2d(batch, kernel.expand(channels, 1, *kernel.shape), groups=channels)


def adjust_sharpness(img: Picture, sharpness_factor: float) -> Picture:
    """Blend with the smoothed picture: 0 is that, 1 the picture itself, 2 twice as sharp. The outermost pixels stay.

    Raises:
        ValueError: the factor is negative.
    """
    require_picture("adjust_sharpness", img)
    if sharpness_factor < 0:
        raise ValueError(f"adjust_sharpness: sharpness_factor ({sharpness_factor}) is not non-negative.")
    if not isinstance(img, Tensor):
        from PIL import ImageEnhance

        return ImageEnhance.Sharpness(img).enhance(sharpness_factor)
    if img.ndim < 3 or img.shape[-3] not in (1, 3):
        raise TypeError(f"adjust_sharpness: Input image tensor permitted channel values are 1 or 3, got shape {tuple(img.shape)}")
    if min(img.shape[-2:]) <= 2:
        return img
    smooth = img.clone()
    smooth[..., 1:-1, 1:-1] = smoothed(img).to(img.dtype)
    return blend(img, smooth, sharpness_factor)


def smoothed(img: Tensor) -> Tensor:
    """The inner pixels averaged with their eight neighbours, their own weight five times a neighbour's, as floats."""
    batch = as_float_batch(img)
    kernel = tenfold.ones(3, 3, dtype=batch.dtype, device=batch.device)
    kernel[1, 1] = 5.0
    inner = _convolved(batch, kernel / kernel.sum())
    inner = inner if img.is_floating_point() else inner.round()
    return inner.reshape(*img.shape[:-2], *inner.shape[-2:])
