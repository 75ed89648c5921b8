"""What happens to the values of pixels: colours, tones, blur, noise, erasing, compression."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms import blur, color, conversion, tones
from tenfold.vision.transforms.v2.functional.dispatching import dispatches


@dispatches(color.adjust_brightness)
def adjust_brightness(inpt: Any, brightness_factor: float) -> Any:
    """Blend with black: 0 is black, 1 the picture itself."""


@dispatches(color.adjust_contrast)
def adjust_contrast(inpt: Any, contrast_factor: float) -> Any:
    """Blend with the mean grey."""


def _saturated(image: Any, saturation_factor: float) -> Any:
    if not isinstance(image, Tensor) or image.is_floating_point() or image.shape[-3] != 3 or saturation_factor < 0:
        return color.adjust_saturation(image, saturation_factor)
    own, grey = image.to(tenfold.float32), color.rgb_to_grayscale(image).to(tenfold.float32)
    return _within(_leaning(own * float(saturation_factor), grey, 1.0 - saturation_factor), image.dtype)


def _leaning(base: Tensor, other: Tensor, share: float) -> Tensor:
    """``base + share other``, rounded once, as processors do it in one step; version 1 rounds the product, too."""
    if base.dtype != tenfold.float32:
        return base + other * share
    share = tenfold.tensor(share).item()  # of float32
    return (base.to(tenfold.float64) + other.to(tenfold.float64) * share).to(tenfold.float32)


def _within(values: Tensor, dtype: tenfold.dtype) -> Tensor:
    return values.clamp(0, conversion.white_of(dtype)).to(dtype)


@dispatches(_saturated)
def adjust_saturation(inpt: Any, saturation_factor: float) -> Any:
    """Blend with the grey picture."""


@dispatches(color.adjust_hue)
def adjust_hue(inpt: Any, hue_factor: float) -> Any:
    """Turn the hue by this part of a full circle, in -0.5..0.5."""


@dispatches(color.adjust_gamma)
def adjust_gamma(inpt: Any, gamma: float, gain: float = 1) -> Any:
    """``gain * value ** gamma`` on values of 0..1."""


def _sharpened(image: Any, sharpness_factor: float) -> Any:
    if not isinstance(image, Tensor) or image.shape[-3] not in (1, 3) or sharpness_factor < 0 or min(image.shape[-2:]) <= 2:
        return blur.adjust_sharpness(image, sharpness_factor)
    result = image.clone() if image.is_floating_point() else image.to(tenfold.float32)
    inner = result[..., 1:-1, 1:-1]
    # A step from the picture towards its smooth likeness, where version 1 weighs both: the last bit.
    result[..., 1:-1, 1:-1] = _leaning(inner, blur.smoothed(image) - inner, 1.0 - sharpness_factor)
    return _within(result, image.dtype)


@dispatches(_sharpened)
def adjust_sharpness(inpt: Any, sharpness_factor: float) -> Any:
    """Blend with the smoothed picture."""


@dispatches(tones.inverted, pil=tones.invert)
def invert(inpt: Any) -> Any:
    """White less the value."""


def _posterized(image: Any, bits: Any) -> Any:
    if not isinstance(image, Tensor):
        return tones.posterize(image, bits)
    if not isinstance(bits, int) or not 0 <= bits <= tones.BYTE:
        raise TypeError(f"posterize: bits must be a positive integer in the range [0, {tones.BYTE}], got {bits} instead.")
    if image.is_floating_point():
        levels = 2**bits
        return (image * levels).floor().clamp(0, levels - 1) * (1.0 / levels)
    known = conversion.value_bits("posterize", image.dtype)
    return image if bits >= known else image & ((2**bits - 1) << (known - bits))


@dispatches(_posterized)
def posterize(inpt: Any, bits: int) -> Any:
    """The highest bits of each whole number; floats of 0..1 are brought to as many levels."""


@dispatches(tones.solarized, pil=tones.solarize)
def solarize(inpt: Any, threshold: float) -> Any:
    """Invert the values from ``threshold`` on."""


def _stretched(image: Any) -> Any:
    if not isinstance(image, Tensor) or image.numel() == 0:
        return image if isinstance(image, Tensor) else tones.autocontrast(image)
    if image.shape[-3] not in (1, 3):
        raise TypeError(f"autocontrast: Input image tensor permitted channel values are 1 or 3, but found {image.shape[-3]}")
    white = conversion.white_of(image.dtype)
    values = image if image.is_floating_point() else image.to(tenfold.float32)
    low, high = values.amin(dim=(-2, -1), keepdim=True), values.amax(dim=(-2, -1), keepdim=True)
    flat = high == low
    reciprocal = tenfold.where(flat, 1.0, (high - low) * (1.0 / white))  # a quotient where version 1 multiplies: the last bit
    return ((values - tenfold.where(flat, 0.0, low)) / reciprocal).clamp(0, white).to(image.dtype)


@dispatches(_stretched)
def autocontrast(inpt: Any) -> Any:
    """Stretch each channel from black to white."""


def _equalized(image: Any) -> Any:
    if not isinstance(image, Tensor):
        return tones.equalize(image)
    if image.dtype == tenfold.uint8:
        return tones.equalized(image)
    equal = tones.equalized(conversion.convert_image_dtype(image, tenfold.uint8))
    return conversion.convert_image_dtype(equal, image.dtype)


@dispatches(_equalized)
def equalize(inpt: Any) -> Any:
    """Make each channel's histogram as even as whole steps allow."""


