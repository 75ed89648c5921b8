"""Where things go: mirror images, sizes, borders, rotation and other maps, fixed and random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold.vision.transforms import draws, placement, retouch
from tenfold.vision.transforms.draws import symmetric_range
from tenfold.vision.transforms.geometry import PADDING_MODES
from tenfold.vision.transforms.v2 import functional as F
from tenfold.vision.transforms.v2.base import RandomApplied, Transform
from tenfold.vision.transforms.v2.samples import query_size
from tenfold.vision.transforms.v2.settings import Fill, Mode, Size, fill_for, fills, two_numbers


class RandomHorizontalFlip(RandomApplied):
    """Mirror left and right with probability ``p``."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.horizontal_flip, inpt)


class RandomVerticalFlip(RandomApplied):
    """Mirror top and bottom with probability ``p``."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.vertical_flip, inpt)


class Resize(Transform):
    """To (height, width), or the shorter edge to one number and the longer to at most ``max_size``.

    Raises:
        ValueError: the size is neither of these, or None without a ``max_size``.
    """

    def __init__(
        self,
        size: Size | None,
        interpolation: Mode = "bilinear",
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        if size is None and not isinstance(max_size, int):
            raise ValueError(f"max_size must be an integer when size is None, but got {max_size} instead.")
        fine = size is None or isinstance(size, int) or len(size) in (1, 2)
        if not fine:
            raise ValueError(f"size can be an integer, a sequence of one or two integers, or None, but got {size} instead.")
        self.size = None if size is None else [size] if isinstance(size, int) else list(size)
        self.interpolation = interpolation
        self.max_size = max_size
        self.antialias = antialias

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.resize, inpt, self.size, self.interpolation, self.max_size, self.antialias)


class _Resized(Transform):
    """To a size that is drawn."""

    interpolation: Mode
    antialias: bool | None

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.resize, inpt, size=params["size"], interpolation=self.interpolation, antialias=self.antialias)


class ScaleJitter(_Resized):
    """To a random scale of ``scale_range``, where 1 fits it into ``target_size``.

    Source: G. Ghiasi and others, Simple Copy-Paste is a Strong Data Augmentation Method, arXiv:2012.07177.
    """

    def __init__(
        self,
        target_size: tuple[int, int],
        scale_range: tuple[float, float] = (0.1, 2.0),
        interpolation: Mode = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.target_size = target_size
        self.scale_range = scale_range
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the size."""
        height, width = query_size(flat_inputs)
        low, high = self.scale_range
        scale = low + tenfold.rand(1) * (high - low)
        ratio = min(self.target_size[1] / height, self.target_size[0] / width) * scale
        return {"size": (int(height * ratio), int(width * ratio))}


