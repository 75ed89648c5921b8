"""What happens to the values of pixels: colours, tones, blur, noise, erasing, compression, at random."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms import draws, jitter, retouch
from tenfold.vision.transforms.convert import RandomErasing as PlainErasing
from tenfold.vision.transforms.v2 import functional as F
from tenfold.vision.transforms.v2.base import RandomApplied, Transform
from tenfold.vision.transforms.v2.samples import query_chw
from tenfold.vision.transforms.v2.settings import two_numbers
from tenfold.vision.tv_tensors import BoundingBoxes, KeyPoints, Mask

CHANGES = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)


class Grayscale(Transform):
    """In grey, in one or three equal channels."""

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.rgb_to_grayscale, inpt, num_output_channels=self.num_output_channels)


class RGB(Transform):
    """Grey pictures in three equal channels; others stay."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.grayscale_to_rgb, inpt)


class RandomGrayscale(RandomApplied):
    """In grey with probability ``p``, in as many channels as before."""

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p=p)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """How many channels."""
        return {"num_output_channels": query_chw(flat_inputs)[0]}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.rgb_to_grayscale, inpt, **params)


class ColorJitter(Transform):
    """Brightness, contrast, saturation and hue, each by a factor drawn at random; see `transforms.ColorJitter`."""

    get_params = staticmethod(jitter.ColorJitter.get_params)

    def __init__(
        self,
        brightness: float | Sequence[float] | None = None,
        contrast: float | Sequence[float] | None = None,
        saturation: float | Sequence[float] | None = None,
        hue: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        ranges = jitter.ColorJitter(brightness or 0, contrast or 0, saturation or 0, hue or 0)
        self.brightness, self.contrast = ranges.brightness, ranges.contrast
        self.saturation, self.hue = ranges.saturation, ranges.hue

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the order and the factors."""
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        return {"order": order.tolist(), "factors": factors}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        for place in params["order"]:
            factor = params["factors"][place]
            inpt = inpt if factor is None else self._call_kernel(CHANGES[place], inpt, factor)
        return inpt


class RandomChannelPermutation(Transform):
    """The channels in an order that is drawn."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the order."""
        return {"permutation": tenfold.randperm(query_chw(flat_inputs)[0]).tolist()}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.permute_channels, inpt, **params)


class RandomPhotometricDistort(Transform):
    """Brightness, contrast, saturation, hue and the order of channels, each changed with probability ``p``.

    Source: W. Liu and others, SSD, arXiv:1512.02325, section 3.6.
    """

    def __init__(
        self,
        brightness: tuple[float, float] = (0.875, 1.125),
        contrast: tuple[float, float] = (0.5, 1.5),
        saturation: tuple[float, float] = (0.5, 1.5),
        hue: tuple[float, float] = (-0.05, 0.05),
        p: float = 0.5,
    ) -> None:
        super().__init__()
        self.brightness, self.contrast, self.hue, self.saturation = brightness, contrast, hue, saturation
        self.p = p

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the factors, whether contrast comes early, and the channels' order."""
        channels = query_chw(flat_inputs)[0]
        ranges = (self.brightness, self.contrast, self.saturation, self.hue)
        factors = [draws.uniform(*bounds) if draws.happens(self.p) else None for bounds in ranges]
        early = bool(tenfold.rand(()) < 0.5)
        permutation = tenfold.randperm(channels).tolist() if draws.happens(self.p) else None
        return {"factors": factors, "early": early, "permutation": permutation}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        order = [0, 1, 2, 3] if params["early"] else [0, 2, 3, 1]
        for place in order:
            factor = params["factors"][place]
            inpt = inpt if factor is None else self._call_kernel(CHANGES[place], inpt, factor)
        permutation = params["permutation"]
        return inpt if permutation is None else self._call_kernel(F.permute_channels, inpt, permutation)


class RandomEqualize(RandomApplied):
    """`functional.equalize` with probability ``p``."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.equalize, inpt)


class RandomInvert(RandomApplied):
    """`functional.invert` with probability ``p``."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.invert, inpt)


