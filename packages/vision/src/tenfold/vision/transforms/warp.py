"""Rotation and affine maps: every output pixel is read from where the inverse map sends it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms.conversion import Picture, get_dimensions, require_picture
from tenfold.vision.transforms.geometry import _pil_fill, as_float_batch, from_float_batch
from tenfold.vision.transforms.interpolation import PILLOW_CODES, InterpolationMode, Mode, interpolation_mode

Matrix = list[float]  # the first two rows of a 3x3 matrix, row by row


def inverse_affine_matrix(
    center: Sequence[float], angle: float, translate: Sequence[float], scale: float, shear: Sequence[float]
) -> Matrix:
    """The map from output to input pixels of: shear, rotate (degrees, clockwise), scale about ``center``, then translate.

    With c the center, t the translation and L = scale R(angle) Y(shear y) X(shear x), the forward map of p is L (p - c) + c + t.
    """
    rot, sx, sy = (math.radians(degrees) for degrees in (angle, shear[0], shear[1]))
    a = math.cos(rot - sy) / math.cos(sy)
    b = -math.cos(rot - sy) * math.tan(sx) / math.cos(sy) - math.sin(rot)
    c = math.sin(rot - sy) / math.cos(sy)
    d = -math.sin(rot - sy) * math.tan(sx) / math.cos(sy) + math.cos(rot)
    inverse = [[d / scale, -b / scale], [-c / scale, a / scale]]  # L without its scale has determinant 1
    dx, dy = -center[0] - translate[0], -center[1] - translate[1]
    rows = [[p, q, p * dx + q * dy + own] for (p, q), own in zip(inverse, center, strict=True)]
    return [*rows[0], *rows[1]]


def affine(
    img: Picture,
    angle: float,
    translate: Sequence[int],
    scale: float,
    shear: float | Sequence[float],
    interpolation: Mode = InterpolationMode.NEAREST,
    fill: Any = None,
    center: Sequence[int] | None = None,
) -> Picture:
    """Rotate by ``angle`` degrees clockwise, shift, scale and shear, keeping the picture's size.

    ``center`` is (x, y) from the upper left corner, by default the middle. ``fill`` is the value of what comes from outside.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``translate`` or ``shear`` has another length, or ``scale`` is not positive.
    """
    require_picture("affine", img)
    mode = interpolation_mode("affine", interpolation)
    if len(translate) != 2:
        raise ValueError(f"affine: translate should be a sequence of length 2, got {translate!r}")
    if scale <= 0.0:
        raise ValueError(f"affine: Argument scale should be positive, got {scale}")
    shears = shear_pair(shear)
    _, height, width = get_dimensions(img)
    if not isinstance(img, Tensor):
        middle = list(center) if center is not None else [width * 0.5, height * 0.5]
        matrix = inverse_affine_matrix(middle, angle, translate, scale, shears)
        return _transform_pil(img, matrix, mode, fill)
    shift = [float(value) for value in translate]
    matrix = inverse_affine_matrix(_from_middle(center, width, height), angle, shift, scale, shears)
    return _sample(img, matrix, (height, width), mode, fill)


def shear_pair(shear: float | Sequence[float]) -> list[float]:
    """Degrees along x and y, from one number for x or a sequence of one for both or two.

    Raises:
        ValueError: there are neither one nor two.
    """
    shears = [float(shear), 0.0] if isinstance(shear, int | float) else [float(value) for value in shear]
    shears = shears * 2 if len(shears) == 1 else shears
    if len(shears) != 2:
        raise ValueError(f"affine: Shear should be a number or a sequence containing two values, got {shear!r}")
    return shears


def rotate(
    img: Picture,
    angle: float,
    interpolation: Mode = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Any = None,
) -> Picture:
    """Rotate by ``angle`` degrees counter-clockwise; ``expand`` enlarges the picture so that nothing is cut off.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``center`` does not have two numbers.
    """
    require_picture("rotate", img)
    mode = interpolation_mode("rotate", interpolation)
    if center is not None and len(center) != 2:
        raise ValueError(f"rotate: center should be (x, y), got {center!r}")
    if not isinstance(img, Tensor):
        return img.rotate(angle, PILLOW_CODES[mode], expand, center, fillcolor=_pil_fill(img, 0 if fill is None else fill))
    _, height, width = get_dimensions(img)
    matrix = inverse_affine_matrix(_from_middle(center, width, height), -angle, [0.0, 0.0], 1.0, [0.0, 0.0])
    size = expanded_size(matrix, height, width) if expand else (height, width)
    return _sample(img, matrix, size, mode, fill)


def quarter_turns(size: Sequence[int], angle: float, expand: bool = False, center: Sequence[float] | None = None) -> int | None:
    """How many quarters of a circle a picture of (height, width) is turned by, if it stays whole pixel by pixel."""
    quarters, rest = divmod(angle % 360, 90)
    whole = not rest and center is None and (quarters % 2 == 0 or expand or size[0] == size[1])
    return int(quarters) if whole else None


def _from_middle(center: Sequence[float] | None, width: int, height: int) -> list[float]:
    return [0.0, 0.0] if center is None else [center[0] - width * 0.5, center[1] - height * 0.5]


def _transform_pil(img: Any, matrix: Matrix, mode: InterpolationMode, fill: Any) -> Any:
    from PIL import Image

    return img.transform(
        img.size, Image.Transform.AFFINE, matrix, PILLOW_CODES[mode], fillcolor=_pil_fill(img, 0 if fill is None else fill)
    )


def expanded_size(matrix: Matrix, height: int, width: int) -> tuple[int, int]:
    """The height and width of the box around the rotated picture, by its corners."""
    half = tenfold.tensor([0.5 * width, 0.5 * height])
    signs = tenfold.tensor([[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    corners = tenfold.cat([signs * half, tenfold.ones(4, 1)], dim=1) @ tenfold.tensor(matrix).view(2, 3).T + half  # (4, 2)
    sizes = _clean(corners.amax(dim=0)).ceil() - _clean(corners.amin(dim=0)).floor()
    columns, rows = (int(size) for size in sizes.tolist())
    return rows, columns


def _clean(places: Tensor) -> Tensor:
    """Cut off what lies behind four decimals, so that noise at an exact corner does not add a row of pixels."""
    return (places / 1e-4).trunc() * 1e-4


def _sample(img: Tensor, matrix: Matrix, size: tuple[int, int], mode: InterpolationMode, fill: Any) -> Tensor:
    """What `grid_sample` gives; as one map serves all pictures and channels, each corner's pixels are gathered in one step."""
    height, width = img.shape[-2:]
    return sample_at(img, _places(matrix, height, width, size, as_float_batch(img)), size, mode, fill)


