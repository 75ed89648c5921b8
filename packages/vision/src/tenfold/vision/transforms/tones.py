"""Values changed pixel by pixel or by their histogram: inversion, fewer bits, solarization, contrast, equalization."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms.conversion import Picture, largest, require_picture

BYTE = 8


def bound_of(dtype: tenfold.dtype) -> float:
    """The value of white."""
    return 1.0 if dtype.is_floating_point else float(tenfold.iinfo(dtype).max)


def _ops() -> Any:
    from PIL import ImageOps  # Pillow comes in with the first PIL image

    return ImageOps


def _require_colours(operator: str, img: Tensor) -> None:
    if img.ndim < 3 or img.shape[-3] not in (1, 3):
        raise TypeError(f"{operator}: Input image tensor permitted channel values are 1 or 3, got shape {tuple(img.shape)}")


def invert(img: Picture) -> Picture:
    """White less the value.

    >>> invert(tenfold.tensor([[[0, 255]]], dtype=tenfold.uint8))
    tensor([[[255,   0]]], dtype=tenfold.uint8)
    """
    require_picture("invert", img)
    if not isinstance(img, Tensor):
        return _ops().invert(img)
    _require_colours("invert", img)
    return inverted(img)


def inverted(img: Tensor) -> Tensor:
    """White less the value, whatever the channels are."""
    return 1.0 - img if img.is_floating_point() else largest(img.dtype) - img


def posterize(img: Picture, bits: int) -> Picture:
    """Keep the highest ``bits`` bits of every byte.

    Raises:
        TypeError: a tensor is not uint8.
        ValueError: there are not so many bits.
    """
    require_picture("posterize", img)
    if not isinstance(img, Tensor):
        return _ops().posterize(img, bits)
    if not 0 <= bits <= BYTE:
        raise ValueError(f"posterize: The number of bits should be between 0 and {BYTE}, got {bits}")
    if img.dtype != tenfold.uint8:
        raise TypeError(f"posterize: Only torch.uint8 image tensors are supported, but found {img.dtype}")
    _require_colours("posterize", img)
    return img & (256 - int(2 ** (8 - bits))) if bits > 0 else img * 0


def solarize(img: Picture, threshold: float) -> Picture:
    """Invert the values from ``threshold`` on.

    Raises:
        TypeError: the threshold is above white.
    """
    require_picture("solarize", img)
    if not isinstance(img, Tensor):
        return _ops().solarize(img, threshold)
    _require_colours("solarize", img)
    return solarized(img, threshold)


def solarized(img: Tensor, threshold: float) -> Tensor:
    """Inverted from ``threshold`` on, whatever the channels are."""
    if threshold > bound_of(img.dtype):
        raise TypeError(f"solarize: Threshold should be less than bound of img, got {threshold} for {img.dtype}")
    return tenfold.where(img >= threshold, inverted(img), img)


def autocontrast(img: Picture) -> Picture:
    """Stretch each channel so that its smallest value is black and its largest white; a flat channel stays."""
    require_picture("autocontrast", img)
    if not isinstance(img, Tensor):
        return _ops().autocontrast(img)
    _require_colours("autocontrast", img)
    white = bound_of(img.dtype)
    values = img if img.is_floating_point() else img.to(tenfold.float32)
    low, high = values.amin(dim=(-2, -1), keepdim=True), values.amax(dim=(-2, -1), keepdim=True)
    flat = high == low
    scale = tenfold.where(flat, 1.0, white / (high - low))
    stretched = (values - tenfold.where(flat, 0.0, low)) * scale
    return stretched.clamp(0, white).to(img.dtype)


def equalize(img: Picture) -> Picture:
    """Spread each channel's values so that their histogram becomes as even as whole steps allow.

    Raises:
        TypeError: a tensor is not uint8.
    """
    require_picture("equalize", img)
    if not isinstance(img, Tensor):
        return _ops().equalize(img)
    if img.dtype != tenfold.uint8:
        raise TypeError(f"equalize: Only torch.uint8 image tensors are supported, but found {img.dtype}")
    _require_colours("equalize", img)
    return equalized(img)


def equalized(img: Tensor) -> Tensor:
    """Bytes with an even histogram for each channel, whatever the channels are."""
    if img.numel() == 0:
        return img
    channels = img.reshape(-1, *img.shape[-2:])
    return tenfold.stack([_equalized(channel) for channel in channels]).view(img.shape)


def _equalized(channel: Tensor) -> Tensor:
    counts = tenfold.bincount(channel.reshape(-1).long(), minlength=256)
    present = counts[counts != 0]
    step = int(present[:-1].sum()) // 255
    if step == 0:
        return channel
    below = counts.cumsum(0) - counts  # how many values are smaller
    table = ((below + step // 2) // step).clamp(0, 255).to(tenfold.uint8)
    return table[channel.long()]
