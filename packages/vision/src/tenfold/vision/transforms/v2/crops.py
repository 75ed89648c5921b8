"""Cutting a part out: the middle, the corners, or somewhere at random."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.vision.ops.boxes import box_iou
from tenfold.vision.transforms import crops, draws, geometry
from tenfold.vision.transforms.conversion import is_pil_image
from tenfold.vision.transforms.v2 import functional as F
from tenfold.vision.transforms.v2.base import Transform
from tenfold.vision.transforms.v2.placement import padding_mode_of, padding_of
from tenfold.vision.transforms.v2.samples import get_bounding_boxes, has_all, has_any, query_size
from tenfold.vision.transforms.v2.settings import Fill, Mode, Size, fill_for, fills, two_sizes
from tenfold.vision.tv_tensors import BoundingBoxes, BoundingBoxFormat, Image, Mask, Video


class CenterCrop(Transform):
    """The middle, with zeros around it where it is smaller."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = two_sizes("CenterCrop", size)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.center_crop, inpt, output_size=self.size)


class RandomResizedCrop(Transform):
    """A rectangle of random area and shape, resized to ``size``; see `transforms.RandomResizedCrop`.

    Raises:
        TypeError: a range is no sequence of two numbers.
    """

    get_params = staticmethod(crops.RandomResizedCrop.get_params)

    def __init__(
        self,
        size: Size,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Mode = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.size = two_sizes("RandomResizedCrop", size)
        given: tuple[tuple[str, Any], ...] = (("Scale", scale), ("Ratio", ratio))
        for name, bounds in given:
            if not isinstance(bounds, Sequence) or len(bounds) != 2:
                raise TypeError(f"{name} should be a sequence of two floats.")
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warnings.warn("Scale and ratio should be of kind (min, max)", stacklevel=2)
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the rectangle."""
        height, width = query_size(flat_inputs)
        part = crops.random_part(height, width, self.scale, self.ratio)
        return dict(zip(("top", "left", "height", "width"), part, strict=True))

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        options: dict[str, Any] = {"interpolation": self.interpolation, "antialias": self.antialias}
        return self._call_kernel(F.resized_crop, inpt, **params, size=self.size, **options)


class RandomCrop(Transform):
    """A rectangle of this size from anywhere in the picture, which may be padded first.

    Raises:
        ValueError: the padded picture is smaller and ``pad_if_needed`` is False.
    """

    get_params = staticmethod(crops.RandomCrop.get_params)

    def __init__(
        self,
        size: Size,
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: Fill = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__()
        self.size = two_sizes("RandomCrop", size)
        left, top, right, bottom = geometry.borders_of(0 if padding is None else padding_of("RandomCrop", padding))
        self.padding = None if padding is None else [left, right, top, bottom]
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self._fill = fills(fill)
        self.padding_mode = padding_mode_of("RandomCrop", padding_mode)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the rectangle, after the borders that it needs."""
        height, width = query_size(flat_inputs)
        left, right, top, bottom = self.padding or [0, 0, 0, 0]
        wanted_height, wanted_width = self.size
        if self.pad_if_needed:
            lower, side = max(wanted_height - height - top - bottom, 0), max(wanted_width - width - left - right, 0)
            left, top, right, bottom = left + side, top + lower, right + side, bottom + lower
        height, width = height + top + bottom, width + left + right
        if height < wanted_height or width < wanted_width:
            raise ValueError(
                f"Required crop size {(wanted_height, wanted_width)} is larger than padded input image size {(height, width)}."
            )
        start = [draws.below(free + 1) if free else 0 for free in (height - wanted_height, width - wanted_width)]
        return {
            "padding": [left, top, right, bottom] if any((left, top, right, bottom)) else None,
            "part": (start[0], start[1], wanted_height, wanted_width),
        }

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        if params["padding"] is not None:
            fill = fill_for(self._fill, inpt)
            inpt = self._call_kernel(F.pad, inpt, padding=params["padding"], fill=fill, padding_mode=self.padding_mode)
        return self._call_kernel(F.crop, inpt, *params["part"])


class _SeveralCrops(Transform):
    """Crops of pictures and films alone: boxes and masks would not know which is theirs."""

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """Raises TypeError for a sample with boxes or masks."""
        if has_any(flat_inputs, BoundingBoxes, Mask):
            raise TypeError(f"BoundingBoxes'es and Mask's are not supported by {type(self).__name__}()")

    def _call_kernel(self, functional: Callable[..., Any], inpt: Any, *args: Any, **kwargs: Any) -> Any:
        """The crops; what has none is left as it is, with a warning for what should have."""
        if isinstance(inpt, BoundingBoxes | Mask):
            warnings.warn(
                f"{type(self).__name__}() is currently passing through inputs of type {type(inpt).__name__}.", stacklevel=2
            )
        return super()._call_kernel(functional, inpt, *args, **kwargs)


class FiveCrop(_SeveralCrops):
    """The four corners and the middle, as a tuple."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = two_sizes("FiveCrop", size)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.five_crop, inpt, self.size)


class TenCrop(_SeveralCrops):
    """The four corners and the middle of the picture and of its mirror image, as a tuple."""

    def __init__(self, size: Size, vertical_flip: bool = False) -> None:
        super().__init__()
        self.size = two_sizes("TenCrop", size)
        self.vertical_flip = vertical_flip

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.ten_crop, inpt, self.size, vertical_flip=self.vertical_flip)


class RandomIoUCrop(Transform):
    """A part in which some box keeps at least an overlap that is drawn from ``sampler_options``; 1 or more keeps all.

    Boxes whose centre is cut away become empty: `SanitizeBoundingBoxes` takes them out.

    Source: W. Liu and others, SSD, arXiv:1512.02325, section 2.2.
    """

    def __init__(
        self,
        min_scale: float = 0.3,
        max_scale: float = 1.0,
        min_aspect_ratio: float = 0.5,
        max_aspect_ratio: float = 2.0,
        sampler_options: list[float] | None = None,
        trials: int = 40,
    ) -> None:
        super().__init__()
        self.min_scale = min_scale
        self.max_scale = max_scale
        self.min_aspect_ratio = min_aspect_ratio
        self.max_aspect_ratio = max_aspect_ratio
        self.options = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0] if sampler_options is None else sampler_options
        self.trials = trials

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """Raises TypeError for a sample without picture or boxes."""
        if not has_all(flat_inputs, BoundingBoxes) or not has_any(flat_inputs, is_pil_image, Image, Video, F.is_pure_tensor):
            raise TypeError(f"{type(self).__name__}: a sample needs a picture and bounding boxes; one of them is missing")

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw overlaps and parts until one fits."""
        size = query_size(flat_inputs)
        known = get_bounding_boxes(flat_inputs)
        boxes = F.convert_bounding_box_format(known.as_subclass(Tensor), known.format, BoundingBoxFormat.XYXY)
        while True:
            least = self.options[draws.below(len(self.options))]
            if least >= 1.0:
                return {}
            for _ in range(self.trials):
                part = self._drawn(*size)
                within = None if part is None else _within(boxes, part, least)
                if part is not None and within is not None:
                    return {"part": part, "within": within}

    def _drawn(self, height: int, width: int) -> tuple[int, int, int, int] | None:
        """Top, left, height and width; None for a shape that is not allowed."""
        shares = self.min_scale + (self.max_scale - self.min_scale) * tenfold.rand(2)
        columns, rows = int(width * shares[0]), int(height * shares[1])
        if not self.min_aspect_ratio <= columns / rows <= self.max_aspect_ratio:
            return None
        place = tenfold.rand(2)
        left, top = int((width - columns) * place[0]), int((height - rows) * place[1])
        return (top, left, rows, columns) if rows and columns else None

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        if not params:
            return inpt
        cut = self._call_kernel(F.crop, inpt, *params["part"])
        if isinstance(cut, BoundingBoxes):
            cut[~params["within"]] = 0
        return cut


def _within(boxes: Tensor, part: tuple[int, int, int, int], least: float) -> Tensor | None:
    """Which boxes have their centre in the part; None where no overlap is large enough."""
    top, left, height, width = part
    window = tenfold.tensor([left, top, left + width, top + height], dtype=boxes.dtype, device=boxes.device)
    corners = boxes.unflatten(-1, (2, 2))
    centres, (lower, upper) = corners.sum(-2) * 0.5, window.view(2, 2)
    within = ((lower < centres) & (centres < upper)).all(-1)
    if not within.any():
        return None
    overlaps = box_iou(boxes[within], window.unsqueeze(0))
    return within if overlaps.max() >= least else None
