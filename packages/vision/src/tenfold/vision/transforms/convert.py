"""Transforms between images and tensors, of dtypes and of values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.transforms import conversion, draws


class ToTensor:
    """`functional.to_tensor`: a PIL image or array as a (C, H, W) tensor, bytes scaled to 0..1."""

    def __call__(self, pic: Any) -> Tensor:
        return conversion.to_tensor(pic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class PILToTensor:
    """`functional.pil_to_tensor`: a PIL image as a (C, H, W) tensor of its own values."""

    def __call__(self, pic: Any) -> Tensor:
        return conversion.pil_to_tensor(pic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ToPILImage:
    """`functional.to_pil_image`: a (C, H, W) tensor or an (H, W, C) array as a PIL image."""

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode

    def __call__(self, pic: Any) -> Any:
        return conversion.to_pil_image(pic, self.mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class ConvertImageDtype(nn.Module):
    """`functional.convert_image_dtype`: another dtype, its full range for the full range."""

    def __init__(self, dtype: tenfold.dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, image: Tensor) -> Tensor:
        return conversion.convert_image_dtype(image, self.dtype)


class Normalize(nn.Module):
    """``(tensor - mean) / std`` for every channel of a floating point tensor."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        super().__init__()
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def forward(self, tensor: Tensor) -> Tensor:
        return conversion.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mean={self.mean}, std={self.std})"


class RandomErasing(nn.Module):
    """Overwrite a random rectangle of a tensor, with probability ``p``.

    The rectangle's share of the area is uniform in ``scale``, its height over its width log-uniform in ``ratio``.
    ``value`` is a number, one for each channel, or "random" for standard normal noise.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``p`` or ``scale`` is outside 0..1, or there are neither one nor C values.

    Source: Z. Zhong and others, Random Erasing Data Augmentation, arXiv:1708.04896.
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | Sequence[float] | str = 0,
        inplace: bool = False,
    ) -> None:
        super().__init__()
        if not isinstance(value, int | float | str | tuple | list):
            raise TypeError(f"RandomErasing: Argument value should be a number, a str or a sequence, got {type(value).__name__}")
        if isinstance(value, str) and value != "random":
            raise ValueError(f"RandomErasing: If value is str, it should be 'random', got {value!r}")
        if not 0 <= p <= 1 or not 0 <= scale[0] <= scale[1] <= 1:
            raise ValueError(
                f"RandomErasing: p and scale should be between 0 and 1, scale from small to large, got {p} and {scale}"
            )
        self.p = p
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    @staticmethod
    def get_params(
        img: Tensor, scale: Sequence[float], ratio: Sequence[float], value: Sequence[float] | None = None
    ) -> tuple[int, int, int, int, Tensor]:
        """Draw the corner, height and width of a rectangle, and what fills it; None fills with noise."""
        channels, height, width = img.shape[-3:]
        for _ in range(10):
            area = height * width * draws.uniform(scale[0], scale[1])
            shape = draws.log_uniform((ratio[0], ratio[1]))
            h, w = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
            if h >= height or w >= width:
                continue
            filled = tenfold.empty([channels, h, w]).normal_() if value is None else tenfold.tensor(value)[:, None, None]
            return draws.below(height - h + 1), draws.below(width - w + 1), h, w, filled
        return 0, 0, height, width, img

    def forward(self, img: Tensor) -> Tensor:
        if not draws.happens(self.p):
            return img
        value = self._values()
        if value is not None and len(value) not in (1, img.shape[-3]):
            raise ValueError(
                f"RandomErasing: value should have a single value or {img.shape[-3]} values, one per channel; got {len(value)}"
            )
        i, j, h, w, filled = self.get_params(img, self.scale, self.ratio, value)
        return conversion.erase(img, i, j, h, w, filled, self.inplace)

    def _values(self) -> list[float] | None:
        if isinstance(self.value, str):
            return None
        return [float(self.value)] if isinstance(self.value, int | float) else [float(number) for number in self.value]

    def __repr__(self) -> str:
        ranges = f"scale={self.scale}, ratio={self.ratio}"
        return f"{type(self).__name__}(p={self.p}, {ranges}, value={self.value}, inplace={self.inplace})"
