"""Resizing, cropping, padding and mirroring of PIL images and tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms.conversion import Picture, get_dimensions, require_picture
from tenfold.vision.transforms.interpolation import PILLOW_CODES, InterpolationMode, Mode, interpolation_mode

TENSOR_MODES = ("nearest", "nearest-exact", "bilinear", "bicubic")
PADDING_MODES = ("constant", "edge", "reflect", "symmetric")


def pair(operator: str, size: Any) -> tuple[int, int]:
    """Height and width, from one number for both or a sequence of one or two."""
    if isinstance(size, int):
        return size, size
    if isinstance(size, str):
        raise TypeError(f"{operator}: size should be an int or a sequence of 1 or 2 ints (height, width), got {size!r}")
    if len(size) not in (1, 2):
        raise ValueError(f"{operator}: size should be an int or a sequence of 1 or 2 ints (height, width), got {size!r}")
    return int(size[0]), int(size[-1])


def resize(
    img: Picture,
    size: int | Sequence[int] | None,
    interpolation: Mode = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
    *,
    in_bytes: bool = False,
) -> Picture:
    """Resize to (height, width), or, given one number, the shorter edge to it, keeping the aspect ratio.

    ``max_size`` bounds the longer edge. Bytes are rounded. ``antialias`` applies to bilinear and bicubic tensors; Pillow
    always antialiases these. ``in_bytes`` computes with bytes throughout, as Pillow does, and not through floats.

    Raises:
        TypeError: ``img`` or ``interpolation`` is of another type.
        ValueError: ``max_size`` together with two sizes, or not larger than the size; a mode only Pillow has, for a tensor.
    """
    require_picture("resize", img)
    mode = interpolation_mode("resize", interpolation)
    _, height, width = get_dimensions(img)
    new_height, new_width = output_size(height, width, size, max_size)
    if (new_height, new_width) == (height, width):
        return img
    if not isinstance(img, Tensor):
        return img.resize((new_width, new_height), PILLOW_CODES[mode])
    if img.numel() == 0:  # no pictures, or no masks
        return img.new_zeros((*img.shape[:-2], new_height, new_width))
    return _resize_tensor(img, (new_height, new_width), mode, bool(antialias), in_bytes)


def output_size(height: int, width: int, size: int | Sequence[int] | None, max_size: int | None) -> tuple[int, int]:
    """The height and width that `resize` gives a picture of these.

    Raises:
        ValueError: ``max_size`` together with two sizes, not larger than the size, or missing without a size.
    """
    if size is not None and not isinstance(size, int):
        if len(size) == 2:
            if max_size is not None:
                raise ValueError("resize: max_size should only be passed if size is an int or has one number")
            return int(size[0]), int(size[1])
        size = pair("resize", size)[0]
    short, long = sorted((height, width))
    if size is None:
        if max_size is None:
            raise ValueError("resize: size is None, so max_size must be given")
        new_short, new_long = int(max_size * short / long), max_size
    else:
        new_short, new_long = size, int(size * long / short)
    if size is not None and max_size is not None:
        if max_size <= size:
            raise ValueError(f"resize: max_size = {max_size} must be strictly greater than the size {size} for the smaller edge")
        if new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_long, new_short) if width <= height else (new_short, new_long)


def _resize_tensor(img: Tensor, size: tuple[int, int], mode: InterpolationMode, antialias: bool, in_bytes: bool) -> Tensor:
    from tenfold.nn.functional import interpolate  # images alone do without nn

    if mode.value not in TENSOR_MODES:
        raise ValueError(f"resize: interpolation {mode.value} is for PIL images only; tensors take {', '.join(TENSOR_MODES)}")
    smooth = mode.value in ("bilinear", "bicubic")
    whole = in_bytes and smooth and img.dtype == tenfold.uint8
    batch = img.reshape(math.prod(img.shape[:-3]), get_dimensions(img)[0], *img.shape[-2:]) if whole else as_float_batch(img)
    result = interpolate(
        batch, size=list(size), mode=mode.value, align_corners=False if smooth else None, antialias=antialias and smooth
    )
    if mode.value == "bicubic" and img.dtype == tenfold.uint8:
        result = result.clamp(0, 255)  # a cubic overshoots
    return from_float_batch(result, img)


def as_float_batch(img: Tensor) -> Tensor:
    """(..., C, H, W) or (H, W) of any dtype as a floating point (N, C, H, W), which interpolation takes."""
    channels = 1 if img.ndim == 2 else img.shape[-3]
    batch = img.reshape(math.prod(img.shape[:-3]), channels, *img.shape[-2:])  # -1 would not do where there is no picture
    return batch if img.dtype in (tenfold.float32, tenfold.float64) else batch.to(tenfold.float32)


def from_float_batch(batch: Tensor, like: Tensor) -> Tensor:
    """The way back: the leading shape and dtype of ``like``, integers rounded."""
    if batch.dtype != like.dtype:
        batch = (batch if like.is_floating_point() else batch.round()).to(like.dtype)
    return batch.reshape(*like.shape[:-2], *batch.shape[-2:])


def hflip(img: Picture) -> Picture:
    """Mirror left and right.

    >>> hflip(tenfold.tensor([[1, 2, 3]]))
    tensor([[3, 2, 1]])
    """
    require_picture("hflip", img)
    if not isinstance(img, Tensor):
        return _transpose(img, 0)
    if img.dtype == tenfold.uint8 and img.device.type == "cpu":
        return tenfold.from_numpy(_mirrored(img.numpy()))
    return img.flip(-1)


def _mirrored(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Rows backwards: eight bytes at once, or one channel after the other where a pixel's are side by side."""
    if values.strides[-1] == 1 and values.shape[-1] % 8 == 0 and values.size:
        return values.view(np.uint64)[..., ::-1].copy("K").byteswap(inplace=True).view(np.uint8)
    if values.ndim < 3 or values.strides[-3] != 1:
        return values[..., ::-1].copy("K")
    result = np.empty_like(values)
    for channel in range(values.shape[-3]):
        result[..., channel, :, :] = values[..., channel, :, ::-1]
    return result


