"""How pictures are prepared for published checkpoints, as ``weights.transforms()`` gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.transforms import conversion, geometry
from tenfold.vision.transforms.conversion import Picture
from tenfold.vision.transforms.interpolation import InterpolationMode

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet's channels
VIDEO_MEAN, VIDEO_STD = (0.43216, 0.394666, 0.37645), (0.22803, 0.22145, 0.216989)  # of Kinetics' channels


class ImageClassification(nn.Module):
    """Resize the shorter edge, cut out the middle, scale to 0..1 and normalize.

    Shape: a PIL image, (C, H, W) or (N, C, H, W) -> the same with height and width ``crop_size``, floating point.
    """

    def __init__(
        self,
        *,
        crop_size: int,
        resize_size: int = 256,
        mean: Sequence[float] = MEAN,
        std: Sequence[float] = STD,
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.crop_size, self.resize_size = [crop_size], [resize_size]
        self.mean, self.std = list(mean), list(std)
        self.interpolation, self.antialias = interpolation, antialias

    def forward(self, img: Picture) -> Tensor:
        resized = geometry.resize(img, self.resize_size, interpolation=self.interpolation, antialias=self.antialias)
        values = _as_floats(geometry.center_crop(resized, self.crop_size))
        return conversion.normalize(values, mean=self.mean, std=self.std)

    def __repr__(self) -> str:
        return _described(self, "crop_size", "resize_size", "mean", "std", "interpolation")


class ObjectDetection(nn.Module):
    """Scale to 0..1; detectors resize and normalize by themselves."""

    def forward(self, img: Picture) -> Tensor:
        return _as_floats(img)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class SemanticSegmentation(nn.Module):
    """Resize the shorter edge (unless ``resize_size`` is None), scale to 0..1 and normalize."""

    def __init__(
        self,
        *,
        resize_size: int | None,
        mean: Sequence[float] = MEAN,
        std: Sequence[float] = STD,
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.resize_size = None if resize_size is None else [resize_size]
        self.mean, self.std = list(mean), list(std)
        self.interpolation, self.antialias = interpolation, antialias

    def forward(self, img: Picture) -> Tensor:
        if self.resize_size is not None:
            img = geometry.resize(img, self.resize_size, interpolation=self.interpolation, antialias=self.antialias)
        return conversion.normalize(_as_floats(img), mean=self.mean, std=self.std)

    def __repr__(self) -> str:
        return _described(self, "resize_size", "mean", "std", "interpolation")


class VideoClassification(nn.Module):
    """Every frame resized and its middle cut out, scaled to 0..1 and normalized; channels come before frames.

    Shape: (T, C, H, W) or (N, T, C, H, W), uint8 or floating point -> (C, T, h, w) or (N, C, T, h, w).
    """

    def __init__(
        self,
        *,
        crop_size: tuple[int, int],
        resize_size: tuple[int] | tuple[int, int],
        mean: Sequence[float] = VIDEO_MEAN,
        std: Sequence[float] = VIDEO_STD,
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
    ) -> None:
        super().__init__()
        self.crop_size, self.resize_size = list(crop_size), list(resize_size)
        self.mean, self.std = list(mean), list(std)
        self.interpolation = interpolation

    def forward(self, vid: Tensor) -> Tensor:
        clips = vid.unsqueeze(0) if vid.ndim == 4 else vid
        frames = clips.flatten(0, 1)  # (N * T, C, H, W)
        frames = geometry.resize(frames, self.resize_size, interpolation=self.interpolation, antialias=False)
        frames = geometry.center_crop(frames, self.crop_size)
        frames = conversion.convert_image_dtype(frames, tenfold.float32)
        frames = conversion.normalize(frames, mean=self.mean, std=self.std)
        prepared = frames.unflatten(0, clips.shape[:2]).permute(0, 2, 1, 3, 4)  # (N, C, T, h, w)
        return prepared.squeeze(0) if vid.ndim == 4 else prepared

    def __repr__(self) -> str:
        return _described(self, "crop_size", "resize_size", "mean", "std", "interpolation")


class OpticalFlow(nn.Module):
    """Both pictures scaled to -1..1.

    Shape: two PIL images, (C, H, W) or (N, C, H, W) -> two of the latter, floating point.
    """

    def forward(self, img1: Picture, img2: Picture) -> tuple[Tensor, Tensor]:
        half = [0.5, 0.5, 0.5]
        first, second = (conversion.normalize(_as_floats(image), mean=half, std=half) for image in (img1, img2))
        return first.contiguous(), second.contiguous()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _as_floats(img: Any) -> Tensor:
    pixels = img if isinstance(img, Tensor) else conversion.pil_to_tensor(img)
    return conversion.convert_image_dtype(pixels, tenfold.float32)


def _described(preset: nn.Module, *names: str) -> str:
    return "\n".join([f"{type(preset).__name__}(", *(f"    {name}={getattr(preset, name)}" for name in names), ")"])