@dispatches(blur.gaussian_blur)
def gaussian_blur(inpt: Any, kernel_size: int | Sequence[int], sigma: float | Sequence[float] | None = None) -> Any:
    """Each pixel the mean of those around it, weighed by a bell of width ``sigma``."""


@dispatches(color.rgb_to_grayscale, video=False)
def rgb_to_grayscale(inpt: Any, num_output_channels: int = 1) -> Any:
    """Luma, in one channel or three."""


def to_grayscale(inpt: Any, num_output_channels: int = 1) -> Any:
    """`rgb_to_grayscale` under its other name."""
    return rgb_to_grayscale(inpt, num_output_channels)


def _three_channels(image: Any) -> Any:
    if not isinstance(image, Tensor):
        return image.convert("RGB")
    channels = image.shape[-3]
    if channels in (1, 2):  # the second is an opacity
        return image[..., :1, :, :].expand(*image.shape[:-3], 3, *image.shape[-2:]).clone()
    return image


@dispatches(_three_channels, video=False)
def grayscale_to_rgb(inpt: Any) -> Any:
    """A grey picture in three equal channels; one in colours stays."""


def _noisy(image: Any, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> Tensor:
    if not isinstance(image, Tensor):
        raise ValueError("gaussian_noise: Gaussian Noise is not implemented for PIL images; to_image makes a tensor")
    if sigma < 0:
        raise ValueError(f"sigma shouldn't be negative. Got {sigma}")
    if image.is_floating_point():
        noisy = image + tenfold.randn_like(image) * sigma + mean
        return noisy.clamp(0, 1) if clip else noisy
    if image.dtype != tenfold.uint8:
        raise ValueError(f"Input tensor is expected to be in uint8 or float dtype, got dtype={image.dtype}")
    noise = tenfold.randn_like(image, dtype=tenfold.float32) * sigma + mean
    noisy = image.to(tenfold.int16) + (noise * 255).to(tenfold.int16)
    return (noisy.clamp(0, 255) if clip else noisy).to(tenfold.uint8)


@dispatches(_noisy)
def gaussian_noise(inpt: Any, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> Any:
    """Normal noise added, in floats of 0..1 or bytes; ``clip`` keeps the result within."""


def _permuted(image: Any, permutation: Sequence[int]) -> Any:
    if not isinstance(image, Tensor):
        return conversion.to_pil_image(_permuted(conversion.pil_to_tensor(image), permutation))
    channels = image.shape[-3]
    if sorted(int(place) for place in permutation) != list(range(channels)):
        raise ValueError(
            f"Length of permutation should be the number of channels, each once: got {permutation} for {channels} channels"
        )
    return image[..., [int(place) for place in permutation], :, :]


@dispatches(_permuted)
def permute_channels(inpt: Any, permutation: Sequence[int]) -> Any:
    """The channels in another order.

    >>> permute_channels(tenfold.tensor([[[1]], [[2]], [[3]]]), [2, 0, 1]).flatten()
    tensor([3, 1, 2])
    """


def _erased(image: Any, i: int, j: int, h: int, w: int, v: Tensor, inplace: bool = False) -> Any:
    if isinstance(image, Tensor):
        return conversion.erase(image, i, j, h, w, v, inplace)
    return conversion.to_pil_image(conversion.erase(conversion.pil_to_tensor(image), i, j, h, w, v), image.mode)


@dispatches(_erased)
def erase(inpt: Any, i: int, j: int, h: int, w: int, v: Tensor, inplace: bool = False) -> Any:
    """Write ``v`` over the ``h`` by ``w`` rectangle whose upper left corner is (``i``, ``j``)."""


def _compressed(image: Any, quality: int) -> Any:
    if not isinstance(image, Tensor):
        return _read_again(image, quality)
    if image.dtype != tenfold.uint8:
        raise ValueError(f"jpeg: Only uint8 tensors are supported, got {image.dtype}; to_dtype makes one")
    pictures = image.reshape(-1, *image.shape[-3:])
    again = [conversion.pil_to_tensor(_read_again(conversion.to_pil_image(picture), quality)) for picture in pictures]
    return tenfold.stack(again).reshape(image.shape).to(image.device) if again else image.clone()


def _read_again(picture: Any, quality: int) -> Any:
    from PIL import Image

    with io.BytesIO() as buffer:
        picture.save(buffer, format="JPEG", quality=int(quality))
        return Image.fromarray(np.asarray(Image.open(buffer)))


@dispatches(_compressed)
def jpeg(inpt: Any, quality: int) -> Any:
    """What is left of the picture after compression as JPEG, of a quality of 1 to 100."""
