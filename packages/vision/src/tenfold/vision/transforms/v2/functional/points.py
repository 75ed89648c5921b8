"""Where points of the canvas go, the inverse of where pixels are read; and the kernels of key points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms import distortion, geometry, warp

Canvas = tuple[int, int]
Map = NDArray[np.float64]  # (3, 3)


def middle(canvas_size: Canvas, output_size: int | Sequence[int]) -> tuple[int, int, int, int]:
    """Top, left, height and width of the middle; negative where it is larger than the canvas."""
    wanted_height, wanted_width = geometry.pair("center_crop", output_size)
    height, width = canvas_size
    places = []
    for side, wanted in ((height, wanted_height), (width, wanted_width)):
        before = (wanted - side) // 2 if wanted > side else 0  # the border that a picture gets on this side
        grown = max(side, wanted)
        places.append(round((grown - wanted) / 2.0) - before)
    return places[0], places[1], wanted_height, wanted_width


def padded(canvas_size: Canvas, padding: int | Sequence[int], padding_mode: str) -> tuple[int, int, Canvas]:
    """The left and upper border, and the larger canvas.

    Raises:
        ValueError: the borders are not constant.
    """
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported with bounding boxes and key points; use 'constant'")
    left, top, right, bottom = geometry.borders_of(padding)
    height, width = canvas_size
    return left, top, (height + top + bottom, width + left + right)


def _inverse(matrix: Sequence[float]) -> Map:
    whole = np.vstack([np.asarray(matrix, np.float64).reshape(2, 3), [0.0, 0.0, 1.0]])
    return np.asarray(np.linalg.inv(whole))


def affine_map(
    canvas_size: Canvas, angle: float, translate: Sequence[float], scale: float, shear: Any, center: Sequence[float] | None
) -> Map:
    """The map of points for `functional.affine`."""
    height, width = canvas_size
    about = [width * 0.5, height * 0.5] if center is None else list(center)
    shift = [float(value) for value in translate]
    return _inverse(warp.inverse_affine_matrix(about, angle, shift, scale, warp.shear_pair(shear)))


def rotation_map(canvas_size: Canvas, angle: float, expand: bool, center: Sequence[float] | None) -> tuple[Map, Canvas]:
    """The map of points for `functional.rotate`, and the canvas."""
    height, width = canvas_size
    quarters = warp.quarter_turns(canvas_size, angle, expand, center)
    if quarters is not None:
        canvas = (width, height) if quarters % 2 else (height, width)
    elif expand:  # the picture is turned about its middle, and the middle stays the middle
        inner = warp.inverse_affine_matrix([0.0, 0.0], -angle, [0.0, 0.0], 1.0, [0.0, 0.0])
        canvas = warp.expanded_size(inner, height, width)
    else:
        canvas = (height, width)
    about = [width * 0.5, height * 0.5] if center is None or expand else list(center)
    turned = _inverse(warp.inverse_affine_matrix(about, -angle, [0.0, 0.0], 1.0, [0.0, 0.0]))
    if expand:
        corners = np.array([[0, 0, 1], [0, height, 1], [width, height, 1], [width, 0, 1]], np.float64) @ turned[:2].T
        turned[:2, 2] -= corners.min(0)
    return turned, canvas


def through(matrix: Map, places: Tensor) -> Tensor:
    """Points (N, 2) through an affine map."""
    rows = tenfold.tensor(matrix[:2], dtype=places.dtype, device=places.device)
    return places @ rows[:, :2].T + rows[:, 2]


def perspective_map(startpoints: Any, endpoints: Any, coefficients: Sequence[float] | None) -> Map:
    """The map of points for `functional.perspective`."""
    found = distortion.coefficients_of(startpoints, endpoints, coefficients)
    return np.asarray(np.linalg.inv(np.array([*found, 1.0]).reshape(3, 3)))


def projected(matrix: Map, places: Tensor) -> Tensor:
    """Points (N, 2) through a perspective map."""
    rows = tenfold.tensor(matrix, dtype=places.dtype, device=places.device)
    moved = places @ rows[:, :2].T + rows[:, 2]
    return moved[:, :2] / moved[:, 2:]


def displaced(places: Tensor, canvas_size: Canvas, displacement: Tensor) -> Tensor:
    """Each point moved against the displacement of its pixel, whose column and row are its whole parts."""
    height, width = canvas_size
    shift = displacement.to(dtype=places.dtype, device=places.device)[0]
    towards = distortion.identity_grid((height, width), shift) - shift
    x, y = places.to(tenfold.int64).unbind(-1)
    found = towards[y.clamp(0, height - 1), x.clamp(0, width - 1)]
    return (found + 1) * 0.5 * tenfold.tensor([width, height], dtype=places.dtype, device=places.device) - 0.5


def clamp(keypoints: Tensor, canvas_size: Canvas) -> Tensor:
    """Points brought to the canvas's nearest pixel."""
    height, width = canvas_size
    limits = keypoints.new_tensor([width - 1, height - 1])
    return tenfold.minimum(keypoints.clamp(min=0), limits)


