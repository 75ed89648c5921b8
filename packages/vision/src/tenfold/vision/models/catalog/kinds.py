"""The kinds of published checkpoints, by what they were trained on."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files
from typing import Any

from tenfold.vision.models.weights import BASE_URL, Weights
from tenfold.vision.transforms import presets
from tenfold.vision.transforms.interpolation import InterpolationMode

BODY_POINTS = ("eye", "ear", "shoulder", "elbow", "wrist", "hip", "knee", "ankle")
KEYPOINTS = ("nose", *(f"{side}_{point}" for point in BODY_POINTS for side in ("left", "right")))


@cache
def classes(name: str) -> list[str]:
    """The names of a data set's classes, in its order."""
    return files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8").splitlines()


def _checkpoint(
    file: str,
    num_params: int,
    metrics: dict[str, dict[str, float]],
    ops: float,
    file_size: float,
    transforms: Callable[..., Any],
    min_size: tuple[int, int] = (1, 1),
    **meta: Any,
) -> Weights:
    """``ops`` counts multiply-adds of one example in thousand millions, ``file_size`` is in MB."""
    known = {"num_params": num_params, "min_size": min_size, "_metrics": metrics, "_ops": ops, "_file_size": file_size}
    return Weights(BASE_URL + file, transforms, {**known, **meta})


def imagenet(
    file: str,
    num_params: int,
    accuracy: tuple[float, float] | None,
    ops: float,
    file_size: float,
    min_size: tuple[int, int] = (1, 1),
    license: str | None = None,
    interpolation: str = "bilinear",
    **preset: Any,
) -> Weights:
    """Trained on ImageNet's thousand classes; ``accuracy`` is that of the first guess and of the first five, in percent."""
    first, five = accuracy if accuracy is not None else (math.nan, math.nan)  # None: features without a classifier
    top = {"ImageNet-1K": {"acc@1": first, "acc@5": five}}
    prepare = partial(presets.ImageClassification, **preset, interpolation=InterpolationMode(interpolation))
    more: dict[str, Any] = {} if license is None else {"license": license}
    return _checkpoint(file, num_params, top, ops, file_size, prepare, min_size, categories=classes("imagenet"), **more)


def coco(file: str, num_params: int, average_precision: tuple[float, ...], ops: float, file_size: float) -> Weights:
    """A detector trained on COCO, its average precision of boxes and, where it finds them, of masks."""
    metrics = {"COCO-val2017": dict(zip(("box_map", "mask_map"), average_precision, strict=False))}
    return _checkpoint(file, num_params, metrics, ops, file_size, presets.ObjectDetection, categories=classes("coco"))


def keypoints(file: str, num_params: int, average_precision: tuple[float, float], ops: float, file_size: float) -> Weights:
    """A detector of people and of seventeen points on them."""
    metrics = {"COCO-val2017": {"box_map": average_precision[0], "kp_map": average_precision[1]}}
    names: dict[str, Any] = {"categories": ["no person", "person"], "keypoint_names": list(KEYPOINTS)}
    return _checkpoint(file, num_params, metrics, ops, file_size, presets.ObjectDetection, **names)


def voc(file: str, num_params: int, quality: tuple[float, float], ops: float, file_size: float, resize_size: int) -> Weights:
    """Segmentation trained on COCO's pictures of Pascal VOC's twenty classes; ``quality`` is mean IoU and pixel accuracy."""
    metrics = {"COCO-val2017-VOC-labels": {"miou": quality[0], "pixel_acc": quality[1]}}
    prepare = partial(presets.SemanticSegmentation, resize_size=resize_size)
    return _checkpoint(file, num_params, metrics, ops, file_size, prepare, categories=classes("voc"))


def kinetics(
    file: str,
    num_params: int,
    accuracy: tuple[float, float],
    ops: float,
    file_size: float,
    min_size: tuple[int, int] = (1, 1),
    min_temporal_size: int = 1,
    license: str | None = None,
    **preset: Any,
) -> Weights:
    """Trained on the four hundred classes of Kinetics' videos."""
    top = {"Kinetics-400": {"acc@1": accuracy[0], "acc@5": accuracy[1]}}
    prepare = partial(presets.VideoClassification, **preset)
    more: dict[str, Any] = {"categories": classes("kinetics400"), "min_temporal_size": min_temporal_size}
    more |= {} if license is None else {"license": license}
    return _checkpoint(file, num_params, top, ops, file_size, prepare, min_size, **more)


def optical_flow(file: str, num_params: int, ops: float, file_size: float, metrics: dict[str, dict[str, float]]) -> Weights:
    """Trained to find where pixels go."""
    return _checkpoint(file, num_params, metrics, ops, file_size, presets.OpticalFlow, min_size=(128, 128))
