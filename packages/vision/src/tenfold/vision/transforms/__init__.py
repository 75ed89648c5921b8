"""Transforms of images as callable objects; `functional` has the same as plain functions."""

from __future__ import annotations

from tenfold.vision.paths import show_paths
from tenfold.vision.transforms import functional
from tenfold.vision.transforms.autoaugment import AugMix, AutoAugment, AutoAugmentPolicy, RandAugment, TrivialAugmentWide
from tenfold.vision.transforms.compose import Compose, Lambda, RandomApply, RandomChoice, RandomOrder
from tenfold.vision.transforms.convert import ConvertImageDtype, Normalize, PILToTensor, RandomErasing, ToPILImage, ToTensor
from tenfold.vision.transforms.crops import CenterCrop, FiveCrop, RandomCrop, RandomResizedCrop, TenCrop
from tenfold.vision.transforms.interpolation import InterpolationMode
from tenfold.vision.transforms.jitter import ColorJitter, Grayscale, RandomGrayscale
from tenfold.vision.transforms.placement import (
    Pad,
    RandomAffine,
    RandomHorizontalFlip,
    RandomRotation,
    RandomVerticalFlip,
    Resize,
)
from tenfold.vision.transforms.retouch import (
    ElasticTransform,
    GaussianBlur,
    LinearTransformation,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomInvert,
    RandomPerspective,
    RandomPosterize,
    RandomSolarize,
)

__all__ = [
    "AugMix",
    "AutoAugment",
    "AutoAugmentPolicy",
    "RandAugment",
    "TrivialAugmentWide",
    "ElasticTransform",
    "GaussianBlur",
    "LinearTransformation",
    "RandomAdjustSharpness",
    "RandomAutocontrast",
    "RandomEqualize",
    "RandomInvert",
    "RandomPerspective",
    "RandomPosterize",
    "RandomSolarize",
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "ConvertImageDtype",
    "FiveCrop",
    "Grayscale",
    "InterpolationMode",
    "Lambda",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandomAffine",
    "RandomApply",
    "RandomChoice",
    "RandomCrop",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomOrder",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
    "TenCrop",
    "ToPILImage",
    "ToTensor",
    "functional",
]

show_paths(__name__)
