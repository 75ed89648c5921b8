"""Between PIL images, arrays and tensors; dtypes, normalization and erasing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tenfold
from tenfold import Tensor

Picture = Any  # a PIL.Image.Image or a Tensor of shape (..., C, H, W); Pillow is imported only where it is used

ARRAY_DTYPE_OF_MODE = {"I": np.int32, "I;16": np.uint16, "F": np.float32}
MODES_OF_CHANNELS = {1: ("L", "I;16", "I", "F"), 2: ("LA",), 3: ("RGB", "YCbCr", "HSV"), 4: ("RGBA", "CMYK", "RGBX")}
GREY_MODES = {"uint8": "L", "uint16": "I;16", "int16": "I;16", "int32": "I", "float32": "F"}


def is_pil_image(img: Any) -> bool:
    """Whether this is an image of Pillow."""
    if isinstance(img, Tensor | np.ndarray):
        return False
    from PIL import Image

    return isinstance(img, Image.Image)


def require_picture(operator: str, img: Any) -> None:
    """Raise TypeError unless this is a PIL image or a tensor with at least two dimensions."""
    if not (isinstance(img, Tensor) and img.ndim >= 2) and not is_pil_image(img):
        got = f"a tensor of shape {tuple(img.shape)}" if isinstance(img, Tensor) else type(img).__name__
        raise TypeError(f"{operator}: img should be a PIL image or a tensor of shape (..., H, W), got {got}")


def get_dimensions(img: Picture) -> list[int]:
    """Channels, height and width.

    >>> get_dimensions(tenfold.zeros(3, 4, 5))
    [3, 4, 5]
    """
    require_picture("get_dimensions", img)
    if isinstance(img, Tensor):
        return [1 if img.ndim == 2 else img.shape[-3], img.shape[-2], img.shape[-1]]
    width, height = img.size
    return [len(img.getbands()), height, width]


def get_image_size(img: Picture) -> list[int]:
    """Width and height, in this order.

    >>> get_image_size(tenfold.zeros(3, 4, 5))
    [5, 4]
    """
    _, height, width = get_dimensions(img)
    return [width, height]


def get_image_num_channels(img: Picture) -> int:
    """How many channels the picture has."""
    return get_dimensions(img)[0]


def pil_to_tensor(pic: Any) -> Tensor:
    """A PIL image as a (C, H, W) tensor of its own values, uint8 for most modes; a pixel's channels are side by side in memory.

    Raises:
        TypeError: ``pic`` is not a PIL image.
    """
    if not is_pil_image(pic):
        raise TypeError(f"pil_to_tensor: pic should be a PIL image, got {type(pic).__name__}")
    values = np.array(pic, copy=True)
    return tenfold.from_numpy((values[:, :, None] if values.ndim == 2 else values).transpose(2, 0, 1))


def to_tensor(pic: Any) -> Tensor:
    """A PIL image or an (H, W[, C]) array as a (C, H, W) tensor; bytes are scaled to 0..1 in the default dtype.

    >>> to_tensor(np.array([[0, 255]], np.uint8))
    tensor([[[0., 1.]]])

    Raises:
        TypeError: ``pic`` is neither.
        ValueError: the array does not have two or three dimensions.
    """
    if isinstance(pic, np.ndarray):
        if pic.ndim not in (2, 3):
            raise ValueError(f"to_tensor: pic should be 2/3 dimensional, got {pic.ndim} dimensions")
        values = pic
    elif is_pil_image(pic):
        values = np.array(pic, ARRAY_DTYPE_OF_MODE.get(pic.mode, np.uint8), copy=True)
        values = values.view(np.int16) if values.dtype == np.uint16 else values  # as torchvision, although values may wrap
        values = 255 * values if pic.mode == "1" else values
    else:
        raise TypeError(f"to_tensor: pic should be a PIL image or an ndarray, got {type(pic).__name__}")
    tensor = tenfold.from_numpy(_channels_first(values))
    return tensor.to(tenfold.get_default_dtype()).div(255) if values.dtype == np.uint8 else tensor


def _channels_first(values: NDArray[Any]) -> NDArray[Any]:
    cube = values[:, :, None] if values.ndim == 2 else values
    return np.ascontiguousarray(cube.transpose(2, 0, 1))


def to_pil_image(pic: Tensor | NDArray[Any], mode: str | None = None) -> Any:
    """A (C, H, W) tensor or an (H, W[, C]) array as a PIL image; floats of 0..1 are scaled to bytes.

    ``mode`` is Pillow's; without one it follows from the channels and the dtype.

    Raises:
        TypeError: ``pic`` is neither, or has a dtype that no mode holds.
        ValueError: the number of dimensions or channels fits no mode, or not the given one.
    """
    values = _as_channels_last(pic, mode)
    chosen = mode if mode is not None else _default_mode(values)
    allowed = MODES_OF_CHANNELS[values.shape[2]] if values.shape[2] > 1 else (_default_mode(values),)
    if chosen not in allowed:
        raise ValueError(
            f"to_pil_image: mode {mode} does not hold {values.shape[2]} channels of {values.dtype}; use {', '.join(allowed)}"
        )
    return _image(values, chosen)


def _as_channels_last(pic: Any, mode: str | None) -> NDArray[Any]:
    if not isinstance(pic, Tensor | np.ndarray):
        raise TypeError(f"to_pil_image: pic should be a Tensor or ndarray, got {type(pic).__name__}")
    if pic.ndim not in (2, 3):
        raise ValueError(f"to_pil_image: pic should be 2/3 dimensional, got {pic.ndim} dimensions")
    if isinstance(pic, Tensor):
        bytes_wanted = pic.is_floating_point() and mode != "F"
        cube = pic.unsqueeze(0) if pic.ndim == 2 else pic
        values = (cube.mul(255).byte() if bytes_wanted else cube).permute(1, 2, 0).cpu().numpy()
    else:
        values = pic[:, :, None] if pic.ndim == 2 else pic
        if values.dtype.kind == "f" and mode != "F":
            values = (values * 255).astype(np.uint8)
    if values.shape[2] not in MODES_OF_CHANNELS:
        raise ValueError(f"to_pil_image: pic should not have > 4 channels, got {values.shape[2]} channels")
    return np.asarray(values)


def _default_mode(values: NDArray[Any]) -> str:
    mode = GREY_MODES.get(values.dtype.name) if values.shape[2] == 1 else MODES_OF_CHANNELS[values.shape[2]][0]
    if mode is None or (values.shape[2] > 1 and values.dtype != np.uint8):
        raise TypeError(
            f"to_pil_image: input type {values.dtype} is not supported; convert it to uint8, or to float in 0..1 as a tensor"
        )
    return mode


def _image(values: NDArray[Any], mode: str) -> Any:
    """Pillow reads a flat buffer in the layout of the mode; nothing guesses the mode from the array."""
    from PIL import Image

    height, width, _ = values.shape
    packed = values.astype(np.uint16) if mode == "I;16" else values
    return Image.frombytes(mode, (width, height), np.ascontiguousarray(packed).tobytes())


def convert_image_dtype(image: Tensor, dtype: tenfold.dtype | None = None) -> Tensor:
    """The same picture in another dtype: the full range of the one (0..1 for floats) becomes that of the other.

    >>> convert_image_dtype(tenfold.tensor([0, 255], dtype=tenfold.uint8), tenfold.float32)
    tensor([0., 1.])

    Raises:
        TypeError: ``image`` is not a tensor.
        RuntimeError: a float cannot hold the range of the integer dtype exactly.
    """
    if not isinstance(image, Tensor):
        raise TypeError(f"convert_image_dtype: image should be a tensor, got {type(image).__name__}")
    wanted = tenfold.float32 if dtype is None else dtype
    if image.dtype == wanted:
        return image
    if image.is_floating_point():
        return image.to(wanted) if wanted.is_floating_point else _floats_to_integers(image, wanted)
    if wanted.is_floating_point:
        return image.to(wanted) / largest(image.dtype)
    return _rescale_integers(image, wanted)


def scaled_to_floats(image: Tensor, dtype: tenfold.dtype) -> Tensor:
    """Integers as floats of 0..1 by a product, as version 2 of the transforms does; version 1 divides: the last bit differs."""
    return image.to(dtype).mul_(1.0 / largest(image.dtype))


def white_of(dtype: tenfold.dtype) -> int:
    """The value of white: 1 for floats."""
    return 1 if dtype.is_floating_point else largest(dtype)


def value_bits(operator: str, dtype: tenfold.dtype) -> int:
    """How many bits of a dtype of integers hold values, and not their sign.

    Raises:
        TypeError: it is no dtype of integers.
    """
    if dtype.is_floating_point or dtype == tenfold.bool:
        raise TypeError(f"{operator}: Number of value bits is only defined for integer dtypes, but got {dtype}.")
    return largest(dtype).bit_length()


def largest(dtype: tenfold.dtype) -> int:
    """White: the largest value of a dtype of integers, or 1."""
    return 1 if dtype == tenfold.bool else int(tenfold.iinfo(dtype).max)


def _floats_to_integers(image: Tensor, dtype: tenfold.dtype) -> Tensor:
    inexact = (image.dtype == tenfold.float32 and dtype in (tenfold.int32, tenfold.int64)) or (
        image.dtype == tenfold.float64 and dtype == tenfold.int64
    )
    if inexact:
        raise RuntimeError(f"convert_image_dtype: the cast from {image.dtype} to {dtype} cannot be performed safely")
    below_next = 1.0 - 1e-3  # 1.0 lands in the last of equally wide bins, without a round-off into the next
    return image.mul(largest(dtype) + below_next).to(dtype)


def _rescale_integers(image: Tensor, dtype: tenfold.dtype) -> Tensor:
    before, after = largest(image.dtype), largest(dtype)
    if before > after:
        return tenfold.div(image, (before + 1) // (after + 1), rounding_mode="floor").to(dtype)
    return image.to(dtype) * ((after + 1) // (before + 1))


def normalize(tensor: Any, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> Tensor:
    """``(tensor - mean) / std`` for every channel of a floating point (..., C, H, W) tensor.

    Raises:
        TypeError: not a floating point tensor.
        ValueError: fewer than three dimensions, or a deviation of zero.
    """
    if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
        got = tensor.dtype if isinstance(tensor, Tensor) else type(tensor).__name__
        raise TypeError(f"normalize: Input tensor should be a float tensor, got {got}; convert_image_dtype makes one")
    if tensor.ndim < 3:
        raise ValueError(f"normalize: Expected tensor to be a tensor image of size (..., C, H, W), got {tuple(tensor.shape)}")
    mean_, std_ = (tenfold.as_tensor(values, dtype=tensor.dtype, device=tensor.device) for values in (mean, std))
    if (std_ == 0).any():
        raise ValueError(f"normalize: std evaluated to zero in {tensor.dtype}, leading to division by zero: {std}")
    mean_, std_ = (values.view(-1, 1, 1) if values.ndim == 1 else values for values in (mean_, std_))
    result = tensor.sub_(mean_) if inplace else tensor.sub(mean_)
    return result.div_(std_)


def erase(img: Tensor, i: int, j: int, h: int, w: int, v: Tensor, inplace: bool = False) -> Tensor:
    """Write ``v`` over the ``h`` by ``w`` rectangle whose upper left corner is (``i``, ``j``).

    Raises:
        TypeError: ``img`` is not a tensor.
    """
    if not isinstance(img, Tensor):
        raise TypeError(f"erase: img should be a tensor, got {type(img).__name__}")
    result = img if inplace else img.clone()
    result[..., i : i + h, j : j + w] = v
    return result
