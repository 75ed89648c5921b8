"""Brightness, contrast, saturation, hue, gamma and grey of PIL images and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms.conversion import Picture, convert_image_dtype, get_dimensions, require_picture
from tenfold.vision.transforms.tones import bound_of

GREY_WEIGHTS = (0.2989, 0.587, 0.114)  # luma of ITU-R BT.601, rounded


def rgb_to_grayscale(img: Picture, num_output_channels: int = 1) -> Picture:
    """Luma ``0.2989 R + 0.587 G + 0.114 B``, in one channel or repeated in three.

    Raises:
        ValueError: ``num_output_channels`` is neither 1 nor 3.
        TypeError: a tensor has neither 1 nor 3 channels.
    """
    require_picture("rgb_to_grayscale", img)
    if num_output_channels not in (1, 3):
        raise ValueError(f"rgb_to_grayscale: num_output_channels should be either 1 or 3, got {num_output_channels}")
    if not isinstance(img, Tensor):
        return to_grayscale(img, num_output_channels)
    _require_rgb("rgb_to_grayscale", img)
    grey = img if img.shape[-3] == 1 else _luma(img)
    return (
        grey.expand(*grey.shape[:-3], num_output_channels, *grey.shape[-2:]).clone() if num_output_channels == 3 else grey.clone()
    )


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """A PIL image in grey: mode "L", or "RGB" with three equal channels."""
    if num_output_channels not in (1, 3):
        raise ValueError(f"to_grayscale: num_output_channels should be either 1 or 3, got {num_output_channels}")
    grey = img.convert("L")
    if num_output_channels == 1:
        return grey
    from PIL import Image

    return Image.merge("RGB", [grey] * 3)


def _require_rgb(operator: str, img: Tensor) -> None:
    channels = get_dimensions(img)[0]
    if img.ndim < 3 or channels not in (1, 3):
        raise TypeError(f"{operator}: Input image tensor permitted channel values are 1 or 3, got shape {tuple(img.shape)}")


def _luma(img: Tensor) -> Tensor:
    red, green, blue = img.unbind(dim=-3)
    return (GREY_WEIGHTS[0] * red + GREY_WEIGHTS[1] * green + GREY_WEIGHTS[2] * blue).to(img.dtype).unsqueeze(-3)


def blend(img: Tensor, other: Tensor, ratio: float) -> Tensor:
    """``ratio`` of one picture and the rest of another, within black and white."""
    ratio = float(ratio)  # a whole number would keep bytes bytes
    return (ratio * img + (1.0 - ratio) * other).clamp(0, bound_of(img.dtype)).to(img.dtype)


def _require_factor(operator: str, name: str, value: float) -> None:
    if value < 0:
        raise ValueError(f"{operator}: {name} should be non-negative, got {value}")


def _enhance(kind: str, img: Any, factor: float) -> Any:
    from PIL import ImageEnhance

    return getattr(ImageEnhance, kind)(img).enhance(factor)


def adjust_brightness(img: Picture, brightness_factor: float) -> Picture:
    """Blend with black: 0 is black, 1 the picture itself, 2 twice as bright.

    >>> adjust_brightness(tenfold.full((1, 1, 2), 0.25), 2.0)
    tensor([[[0.5000, 0.5000]]])
    """
    require_picture("adjust_brightness", img)
    if not isinstance(img, Tensor):
        return _enhance("Brightness", img, brightness_factor)
    _require_factor("adjust_brightness", "brightness_factor", brightness_factor)
    _require_rgb("adjust_brightness", img)
    return blend(img, tenfold.zeros_like(img), brightness_factor)


def adjust_contrast(img: Picture, contrast_factor: float) -> Picture:
    """Blend with the mean grey: 0 is all grey, 1 the picture itself."""
    require_picture("adjust_contrast", img)
    if not isinstance(img, Tensor):
        return _enhance("Contrast", img, contrast_factor)
    _require_factor("adjust_contrast", "contrast_factor", contrast_factor)
    _require_rgb("adjust_contrast", img)
    grey = img if img.shape[-3] == 1 else _luma(img)
    values = grey if grey.is_floating_point() else grey.to(tenfold.float32)
    return blend(img, values.mean(dim=(-3, -2, -1), keepdim=True), contrast_factor)


def adjust_saturation(img: Picture, saturation_factor: float) -> Picture:
    """Blend with the grey picture: 0 is grey, 1 the picture itself."""
    require_picture("adjust_saturation", img)
    if not isinstance(img, Tensor):
        return _enhance("Color", img, saturation_factor)
    _require_factor("adjust_saturation", "saturation_factor", saturation_factor)
    _require_rgb("adjust_saturation", img)
    return img if img.shape[-3] == 1 else blend(img, _luma(img), saturation_factor)


def adjust_gamma(img: Picture, gamma: float, gain: float = 1) -> Picture:
    """``gain * value ** gamma`` on values of 0..1; above 1 darkens the shadows, below 1 lightens them."""
    require_picture("adjust_gamma", img)
    _require_factor("adjust_gamma", "gamma", gamma)
    if isinstance(img, Tensor):
        values = img if img.is_floating_point() else convert_image_dtype(img, tenfold.float32)
        return convert_image_dtype((gain * values**gamma).clamp(0, 1), img.dtype)
    mode = img.mode
    picture = img.convert("RGB")
    table = [int((255 + 1 - 1e-3) * gain * (value / 255.0) ** gamma) for value in range(256)]
    return picture.point(table * 3).convert(mode)


def adjust_hue(img: Picture, hue_factor: float) -> Picture:
    """Turn the hue by ``hue_factor`` of a full circle, in -0.5..0.5.

    Raises:
        ValueError: the factor is outside.
        TypeError: a tensor has neither 1 nor 3 channels.
    """
    require_picture("adjust_hue", img)
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"adjust_hue: hue_factor ({hue_factor}) is not in [-0.5, 0.5]")
    if not isinstance(img, Tensor):
        return _turn_hue_pil(img, hue_factor)
    _require_rgb("adjust_hue", img)
    if img.shape[-3] == 1:
        return img
    values = img if img.is_floating_point() else convert_image_dtype(img, tenfold.float32)
    hue, saturation, value = _rgb_to_hsv(values).unbind(dim=-3)
    turned = _hsv_to_rgb((hue + hue_factor) % 1.0, saturation, value)
    return convert_image_dtype(turned, img.dtype)


def _turn_hue_pil(img: Any, factor: float) -> Any:
    from PIL import Image

    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    turned = np.array(hue, dtype=np.uint8) + np.uint8(int(factor * 255) % 256)  # wraps around the circle
    return Image.merge("HSV", (Image.fromarray(turned), saturation, value)).convert(img.mode)


def _rgb_to_hsv(img: Tensor) -> Tensor:
    """Hue, saturation and value in 0..1 (A. R. Smith, Color gamut transform pairs, 1978)."""
    red, green, blue = img.unbind(dim=-3)
    largest, smallest = img.amax(dim=-3), img.amin(dim=-3)
    spread = largest - smallest
    grey = spread == 0
    ones = tenfold.ones_like(largest)
    saturation = spread / tenfold.where(grey, ones, largest)
    divisor = tenfold.where(grey, ones, spread)
    from_red, from_green, from_blue = ((largest - part) / divisor for part in (red, green, blue))
    sector = tenfold.where(
        largest == red,
        from_blue - from_green,
        tenfold.where(largest == green, 2.0 + from_red - from_blue, 4.0 + from_green - from_red),
    )
    return tenfold.stack([(sector / 6.0 + 1.0) % 1.0, saturation, largest], dim=-3)


def _hsv_to_rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    """Each channel falls from ``value`` to ``value (1 - saturation)`` and back while the hue goes round."""
    channels = []
    for shift in (5.0, 3.0, 1.0):  # red, green, blue
        place = (hue * 6.0 + shift) % 6.0
        fall = tenfold.minimum(place, 4.0 - place).clamp(0.0, 1.0)
        channels.append((value * (1.0 - saturation * fall)).clamp(0.0, 1.0))
    return tenfold.stack(channels, dim=-3)