class RandomAutocontrast(RandomApplied):
    """`functional.autocontrast` with probability ``p``."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.autocontrast, inpt)


class RandomPosterize(RandomApplied):
    """`functional.posterize` to ``bits`` bits with probability ``p``."""

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p=p)
        self.bits = bits

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.posterize, inpt, bits=self.bits)


class RandomSolarize(RandomApplied):
    """`functional.solarize` from ``threshold`` on with probability ``p``."""

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p=p)
        self.threshold = threshold

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.solarize, inpt, threshold=self.threshold)


class RandomAdjustSharpness(RandomApplied):
    """`functional.adjust_sharpness` by this factor with probability ``p``."""

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p=p)
        self.sharpness_factor = sharpness_factor

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.adjust_sharpness, inpt, sharpness_factor=self.sharpness_factor)


class GaussianBlur(Transform):
    """Blurred by a bell whose width is drawn from ``sigma``; the kernel's (x, y) sizes are odd."""

    get_params = staticmethod(retouch.GaussianBlur.get_params)

    def __init__(self, kernel_size: int | Sequence[int], sigma: float | Sequence[float] = (0.1, 2.0)) -> None:
        super().__init__()
        checked = retouch.GaussianBlur(kernel_size, sigma)  # refuses what it cannot blur by
        self.kernel_size = (int(checked.kernel_size[0]), int(checked.kernel_size[1]))
        self.sigma = two_numbers("GaussianBlur", "sigma", sigma)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the width."""
        return {"sigma": [self.get_params(self.sigma[0], self.sigma[1])] * 2}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.gaussian_blur, inpt, list(self.kernel_size), **params)


class GaussianNoise(Transform):
    """Normal noise added to floats of 0..1 or bytes; drawn anew for each part."""

    def __init__(self, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> None:
        super().__init__()
        self.mean = mean
        self.sigma = sigma
        self.clip = clip

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.gaussian_noise, inpt, mean=self.mean, sigma=self.sigma, clip=self.clip)


class JPEG(Transform):
    """What is left after compression as JPEG, of a quality of 1 to 100 or drawn from a range of it.

    Raises:
        ValueError: the quality is outside.
    """

    def __init__(self, quality: int | Sequence[int]) -> None:
        super().__init__()
        bounds: tuple[Any, ...] = (quality, quality) if isinstance(quality, int) else tuple(quality)
        if len(bounds) != 2 or not all(isinstance(q, int) and 1 <= q <= 100 for q in bounds) or bounds[0] > bounds[1]:
            raise ValueError(f"quality must be an integer from 1 to 100, or two of them from small to large, got {quality}")
        self.quality = bounds

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the quality."""
        return {"quality": int(tenfold.randint(self.quality[0], self.quality[1] + 1, ()))}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.jpeg, inpt, **params)


class RandomErasing(RandomApplied):
    """Overwrite a random rectangle with probability ``p``; see `transforms.RandomErasing`.

    Raises:
        TypeError, ValueError: as that does.
    """

    get_params = staticmethod(PlainErasing.get_params)

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | Sequence[float] | str | None = 0.0,
        inplace: bool = False,
    ) -> None:
        super().__init__(p=p)
        PlainErasing(p, scale, ratio, 0 if value is None else value)  # refuses what it cannot draw from
        self.scale = scale
        self.ratio = ratio
        random = value is None or isinstance(value, str)
        self.value = None if random else [float(value)] if isinstance(value, int | float) else [float(v) for v in value]  # type: ignore[union-attr]
        self.inplace = inplace
        self._log_ratio = [math.log(bound) for bound in ratio]

    def _call_kernel(self, functional: Any, inpt: Any, *args: Any, **kwargs: Any) -> Any:
        """What is erased; boxes, points and masks are left, with a warning."""
        if isinstance(inpt, BoundingBoxes | Mask | KeyPoints):
            warnings.warn(
                f"{type(self).__name__}() is currently passing through inputs of type {type(inpt).__name__}.", stacklevel=2
            )
        return super()._call_kernel(functional, inpt, *args, **kwargs)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the rectangle and what fills it.

        Raises:
            ValueError: there are neither one nor as many values as channels.
        """
        channels, height, width = query_chw(flat_inputs)
        if self.value is not None and len(self.value) not in (1, channels):
            raise ValueError(
                f"If value is a sequence, it should have either a single value or {channels} (number of inpt channels)"
            )
        like = tenfold.empty(channels, height, width)
        i, j, h, w, v = self.get_params(like, self.scale, self.ratio, self.value)
        return {"place": None if v is like else (i, j, h, w), "v": v}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        if params["place"] is None:
            return inpt
        v = params["v"].to(inpt.device, inpt.dtype) if isinstance(inpt, Tensor) else params["v"]
        return self._call_kernel(F.erase, inpt, *params["place"], v, self.inplace)
