"""Points in the pixels of a canvas."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from tenfold import Tensor
from tenfold.vision.tv_tensors.wrapped import TVTensor


class KeyPoints(TVTensor):
    """Points (..., 2), x and y each, on a canvas of (height, width).

    >>> KeyPoints([[1, 2]], canvas_size=(8, 9))
    KeyPoints([[1, 2]], canvas_size=(8, 9))

    Raises:
        ValueError: the last dimension is not 2.
    """

    canvas_size: tuple[int, int]
    _details: ClassVar[tuple[str, ...]] = ("canvas_size",)

    def __new__(
        cls,
        data: Any,
        *,
        canvas_size: tuple[int, int],
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool | None = None,
    ) -> Self:
        made = cls._made(data, {"canvas_size": canvas_size}, dtype, device, requires_grad)
        if made.ndim == 1:
            made = cls._dressed(made.as_subclass(Tensor).unsqueeze(0), {"canvas_size": canvas_size})
        if made.shape[-1] != 2:
            raise ValueError(f"KeyPoints: points should be 2 dimensional, (..., 2), got shape {tuple(made.shape)}")
        return made
