"""Where the pixels go: resizing, padding, mirroring, rotating and affine maps, fixed and random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold import Tensor, nn
from tenfold.vision.transforms import draws, geometry, warp
from tenfold.vision.transforms.conversion import Picture, get_dimensions
from tenfold.vision.transforms.interpolation import InterpolationMode, Mode, interpolation_mode


class Resize(nn.Module):
    """`functional.resize`: to (height, width), or the shorter edge to one number."""

    def __init__(
        self,
        size: Any,
        interpolation: Mode = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        if not isinstance(size, int | Sequence) or isinstance(size, str):
            raise TypeError(f"Resize: Size should be int or sequence, got {type(size).__name__}")
        if isinstance(size, Sequence) and len(size) not in (1, 2):
            raise ValueError(f"Resize: If size is a sequence, it should have 1 or 2 values, got {len(size)}")
        self.size = size
        self.interpolation = interpolation_mode("Resize", interpolation)
        self.max_size = max_size
        self.antialias = antialias

    def forward(self, img: Picture) -> Picture:
        return geometry.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self) -> str:
        details = (
            f"size={self.size}, interpolation={self.interpolation.value}, max_size={self.max_size}, antialias={self.antialias}"
        )
        return f"{type(self).__name__}({details})"


class Pad(nn.Module):
    """`functional.pad`: borders of ``fill``, or of the picture itself."""

    def __init__(self, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> None:
        super().__init__()
        if not isinstance(padding, int | Sequence):
            raise TypeError(f"Pad: Got inappropriate padding arg: {type(padding).__name__}")
        if padding_mode not in geometry.PADDING_MODES:
            raise ValueError(f"Pad: padding_mode should be one of {', '.join(geometry.PADDING_MODES)}, got {padding_mode!r}")
        if isinstance(padding, Sequence) and len(padding) not in (1, 2, 4):
            raise ValueError(f"Pad: Padding must be an int or a 1, 2, or 4 element sequence, not a {len(padding)} element one")
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def forward(self, img: Picture) -> Picture:
        return geometry.pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode})"


class RandomHorizontalFlip(nn.Module):
    """Mirror left and right with probability ``p``."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, img: Picture) -> Picture:
        return geometry.hflip(img) if draws.happens(self.p) else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class RandomVerticalFlip(nn.Module):
    """Mirror top and bottom with probability ``p``."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, img: Picture) -> Picture:
        return geometry.vflip(img) if draws.happens(self.p) else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class RandomRotation(nn.Module):
    """Rotate by an angle drawn from ``degrees``: (min, max), or -degrees..degrees."""

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: Mode = InterpolationMode.NEAREST,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Any = 0,
    ) -> None:
        super().__init__()
        self.degrees = draws.symmetric_range("RandomRotation", "degrees", degrees)
        self.interpolation = interpolation_mode("RandomRotation", interpolation)
        self.expand = expand
        self.center = center
        self.fill = 0 if fill is None else fill

    @staticmethod
    def get_params(degrees: list[float]) -> float:
        """Draw the angle."""
        return draws.uniform(degrees[0], degrees[1])

    def forward(self, img: Picture) -> Picture:
        return warp.rotate(img, self.get_params(self.degrees), self.interpolation, self.expand, self.center, self.fill)

    def __repr__(self) -> str:
        center = "" if self.center is None else f", center={self.center}"
        details = f"degrees={self.degrees}, interpolation={self.interpolation.value}, expand={self.expand}"
        return f"{type(self).__name__}({details}{center}, fill={self.fill})"


class RandomAffine(nn.Module):
    """Rotate, shift, scale and shear at random, keeping the picture's middle and size.

    ``translate`` bounds the shift as shares of width and height; ``shear`` is a range of x angles, or of x and of y angles.

    Raises:
        ValueError: a range is not of the length or sign that it needs.
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: Mode = InterpolationMode.NEAREST,
        fill: Any = 0,
        center: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        self.degrees = draws.symmetric_range("RandomAffine", "degrees", degrees)
        if translate is not None and (len(translate) != 2 or not all(0.0 <= share <= 1.0 for share in translate)):
            raise ValueError(f"RandomAffine: translation values should be two numbers between 0 and 1, got {translate!r}")
        if scale is not None and (len(scale) != 2 or min(scale) <= 0):
            raise ValueError(f"RandomAffine: scale values should be two positive numbers, got {scale!r}")
        self.translate = translate
        self.scale = scale
        self.shear = _shear_ranges(shear)
        self.interpolation = interpolation_mode("RandomAffine", interpolation)
        self.fill = 0 if fill is None else fill
        self.center = center

    @staticmethod
    def get_params(
        degrees: Sequence[float],
        translate: Sequence[float] | None,
        scale_ranges: Sequence[float] | None,
        shears: Sequence[float] | None,
        img_size: Sequence[int],
    ) -> tuple[float, tuple[int, int], float, tuple[float, float]]:
        """Draw angle, translation, scale and shear, in this order; ``img_size`` is (width, height)."""
        angle = draws.uniform(degrees[0], degrees[1])
        reach = [share * size for share, size in zip(translate or (), img_size, strict=False)]
        shift = [round(draws.uniform(-bound, bound)) for bound in reach] or [0, 0]
        scale = draws.uniform(scale_ranges[0], scale_ranges[1]) if scale_ranges is not None else 1.0
        shear_x = draws.uniform(shears[0], shears[1]) if shears is not None else 0.0
        shear_y = draws.uniform(shears[2], shears[3]) if shears is not None and len(shears) == 4 else 0.0
        return angle, (shift[0], shift[1]), scale, (shear_x, shear_y)

    def forward(self, img: Picture) -> Picture:
        channels, height, width = get_dimensions(img)
        fill = [float(self.fill)] * channels if isinstance(img, Tensor) and isinstance(self.fill, int | float) else self.fill
        params = self.get_params(self.degrees, self.translate, self.scale, self.shear, [width, height])
        return warp.affine(img, *params, interpolation=self.interpolation, fill=fill, center=self.center)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        parts = [f"degrees={self.degrees}"]
        for name in ("translate", "scale", "shear"):
            value = getattr(self, name)
            parts += [] if value is None else [f"{name}={value}"]
        parts += [] if self.interpolation is InterpolationMode.NEAREST else [f"interpolation={self.interpolation.value}"]
        parts += [] if self.fill == 0 else [f"fill={self.fill}"]
        parts += [] if self.center is None else [f"center={self.center}"]
        return f"{type(self).__name__}({', '.join(parts)})"


def _shear_ranges(shear: float | Sequence[float] | None) -> list[float] | None:
    if shear is None:
        return None
    if isinstance(shear, Sequence) and len(shear) == 4:
        return [float(bound) for bound in shear]
    return draws.symmetric_range("RandomAffine", "shear", shear)
