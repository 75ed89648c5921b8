"""Pixels: a picture, the frames of a film, and masks."""

from __future__ import annotations

from typing import Any, Self

from tenfold import Tensor
from tenfold.vision.transforms.conversion import is_pil_image, pil_to_tensor
from tenfold.vision.tv_tensors.wrapped import TVTensor


def _values(data: Any) -> Any:
    """Those of a PIL image as (C, H, W)."""
    if isinstance(data, Tensor):
        return data
    return pil_to_tensor(data) if is_pil_image(data) else data


class Image(TVTensor):
    """A picture (..., C, H, W); (H, W) becomes (1, H, W). A PIL image's values are taken as they are.

    >>> Image([[0, 255]]).shape
    tenfold.Size([1, 1, 2])

    Raises:
        ValueError: fewer than two dimensions.
    """

    def __new__(cls, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool | None = None) -> Self:
        made = cls._made(_values(data), {}, dtype, device, requires_grad)
        if made.ndim < 2:
            raise ValueError(f"Image: data should have at least two dimensions (H, W), got shape {tuple(made.shape)}")
        return made if made.ndim > 2 else cls._dressed(made.as_subclass(Tensor).unsqueeze(0), {})


class Video(TVTensor):
    """The frames of a film, (..., T, C, H, W).

    Raises:
        ValueError: fewer than four dimensions.
    """

    def __new__(cls, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool | None = None) -> Self:
        made = cls._made(data, {}, dtype, device, requires_grad)
        if made.ndim < 4:
            raise ValueError(f"Video: data should have at least four dimensions (T, C, H, W), got shape {tuple(made.shape)}")
        return made


class Mask(TVTensor):
    """The class of each pixel (H, W), or a mask of each object (N, H, W). It is never interpolated between classes.

    >>> Mask([[0, 1]])
    Mask([[0, 1]])
    """

    def __new__(cls, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool | None = None) -> Self:
        return cls._made(_values(data), {}, dtype, device, requires_grad)
