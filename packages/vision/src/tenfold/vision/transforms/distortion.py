"""Maps that are not affine: perspective, and elastic displacement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms.conversion import Picture, get_dimensions, pil_to_tensor, require_picture, to_pil_image
from tenfold.vision.transforms.geometry import _pil_fill, as_float_batch
from tenfold.vision.transforms.interpolation import PILLOW_CODES, InterpolationMode, Mode, interpolation_mode
from tenfold.vision.transforms.warp import applied, sample_at

Points = Sequence[Sequence[float]]  # four corners (x, y)


def perspective_coefficients(startpoints: Points, endpoints: Points) -> list[float]:
    """(a ... h) of the map x = (a u + b v + c) / (g u + h v + 1), y = (d u + e v + f) / (g u + h v + 1) from end to start points.

    Raises:
        ValueError: there are not four points.
    """
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise ValueError(f"perspective: expected 4 startpoints and 4 endpoints, got {len(startpoints)} and {len(endpoints)}")
    rows = []
    for (u, v), (x, y) in zip(endpoints, startpoints, strict=True):
        rows += [[u, v, 1, 0, 0, 0, -x * u, -x * v], [0, 0, 0, u, v, 1, -y * u, -y * v]]
    target = np.asarray(startpoints, np.float64).reshape(8)
    solution = np.linalg.lstsq(np.asarray(rows, np.float64), target, rcond=None)[0]
    return [float(value) for value in solution.astype(np.float32)]


def perspective(
    img: Picture,
    startpoints: Points,
    endpoints: Points,
    interpolation: Mode = InterpolationMode.BILINEAR,
    fill: Any = None,
) -> Picture:
    """Pull the four ``startpoints`` of the picture, as (x, y), to ``endpoints``.

    Raises:
        ValueError: there are not four points each.
    """
    return projected(img, perspective_coefficients(startpoints, endpoints), interpolation, fill)


def coefficients_of(startpoints: Points | None, endpoints: Points | None, coefficients: Sequence[float] | None) -> list[float]:
    """The eight numbers of the map, given as themselves or by the points.

    Raises:
        ValueError: both or neither, or not eight.
    """
    points_given = startpoints is not None and endpoints is not None
    if points_given == (coefficients is not None):
        raise ValueError("perspective: either the startpoints/endpoints or the coefficients must have values, and not both")
    if coefficients is None:
        return perspective_coefficients(startpoints, endpoints)  # type: ignore[arg-type]
    if len(coefficients) != 8:
        raise ValueError(f"perspective: coefficients should have 8 float values, got {len(coefficients)}")
    return [float(value) for value in coefficients]


def projected(
    img: Picture, coefficients: list[float], interpolation: Mode = InterpolationMode.BILINEAR, fill: Any = None
) -> Picture:
    """The picture whose pixels are read where the map of these coefficients leads."""
    require_picture("perspective", img)
    mode = interpolation_mode("perspective", interpolation)
    if not isinstance(img, Tensor):
        from PIL import Image

        colour = _pil_fill(img, 0 if fill is None else fill)
        return img.transform(img.size, Image.Transform.PERSPECTIVE, coefficients, PILLOW_CODES[mode], fillcolor=colour)
    size = (img.shape[-2], img.shape[-1])
    return sample_at(img, _perspective_places(coefficients, size, as_float_batch(img)), size, mode, fill)


def _perspective_places(coefficients: list[float], size: tuple[int, int], like: Tensor) -> tuple[Tensor, Tensor]:
    """Through coordinates from -1 to 1, as `warp` does."""
    a, b, c, d, e, f, g, h = coefficients
    height, width = size
    options: dict[str, Any] = {"dtype": like.dtype, "device": like.device}
    x = tenfold.linspace(0.5, width - 0.5, width, **options)
    y = tenfold.linspace(0.5, height - 0.5, height, **options).unsqueeze(-1)
    half = tenfold.tensor([0.5 * width, 0.5 * height], **options)
    above = tenfold.tensor([[a, b, c], [d, e, f]], **options).T / half  # (3, 2)
    below = applied(tenfold.tensor([g, h, 1.0], **options), x, y)
    grid = [(applied(above[:, axis], x, y) / below - 1.0).reshape(-1) for axis in range(2)]
    return _pixels(grid, size)


def _pixels(grid: Sequence[Tensor], size: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """From -1..1 to columns and rows."""
    height, width = size
    return ((grid[0] + 1) * width - 1) / 2, ((grid[1] + 1) * height - 1) / 2


def elastic_transform(
    img: Picture, displacement: Tensor, interpolation: Mode = InterpolationMode.BILINEAR, fill: Any = None
) -> Picture:
    """Read each pixel from where ``displacement`` (1, H, W, 2) leads, in x and y of half the picture's size.

    Raises:
        TypeError: the displacement is no tensor.
        ValueError: it has another shape.
    """
    require_picture("elastic_transform", img)
    mode = interpolation_mode("elastic_transform", interpolation)
    if not isinstance(displacement, Tensor):
        raise TypeError(f"elastic_transform: Argument displacement should be a Tensor, got {type(displacement).__name__}")
    _, height, width = get_dimensions(img)
    if tuple(displacement.shape) != (1, height, width, 2):
        raise ValueError(
            f"elastic_transform: Argument displacement shape should be {(1, height, width, 2)}, got {tuple(displacement.shape)}"
        )
    pixels = img if isinstance(img, Tensor) else pil_to_tensor(img)
    size = (height, width)
    moved = displacement.to(device=pixels.device, dtype=as_float_batch(pixels).dtype)[0] + identity_grid(
        size, as_float_batch(pixels)
    )
    result = sample_at(pixels, _pixels(moved.reshape(-1, 2).unbind(-1), size), size, mode, fill)
    return result if isinstance(img, Tensor) else to_pil_image(result, img.mode)


def identity_grid(size: tuple[int, int], like: Tensor) -> Tensor:
    """The centres of pixels, from -1 to 1: (H, W, 2)."""
    sides = [tenfold.linspace((1 - n) / n, (n - 1) / n, n, dtype=like.dtype, device=like.device) for n in size]
    y, x = tenfold.meshgrid(*sides, indexing="ij")
    return tenfold.stack([x, y], -1)