class RandomShortestSize(_Resized):
    """The shorter edge to one of ``min_size``, the longer to at most ``max_size``."""

    def __init__(
        self,
        min_size: int | Sequence[int],
        max_size: int | None = None,
        interpolation: Mode = "bilinear",
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.min_size = [min_size] if isinstance(min_size, int) else list(min_size)
        self.max_size = max_size
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the size."""
        height, width = query_size(flat_inputs)
        ratio = self.min_size[draws.below(len(self.min_size))] / min(height, width)
        if self.max_size is not None:
            ratio = min(ratio, self.max_size / max(height, width))
        return {"size": (int(height * ratio), int(width * ratio))}


class RandomResize(_Resized):
    """The shorter edge to a number from ``min_size`` up to ``max_size``, without it."""

    def __init__(self, min_size: int, max_size: int, interpolation: Mode = "bilinear", antialias: bool | None = True) -> None:
        super().__init__()
        self.min_size = min_size
        self.max_size = max_size
        self.interpolation = interpolation
        self.antialias = antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the size."""
        return {"size": [int(tenfold.randint(self.min_size, self.max_size, ()))]}


def padding_mode_of(operator: str, padding_mode: str) -> str:
    """The mode.

    Raises:
        ValueError: there is no such mode.
    """
    if padding_mode not in PADDING_MODES:
        raise ValueError(f"{operator}: padding_mode should be one of {', '.join(PADDING_MODES)}, got {padding_mode!r}")
    return padding_mode


def padding_of(operator: str, padding: Any) -> Any:
    """One border for all, or a list of borders.

    Raises:
        TypeError: neither number nor sequence.
        ValueError: not one, two or four numbers.
    """
    if not isinstance(padding, int | Sequence):
        raise TypeError(f"{operator}: Got inappropriate padding arg: {padding!r}")
    if isinstance(padding, str) or (isinstance(padding, Sequence) and len(padding) not in (1, 2, 4)):
        raise ValueError(f"{operator}: Padding must be an int or a 1, 2, or 4 element sequence, not a {len(padding)} element one")
    return padding if isinstance(padding, int) else list(padding)


class Pad(Transform):
    """Borders of ``fill``, or of what ``padding_mode`` repeats."""

    def __init__(self, padding: int | Sequence[int], fill: Fill = 0, padding_mode: str = "constant") -> None:
        super().__init__()
        self.padding = padding_of("Pad", padding)
        self.fill = fill
        self._fill = fills(fill)
        self.padding_mode = padding_mode_of("Pad", padding_mode)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        fill = fill_for(self._fill, inpt)
        return self._call_kernel(F.pad, inpt, padding=self.padding, fill=fill, padding_mode=self.padding_mode)


class RandomZoomOut(RandomApplied):
    """Put the picture somewhere on a canvas of up to so many times its sides, with probability ``p``.

    Source: W. Liu and others, SSD, arXiv:1512.02325, section 3.6.

    Raises:
        ValueError: the sides do not grow.
    """

    def __init__(self, fill: Fill = 0, side_range: Sequence[float] = (1.0, 4.0), p: float = 0.5) -> None:
        super().__init__(p=p)
        self.fill = fill
        self._fill = fills(fill)
        if len(side_range) != 2 or not 1.0 <= side_range[0] <= side_range[1]:
            raise ValueError(f"Invalid side range provided {side_range}.")
        self.side_range = side_range

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the borders."""
        height, width = query_size(flat_inputs)
        low, high = self.side_range
        grown = low + tenfold.rand(1) * (high - low)
        columns, rows = int(width * grown), int(height * grown)
        place = tenfold.rand(2)
        left, top = int((columns - width) * place[0]), int((rows - height) * place[1])
        return {"padding": [left, top, columns - (left + width), rows - (top + height)]}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        return self._call_kernel(F.pad, inpt, **params, fill=fill_for(self._fill, inpt))


class RandomRotation(Transform):
    """By an angle drawn from ``degrees``: (min, max), or -degrees..degrees."""

    get_params = staticmethod(placement.RandomRotation.get_params)

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: Mode = "nearest",
        expand: bool = False,
        center: list[float] | None = None,
        fill: Fill = 0,
    ) -> None:
        super().__init__()
        self.degrees = symmetric_range("RandomRotation", "degrees", degrees)
        self.interpolation = interpolation
        self.expand = expand
        self.fill = fill
        self._fill = fills(fill)
        self.center = center

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the angle."""
        return {"angle": self.get_params(self.degrees)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        options: dict[str, Any] = {"expand": self.expand, "center": self.center, "fill": fill_for(self._fill, inpt)}
        return self._call_kernel(F.rotate, inpt, **params, interpolation=self.interpolation, **options)


class RandomAffine(Transform):
    """Rotate, shift, scale and shear at random; see `transforms.RandomAffine` for the ranges."""

    get_params = staticmethod(placement.RandomAffine.get_params)

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: Mode = "nearest",
        fill: Fill = 0,
        center: list[float] | None = None,
    ) -> None:
        super().__init__()
        ranges = placement.RandomAffine(degrees, translate, scale, shear)  # refuses what it cannot draw from
        self.degrees = ranges.degrees
        self.translate = translate
        self.scale = scale
        self.shear = ranges.shear
        self.interpolation = interpolation
        self.fill = fill
        self._fill = fills(fill)
        self.center = center

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the map."""
        height, width = query_size(flat_inputs)
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, [width, height])
        return dict(zip(("angle", "translate", "scale", "shear"), drawn, strict=True))

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        options: dict[str, Any] = {"fill": fill_for(self._fill, inpt), "center": self.center}
        return self._call_kernel(F.affine, inpt, **params, interpolation=self.interpolation, **options)


class RandomPerspective(RandomApplied):
    """Move the corners inwards at random, by up to ``distortion_scale`` of half the sides, with probability ``p``.

    Raises:
        ValueError: the scale is outside 0..1.
    """

    get_params = staticmethod(retouch.RandomPerspective.get_params)

    def __init__(self, distortion_scale: float = 0.5, p: float = 0.5, interpolation: Mode = "bilinear", fill: Fill = 0) -> None:
        super().__init__(p=p)
        if not 0 <= distortion_scale <= 1:
            raise ValueError(f"Argument distortion_scale value should be between 0 and 1, got {distortion_scale}")
        self.distortion_scale = distortion_scale
        self.interpolation = interpolation
        self.fill = fill
        self._fill = fills(fill)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the corners."""
        height, width = query_size(flat_inputs)
        start, end = self.get_params(width, height, self.distortion_scale)
        return {"startpoints": start, "endpoints": end}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        fill = fill_for(self._fill, inpt)
        return self._call_kernel(F.perspective, inpt, **params, fill=fill, interpolation=self.interpolation)


class ElasticTransform(Transform):
    """Shift pixels by a random smooth field: noise of -1..1, blurred by ``sigma``, times ``alpha`` pixels.

    Source: P. Y. Simard, D. Steinkraus, J. C. Platt, Best Practices for Convolutional Neural Networks, 2003, section 2.
    """

    get_params = staticmethod(retouch.ElasticTransform.get_params)

    def __init__(
        self,
        alpha: float | Sequence[float] = 50.0,
        sigma: float | Sequence[float] = 5.0,
        interpolation: Mode = "bilinear",
        fill: Fill = 0,
    ) -> None:
        super().__init__()
        self.alpha = two_numbers("ElasticTransform", "alpha", alpha)
        self.sigma = two_numbers("ElasticTransform", "sigma", sigma)
        self.interpolation = interpolation
        self.fill = fill
        self._fill = fills(fill)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the field."""
        return {"displacement": self.get_params(self.alpha, self.sigma, list(query_size(flat_inputs)))}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """The part changed."""
        fill = fill_for(self._fill, inpt)
        return self._call_kernel(F.elastic, inpt, **params, fill=fill, interpolation=self.interpolation)
