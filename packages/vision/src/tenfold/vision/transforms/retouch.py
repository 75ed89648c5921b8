"""Random changes of tone and sharpness, blur, perspective and elastic displacement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.transforms import blur, distortion, draws, tones
from tenfold.vision.transforms.conversion import Picture, get_dimensions
from tenfold.vision.transforms.interpolation import InterpolationMode, Mode, interpolation_mode


class _Sometimes(nn.Module):
    """Apply a function of the picture with probability ``p``."""

    def __init__(self, p: float, **settings: Any) -> None:
        super().__init__()
        self.p = p
        self._settings = tuple(settings)
        for name, value in settings.items():
            setattr(self, name, value)

    def _change(self) -> Callable[[Picture], Picture]:
        raise NotImplementedError

    def forward(self, img: Picture) -> Picture:
        return self._change()(img) if draws.happens(self.p) else img

    def __repr__(self) -> str:
        parts = [f"{name}={getattr(self, name)}" for name in (*self._settings, "p")]
        return f"{type(self).__name__}({','.join(parts)})"


class RandomInvert(_Sometimes):
    """`functional.invert` with probability ``p``."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    def _change(self) -> Callable[[Picture], Picture]:
        return tones.invert


class RandomPosterize(_Sometimes):
    """`functional.posterize` to ``bits`` bits with probability ``p``."""

    bits: int

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p, bits=bits)

    def _change(self) -> Callable[[Picture], Picture]:
        return lambda img: tones.posterize(img, self.bits)


class RandomSolarize(_Sometimes):
    """`functional.solarize` from ``threshold`` on with probability ``p``."""

    threshold: float

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p, threshold=threshold)

    def _change(self) -> Callable[[Picture], Picture]:
        return lambda img: tones.solarize(img, self.threshold)


class RandomAdjustSharpness(_Sometimes):
    """`functional.adjust_sharpness` by ``sharpness_factor`` with probability ``p``."""

    sharpness_factor: float

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p, sharpness_factor=sharpness_factor)

    def _change(self) -> Callable[[Picture], Picture]:
        return lambda img: blur.adjust_sharpness(img, self.sharpness_factor)


class RandomAutocontrast(_Sometimes):
    """`functional.autocontrast` with probability ``p``."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    def _change(self) -> Callable[[Picture], Picture]:
        return tones.autocontrast


class RandomEqualize(_Sometimes):
    """`functional.equalize` with probability ``p``."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    def _change(self) -> Callable[[Picture], Picture]:
        return tones.equalize


class GaussianBlur(nn.Module):
    """`functional.gaussian_blur` with a sigma drawn between the two of ``sigma``, or the one number.

    Raises:
        ValueError: a kernel is not odd and positive, or the sigmas are not positive and rising.
    """

    def __init__(self, kernel_size: int | Sequence[int], sigma: float | Sequence[float] = (0.1, 2.0)) -> None:
        super().__init__()
        sizes = (kernel_size, kernel_size) if isinstance(kernel_size, int) else tuple(kernel_size)
        if len(sizes) not in (1, 2) or any(size <= 0 or size % 2 == 0 for size in sizes):
            raise ValueError(f"GaussianBlur: Kernel size value should be an odd and positive number, got {kernel_size}")
        bounds = (sigma, sigma) if isinstance(sigma, int | float) else tuple(sigma)
        if len(bounds) != 2 or not 0.0 < bounds[0] <= bounds[1]:
            raise ValueError(f"GaussianBlur: sigma values should be positive and of the form (min, max). Got {sigma}")
        self.kernel_size = sizes * 2 if len(sizes) == 1 else sizes
        self.sigma = bounds

    @staticmethod
    def get_params(sigma_min: float, sigma_max: float) -> float:
        """Draw sigma."""
        return draws.uniform(sigma_min, sigma_max)

    def forward(self, img: Picture) -> Picture:
        sigma = self.get_params(self.sigma[0], self.sigma[1])
        return blur.gaussian_blur(img, self.kernel_size, [sigma, sigma])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(kernel_size={self.kernel_size}, sigma={self.sigma})"


def fill_of(fill: Any, img: Picture) -> Any:
    """The fill as a tensor takes it: a number for each channel."""
    if not isinstance(img, Tensor) or fill is None:
        return fill
    return [float(fill)] * get_dimensions(img)[0] if isinstance(fill, int | float) else [float(value) for value in fill]