def vflip(img: Picture) -> Picture:
    """Mirror top and bottom."""
    require_picture("vflip", img)
    return img.flip(-2) if isinstance(img, Tensor) else _transpose(img, 1)


def _transpose(img: Any, method: int) -> Any:
    from PIL import Image

    return img.transpose(Image.Transpose(method))


def crop(img: Picture, top: int, left: int, height: int, width: int) -> Picture:
    """The rectangle from (``top``, ``left``); what lies outside the picture is zero."""
    require_picture("crop", img)
    if not isinstance(img, Tensor):
        return img.crop((left, top, left + width, top + height))
    rows, columns = img.shape[-2:]
    outside = [max(-left, 0), max(-top, 0), max(left + width - columns, 0), max(top + height - rows, 0)]
    inner = img[..., max(top, 0) : max(top + height, 0), max(left, 0) : max(left + width, 0)]
    return pad(inner, outside) if any(outside) else inner


def center_crop(img: Picture, output_size: int | Sequence[int]) -> Picture:
    """The middle of the picture, which is first padded with zeros where it is smaller."""
    wanted_height, wanted_width = pair("center_crop", output_size)
    _, height, width = get_dimensions(img)
    if wanted_width > width or wanted_height > height:
        missing_w, missing_h = max(wanted_width - width, 0), max(wanted_height - height, 0)
        img = pad(img, [missing_w // 2, missing_h // 2, (missing_w + 1) // 2, (missing_h + 1) // 2])
        _, height, width = get_dimensions(img)
    top = round((height - wanted_height) / 2.0)
    left = round((width - wanted_width) / 2.0)
    return crop(img, top, left, wanted_height, wanted_width)


def five_crop(img: Picture, size: int | Sequence[int]) -> tuple[Picture, ...]:
    """The four corners (upper left, upper right, lower left, lower right) and the middle.

    Raises:
        ValueError: the picture is smaller than ``size``.
    """
    h, w = pair("five_crop", size)
    _, height, width = get_dimensions(img)
    if w > width or h > height:
        raise ValueError(f"five_crop: the crop size {(h, w)} is bigger than the picture, {(height, width)}")
    corners = [(0, 0), (0, width - w), (height - h, 0), (height - h, width - w)]
    return (*(crop(img, top, left, h, w) for top, left in corners), center_crop(img, [h, w]))


def ten_crop(img: Picture, size: int | Sequence[int], vertical_flip: bool = False) -> tuple[Picture, ...]:
    """`five_crop` of the picture and of its mirror image."""
    return five_crop(img, size) + five_crop(vflip(img) if vertical_flip else hflip(img), size)


def resized_crop(
    img: Picture,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Sequence[int],
    interpolation: Mode = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Picture:
    """`crop`, then `resize`."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def pad(img: Picture, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> Picture:
    """Add borders: one number for all, (left/right, top/bottom), or (left, top, right, bottom).

    ``padding_mode`` "constant" writes ``fill``, "edge" repeats the last row, "reflect" mirrors without and "symmetric"
    with it.

    Raises:
        TypeError: ``padding``, ``fill`` or ``img`` is of another type.
        ValueError: another number of borders, or another mode.
    """
    require_picture("pad", img)
    if padding_mode not in PADDING_MODES:
        raise ValueError(f"pad: padding_mode should be one of {', '.join(PADDING_MODES)}, got {padding_mode!r}")
    left, top, right, bottom = borders_of(padding)
    if not isinstance(img, Tensor):
        return _pad_pil(img, (left, top, right, bottom), fill, padding_mode)
    if padding_mode == "constant":
        return _pad_constant(img, (left, top, right, bottom), fill)
    columns = _border_index(img.shape[-1], left, right, padding_mode)
    rows = _border_index(img.shape[-2], top, bottom, padding_mode)
    return img[..., rows[:, None], columns[None, :]]


def borders_of(padding: int | Sequence[int]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom border, from one number for all, one for each axis, or all four."""
    if isinstance(padding, int):
        return padding, padding, padding, padding
    if not isinstance(padding, Sequence):
        raise TypeError(f"pad: padding should be an int or a sequence of ints, got {type(padding).__name__}")
    if len(padding) not in (1, 2, 4):
        raise ValueError(f"pad: Padding must be an int or a 1, 2, or 4 element sequence, not a {len(padding)} element one")
    left, top, right, bottom = [*padding] * (4 // len(padding))
    return left, top, right, bottom


def _pad_constant(img: Tensor, borders: tuple[int, int, int, int], fill: Any) -> Tensor:
    left, top, right, bottom = borders
    height, width = img.shape[-2:]
    result = img.new_full((*img.shape[:-2], top + height + bottom, left + width + right), _one_number(fill))
    y, x = max(-top, 0), max(-left, 0)  # a negative border crops
    inner = img[..., y : height - max(-bottom, 0), x : width - max(-right, 0)]
    result[..., top + y : top + y + inner.shape[-2], left + x : left + x + inner.shape[-1]] = inner
    return result


def _one_number(fill: Any) -> float:
    if isinstance(fill, list | tuple) and len(fill) == 1:
        return float(fill[0])
    if not isinstance(fill, int | float):
        raise TypeError(f"pad: fill should be a number for a tensor, got {fill!r}")
    return fill


def _border_index(size: int, before: int, after: int, mode: str) -> Tensor:
    """For every position of the padded axis the position it is read from."""
    numpy_mode = {"edge": "edge", "reflect": "reflect", "symmetric": "symmetric"}[mode]
    kept = np.arange(max(-before, 0), size - max(-after, 0))
    return tenfold.from_numpy(np.pad(kept, (max(before, 0), max(after, 0)), mode=numpy_mode))  # type: ignore[call-overload]


def _pad_pil(img: Any, borders: tuple[int, int, int, int], fill: Any, mode: str) -> Any:
    from PIL import Image, ImageOps

    left, top, right, bottom = borders
    if mode == "constant":
        return ImageOps.expand(img, border=borders, fill=_pil_fill(img, fill))
    values = np.asarray(img)
    if min(borders) < 0:
        values = values[max(-top, 0) : len(values) - max(-bottom, 0), max(-left, 0) : values.shape[1] - max(-right, 0)]
    widths = [(max(top, 0), max(bottom, 0)), (max(left, 0), max(right, 0))] + [(0, 0)] * (values.ndim - 2)
    padded = Image.fromarray(np.pad(values, widths, mode=mode))  # type: ignore[call-overload]
    if img.mode == "P":
        padded.putpalette(img.getpalette())
    return padded


def _pil_fill(img: Any, fill: Any) -> Any:
    bands = len(img.getbands())
    if isinstance(fill, list | tuple):
        if len(fill) not in (1, bands):
            raise ValueError(
                f"fill has {len(fill)} numbers, but the image has {bands} channels; give one for each, or a single one"
            )
        return tuple(fill) if len(fill) == bands and bands > 1 else _spread(fill[0], bands)
    return _spread(fill, bands)


def _spread(number: Any, bands: int) -> Any:
    return (number,) * bands if bands > 1 and isinstance(number, int | float) else number
