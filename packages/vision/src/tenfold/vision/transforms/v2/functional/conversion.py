"""What pictures are: their sizes, dtypes, and the way to and from Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms import conversion
from tenfold.vision.transforms.v2.functional import box_kernels, points
from tenfold.vision.transforms.v2.functional.dispatching import dispatches
from tenfold.vision.tv_tensors import Image

pil_to_tensor = conversion.pil_to_tensor
to_pil_image = conversion.to_pil_image


@dispatches(conversion.get_dimensions)
def get_dimensions(inpt: Any) -> list[int]:
    """Channels, height and width."""
    raise NotImplementedError


def _channels(image: Any) -> int:
    return conversion.get_dimensions(image)[0]


@dispatches(_channels)
def get_num_channels(inpt: Any) -> int:
    """How many channels it has."""
    raise NotImplementedError


get_image_num_channels = get_num_channels


def _size(image: Any) -> list[int]:
    return conversion.get_dimensions(image)[1:]


@dispatches(_size, mask=_size, bounding_boxes=box_kernels.box_size, keypoints=points.point_size)
def get_size(inpt: Any) -> list[int]:
    """Height and width of the picture or the canvas.

    >>> get_size(tenfold.zeros(3, 4, 5))
    [4, 5]
    """
    raise NotImplementedError


@dispatches(conversion.get_image_size)
def get_image_size(inpt: Any) -> list[int]:
    """Width and height, in this order."""
    raise NotImplementedError


def _frames(video: Tensor) -> int:
    return int(video.shape[-4])


@dispatches(_frames, pil=False)
def get_num_frames(inpt: Any) -> int:
    """How many pictures a film (..., T, C, H, W) has."""
    raise NotImplementedError


def _subsampled(video: Tensor, num_samples: int) -> Tensor:
    frames = video.shape[-4]
    if num_samples <= 0:
        raise ValueError(f"uniform_temporal_subsample: num_samples should be positive, got {num_samples}")
    places = tenfold.linspace(0, frames - 1, num_samples, device=video.device).to(tenfold.int64)
    return video.index_select(-4, places)


@dispatches(_subsampled, pil=False)
def uniform_temporal_subsample(inpt: Any, num_samples: int) -> Any:
    """As many frames, at even distances from the first to the last."""


def _cast(image: Tensor, dtype: tenfold.dtype = tenfold.float32, scale: bool = False) -> Tensor:
    if not scale:
        return image.to(dtype)
    if image.dtype == dtype:
        return image
    if dtype.is_floating_point and not image.is_floating_point():
        return conversion.scaled_to_floats(image, dtype)
    if not image.is_floating_point():
        for given in (image.dtype, dtype):
            conversion.value_bits("to_dtype", given)  # a mask has no range to be scaled
    return conversion.convert_image_dtype(image, dtype)


def _cast_plain(inpt: Tensor, dtype: tenfold.dtype = tenfold.float32) -> Tensor:
    return inpt.to(dtype)


@dispatches(_cast, pil=False, mask=_cast_plain, bounding_boxes=_cast_plain, keypoints=_cast_plain)
def to_dtype(inpt: Any, dtype: tenfold.dtype = tenfold.float32, scale: bool = False) -> Any:
    """Another dtype; ``scale`` brings a picture's full range to that of the other.

    >>> to_dtype(tenfold.tensor([[[0, 255]]], dtype=tenfold.uint8), tenfold.float32, scale=True)
    tensor([[[0., 1.]]])
    """


def convert_image_dtype(image: Any, dtype: tenfold.dtype = tenfold.float32) -> Any:
    """`to_dtype` with its range."""
    return to_dtype(image, dtype, scale=True)


@dispatches(conversion.normalize, pil=False)
def normalize(inpt: Any, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> Any:
    """``(value - mean) / std`` for every channel of floats."""


def to_image(inpt: Any) -> Image:
    """A PIL image, an array (H, W[, C]) or a tensor as `tv_tensors.Image`, its values as they are.

    >>> to_image(np.zeros((4, 5, 3), np.uint8)).shape
    tenfold.Size([3, 4, 5])

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(inpt, np.ndarray):
        cube = inpt[:, :, None] if inpt.ndim == 2 else inpt
        return Image(tenfold.from_numpy(np.ascontiguousarray(np.moveaxis(cube, -1, -3))))
    if isinstance(inpt, Tensor):
        return Image(inpt)
    if conversion.is_pil_image(inpt):
        return Image(conversion.pil_to_tensor(inpt))
    raise TypeError(f"Input can either be a pure Tensor, a numpy array, or a PIL image, but got {type(inpt)} instead.")


def to_tensor(inpt: Any) -> Tensor:
    """A PIL image or array as a (C, H, W) tensor, bytes scaled to 0..1; rather take `to_image` and `to_dtype`."""
    return conversion.to_tensor(inpt)