class RandomPerspective(nn.Module):
    """Move the corners inwards at random, by up to ``distortion_scale`` of half the sides, with probability ``p``."""

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: Mode = InterpolationMode.BILINEAR,
        fill: Any = 0,
    ) -> None:
        super().__init__()
        self.p = p
        self.interpolation = interpolation_mode("RandomPerspective", interpolation)
        self.distortion_scale = distortion_scale
        if fill is not None and not isinstance(fill, int | float | Sequence):
            raise TypeError(f"RandomPerspective: Fill should be either a sequence or a number, got {fill!r}")
        self.fill = 0 if fill is None else fill

    @staticmethod
    def get_params(width: int, height: int, distortion_scale: float) -> tuple[list[list[int]], list[list[int]]]:
        """The corners from the upper left clockwise, and where they are drawn to."""
        across, down = int(distortion_scale * (width // 2)), int(distortion_scale * (height // 2))
        left, right = (0, across + 1), (width - across - 1, width)
        top, bottom = (0, down + 1), (height - down - 1, height)
        ends = []
        for columns, rows in ((left, top), (right, top), (right, bottom), (left, bottom)):
            ends.append([columns[0] + draws.below(columns[1] - columns[0]), rows[0] + draws.below(rows[1] - rows[0])])
        return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], ends

    def forward(self, img: Picture) -> Picture:
        _, height, width = get_dimensions(img)
        if not draws.happens(self.p):
            return img
        start, end = self.get_params(width, height, self.distortion_scale)
        return distortion.perspective(img, start, end, self.interpolation, fill_of(self.fill, img))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class ElasticTransform(nn.Module):
    """Shift pixels by a random smooth field: noise of -1..1, blurred by ``sigma``, times ``alpha`` pixels.

    Source: P. Y. Simard, D. Steinkraus, J. C. Platt, Best Practices for Convolutional Neural Networks, 2003, section 2.
    """

    def __init__(
        self,
        alpha: float | Sequence[float] = 50.0,
        sigma: float | Sequence[float] = 5.0,
        interpolation: Mode = InterpolationMode.BILINEAR,
        fill: Any = 0,
    ) -> None:
        super().__init__()
        self.alpha = _two("alpha", alpha)
        self.sigma = _two("sigma", sigma)
        self.interpolation = interpolation_mode("ElasticTransform", interpolation)
        self.fill = [float(fill)] if isinstance(fill, int | float) else [float(value) for value in fill]

    @staticmethod
    def get_params(alpha: Sequence[float], sigma: Sequence[float], size: Sequence[int]) -> Tensor:
        """Draw the displacement of a picture of (height, width): (1, H, W, 2)."""
        fields = []
        for strength, width, side in zip(alpha, sigma, reversed(size), strict=True):  # x, then y
            field = tenfold.rand([1, 1, *size]) * 2 - 1
            if width > 0.0:
                kernel = int(8 * width + 1)
                kernel += 1 - kernel % 2
                field = blur.gaussian_blur(field, [kernel, kernel], list(sigma))
            fields.append(field * strength / side)
        return tenfold.cat(fields, 1).permute(0, 2, 3, 1)

    def forward(self, img: Picture) -> Picture:
        _, height, width = get_dimensions(img)
        displacement = self.get_params(self.alpha, self.sigma, [height, width])
        return distortion.elastic_transform(img, displacement, self.interpolation, self.fill)

    def __repr__(self) -> str:
        details = f"alpha={self.alpha}, sigma={self.sigma}, interpolation={self.interpolation}, fill={self.fill}"
        return f"{type(self).__name__}({details})"


def _two(name: str, value: float | Sequence[float]) -> list[float]:
    numbers = [float(value)] if isinstance(value, int | float) else [float(part) for part in value]
    if len(numbers) not in (1, 2):
        raise ValueError(f"ElasticTransform: {name} should be a number or a sequence of length 1 or 2, got {value!r}")
    return numbers * 2 if len(numbers) == 1 else numbers


class LinearTransformation(nn.Module):
    """``(flattened picture - mean_vector) @ transformation_matrix``, such as whitening, in the picture's shape.

    Raises:
        ValueError: the matrix is not square, or the vector not of its size; later, a picture not of its size.
    """

    def __init__(self, transformation_matrix: Tensor, mean_vector: Tensor) -> None:
        super().__init__()
        size = transformation_matrix.shape[0]
        if tuple(transformation_matrix.shape) != (size, size):
            raise ValueError(
                f"LinearTransformation: transformation_matrix should be square, got {tuple(transformation_matrix.shape)}"
            )
        if mean_vector.shape[0] != size or transformation_matrix.dtype != mean_vector.dtype:
            raise ValueError(
                f"LinearTransformation: mean_vector should have length {size} and dtype {transformation_matrix.dtype}, "
                f"got {tuple(mean_vector.shape)} and {mean_vector.dtype}"
            )
        self.transformation_matrix = transformation_matrix
        self.mean_vector = mean_vector

    def forward(self, tensor: Tensor) -> Tensor:
        count = tensor.shape[-3] * tensor.shape[-2] * tensor.shape[-1]
        if count != self.transformation_matrix.shape[0]:
            raise ValueError(
                f"LinearTransformation: Input tensor and transformation matrix have incompatible shape: "
                f"{tuple(tensor.shape)} has {count} values, the matrix {self.transformation_matrix.shape[0]}"
            )
        return ((tensor.reshape(-1, count) - self.mean_vector) @ self.transformation_matrix).reshape(tensor.shape)

    def __repr__(self) -> str:
        matrix, mean = self.transformation_matrix.tolist(), self.mean_vector.tolist()
        return f"{type(self).__name__}(transformation_matrix={matrix}, mean_vector={mean})"