def sample_at(img: Tensor, places: tuple[Tensor, Tensor], size: tuple[int, int], mode: InterpolationMode, fill: Any) -> Tensor:
    """The picture of this size whose pixels are read at these columns and rows, fractions of pixels allowed."""
    if mode.value not in ("nearest", "bilinear"):
        raise ValueError(f"interpolation {mode.value} is for PIL images only; tensors take nearest and bilinear")
    batch = as_float_batch(img)
    outside = _fill_values(fill, batch)
    pixels = batch.flatten(2)  # (N, C, H*W)
    height, width = batch.shape[-2:]
    x, y = places
    total: Any = 0.0
    covered: Any = 0.0
    for corner_x, corner_y, weight in _corners(x, y, mode.value == "nearest"):
        within = (corner_x >= 0) & (corner_x < width) & (corner_y >= 0) & (corner_y < height)
        index = corner_y.clamp(0, height - 1) * width + corner_x.clamp(0, width - 1)
        share = within.to(batch.dtype) * weight
        total = total + pixels.index_select(2, index.long()) * share
        covered = covered + share
    if outside is not None:
        if mode.value == "nearest":
            total = tenfold.where(covered < 0.5, outside, total)
        else:  # torchvision weighs what is partly covered twice
            total = total * covered + (1.0 - covered) * outside
    return from_float_batch(total.unflatten(2, size), img)


def _corners(x: Tensor, y: Tensor, nearest: bool) -> list[tuple[Tensor, Tensor, Any]]:
    """The pixels around each place, with their shares of it."""
    if nearest:
        return [(x.round(), y.round(), 1.0)]
    left, top = x.floor(), y.floor()
    right_share, lower_share = x - left, y - top
    return [
        (left, top, (1 - right_share) * (1 - lower_share)),
        (left + 1, top, right_share * (1 - lower_share)),
        (left, top + 1, (1 - right_share) * lower_share),
        (left + 1, top + 1, right_share * lower_share),
    ]


def _fill_values(fill: Any, batch: Tensor) -> Tensor | None:
    if fill is None:
        return None
    numbers = [float(fill)] if isinstance(fill, int | float) else [float(value) for value in fill]
    channels = batch.shape[1]
    if len(numbers) not in (1, channels):
        raise ValueError(
            f"fill has {len(numbers)} numbers, but the picture has {channels} channels; give one for each, or a single one"
        )
    return tenfold.tensor(numbers, dtype=batch.dtype, device=batch.device).view(1, -1, 1)


def applied(row: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """``a x + b y + c``, each step rounded as PyTorch rounds it."""
    return x * row[0] + y * row[1] + row[2]


def _places(matrix: Matrix, height: int, width: int, size: tuple[int, int], like: Tensor) -> tuple[Tensor, Tensor]:
    """Where each output pixel's centre lies among the input's pixels: x and y, (H*W) each.

    Through coordinates from -1 to 1, as PyTorch has them: their rounding decides what is nearest.
    """
    rows, columns = size
    x = tenfold.linspace(-columns * 0.5 + 0.5, columns * 0.5 - 0.5, columns, dtype=like.dtype, device=like.device)
    y = tenfold.linspace(-rows * 0.5 + 0.5, rows * 0.5 - 0.5, rows, dtype=like.dtype, device=like.device).unsqueeze(-1)
    half = tenfold.tensor([0.5 * width, 0.5 * height], dtype=like.dtype, device=like.device)
    rescaled = tenfold.tensor(matrix, dtype=like.dtype, device=like.device).view(2, 3).T / half  # (3, 2)
    grid_x, grid_y = (applied(rescaled[:, axis], x, y).reshape(-1) for axis in range(2))
    return ((grid_x + 1) * width - 1) / 2, ((grid_y + 1) * height - 1) / 2