def horizontal_flip(keypoints: Tensor, canvas_size: Canvas) -> Tensor:
    """Mirrored left and right."""
    return _mirrored(keypoints, canvas_size, 0)


def vertical_flip(keypoints: Tensor, canvas_size: Canvas) -> Tensor:
    """Mirrored top and bottom."""
    return _mirrored(keypoints, canvas_size, 1)


def _mirrored(keypoints: Tensor, canvas_size: Canvas, axis: int) -> Tensor:
    result = keypoints.clone()
    result[..., axis] = canvas_size[1 - axis] - 1 - keypoints[..., axis]
    return result


def crop(keypoints: Tensor, top: int, left: int, height: int, width: int) -> tuple[Tensor, Canvas]:
    """Seen from the cut-out's corner."""
    return keypoints - keypoints.new_tensor([left, top]), (height, width)


def center_crop(keypoints: Tensor, canvas_size: Canvas, output_size: int | Sequence[int]) -> tuple[Tensor, Canvas]:
    """Seen from the corner of the middle."""
    return crop(keypoints, *middle(canvas_size, output_size))


def pad(
    keypoints: Tensor, canvas_size: Canvas, padding: int | Sequence[int], padding_mode: str = "constant"
) -> tuple[Tensor, Canvas]:
    """Moved by the left and upper border."""
    dx, dy, canvas = padded(canvas_size, padding, padding_mode)
    return keypoints + keypoints.new_tensor([dx, dy]), canvas


def resize(
    keypoints: Tensor, size: int | Sequence[int] | None, canvas_size: Canvas, max_size: int | None = None
) -> tuple[Tensor, Canvas]:
    """Scaled with the picture."""
    old_height, old_width = canvas_size
    height, width = geometry.output_size(old_height, old_width, size, max_size)
    if (height, width) == (old_height, old_width):
        return keypoints, canvas_size
    factors = tenfold.tensor([width / old_width, height / old_height], device=keypoints.device)
    return keypoints.mul(factors).to(keypoints.dtype), (height, width)


def resized_crop(keypoints: Tensor, top: int, left: int, height: int, width: int, size: Sequence[int]) -> tuple[Tensor, Canvas]:
    """`crop`, then `resize`."""
    cut, canvas = crop(keypoints, top, left, height, width)
    return resize(cut, size, canvas)


def _each(keypoints: Tensor, move: Any) -> Tensor:
    values = keypoints if keypoints.is_floating_point() else keypoints.to(tenfold.get_default_dtype())
    return move(values.reshape(-1, 2)).reshape(keypoints.shape).to(keypoints.dtype)  # type: ignore[no-any-return]


def affine(
    keypoints: Tensor,
    canvas_size: Canvas,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    center: Sequence[float] | None = None,
) -> Tensor:
    """Rotated, shifted, scaled and sheared with the picture."""
    matrix = affine_map(canvas_size, angle, translate, scale, shear, center)
    return _each(keypoints, lambda places: through(matrix, places))


def rotate(
    keypoints: Tensor, canvas_size: Canvas, angle: float, expand: bool = False, center: Sequence[float] | None = None
) -> tuple[Tensor, Canvas]:
    """Rotated with the picture."""
    matrix, canvas = rotation_map(canvas_size, angle, expand, center)
    return _each(keypoints, lambda places: through(matrix, places)), canvas


def perspective(
    keypoints: Tensor,
    canvas_size: Canvas,
    startpoints: Any,
    endpoints: Any,
    coefficients: Sequence[float] | None = None,
) -> Tensor:
    """Pulled with the picture's corners."""
    matrix = perspective_map(startpoints, endpoints, coefficients)
    return _each(keypoints, lambda places: projected(matrix, places))


def elastic(keypoints: Tensor, canvas_size: Canvas, displacement: Tensor) -> Tensor:
    """Moved against the displacement, about as the picture's pixels are."""
    return _each(keypoints, lambda places: displaced(places, canvas_size, displacement))


def point_size(keypoints: Tensor, canvas_size: Canvas) -> list[int]:
    """Height and width of the canvas."""
    return list(canvas_size)
