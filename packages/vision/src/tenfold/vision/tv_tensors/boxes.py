"""Boxes around things, in the pixels of a canvas."""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar, Self

from tenfold import Tensor
from tenfold.vision.tv_tensors.wrapped import TVTensor

CLAMPING_MODES = ("hard", "soft", None)


class BoundingBoxFormat(Enum):
    """What a box's numbers are: X and Y a corner, C the centre, W and H the size, R the angle in degrees.

    XYXYXYXY has the four corners of a turned box.
    """

    XYXY = "XYXY"
    XYWH = "XYWH"
    CXCYWH = "CXCYWH"
    XYWHR = "XYWHR"
    CXCYWHR = "CXCYWHR"
    XYXYXYXY = "XYXYXYXY"


ROTATED = (BoundingBoxFormat.XYWHR, BoundingBoxFormat.CXCYWHR, BoundingBoxFormat.XYXYXYXY)
NUMBERS = {BoundingBoxFormat.XYWHR: 5, BoundingBoxFormat.CXCYWHR: 5, BoundingBoxFormat.XYXYXYXY: 8}


def box_format(value: BoundingBoxFormat | str) -> BoundingBoxFormat:
    """The format, given as itself or by its name in any case.

    Raises:
        KeyError: there is no format of this name.
    """
    return value if isinstance(value, BoundingBoxFormat) else BoundingBoxFormat[value.upper()]


def is_rotated_bounding_format(format: BoundingBoxFormat | str) -> bool:
    """Whether boxes of this format may stand at an angle.

    >>> is_rotated_bounding_format("xywhr")
    True
    """
    return box_format(format) in ROTATED


class BoundingBoxes(TVTensor):
    """Boxes (N, 4) of a format on a canvas of (height, width); those that may be turned have 5 or 8 numbers.

    ``clamping_mode`` says whether transforms keep them on the canvas: "hard", "soft" (turned boxes may reach out a
    little, as they do after a rotation), or None for not at all.

    >>> BoundingBoxes([[1, 2, 3, 4]], format="xyxy", canvas_size=(8, 9)).canvas_size
    (8, 9)

    Raises:
        ValueError: another number of dimensions, of numbers, or another mode.
    """

    format: BoundingBoxFormat
    canvas_size: tuple[int, int]
    clamping_mode: str | None
    _details: ClassVar[tuple[str, ...]] = ("format", "canvas_size", "clamping_mode")

    def __new__(
        cls,
        data: Any,
        *,
        format: BoundingBoxFormat | str,
        canvas_size: tuple[int, int],
        clamping_mode: str | None = "soft",
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool | None = None,
    ) -> Self:
        if clamping_mode not in CLAMPING_MODES:
            raise ValueError(f"BoundingBoxes: clamping_mode should be 'hard', 'soft' or None, got {clamping_mode!r}")
        details = {"format": box_format(format), "canvas_size": canvas_size, "clamping_mode": clamping_mode}
        made = cls._made(data, details, dtype, device, requires_grad)
        if made.ndim not in (1, 2):
            raise ValueError(f"BoundingBoxes: data should have one or two dimensions, got shape {tuple(made.shape)}")
        if made.ndim == 1:
            numbers = NUMBERS.get(box_format(format), 4)
            if made.numel() == 0:
                return cls._dressed(made.as_subclass(Tensor).reshape(0, numbers), details)
            return cls._dressed(made.as_subclass(Tensor).unsqueeze(0), details)
        return made
