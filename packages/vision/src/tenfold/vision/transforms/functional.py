"""Every transform as a function with its parameters given, for PIL images and tensors."""

from __future__ import annotations

from tenfold.vision.transforms.blur import adjust_sharpness, gaussian_blur
from tenfold.vision.transforms.color import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    rgb_to_grayscale,
    to_grayscale,
)
from tenfold.vision.transforms.conversion import (
    convert_image_dtype,
    erase,
    get_dimensions,
    get_image_num_channels,
    get_image_size,
    normalize,
    pil_to_tensor,
    to_pil_image,
    to_tensor,
)
from tenfold.vision.transforms.distortion import elastic_transform, perspective
from tenfold.vision.transforms.geometry import center_crop, crop, five_crop, hflip, pad, resize, resized_crop, ten_crop, vflip
from tenfold.vision.transforms.interpolation import InterpolationMode
from tenfold.vision.transforms.tones import autocontrast, equalize, invert, posterize, solarize
from tenfold.vision.transforms.warp import affine, rotate

__all__ = [
    "adjust_sharpness",
    "gaussian_blur",
    "elastic_transform",
    "perspective",
    "autocontrast",
    "equalize",
    "invert",
    "posterize",
    "solarize",
    "InterpolationMode",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "affine",
    "center_crop",
    "convert_image_dtype",
    "crop",
    "erase",
    "five_crop",
    "get_dimensions",
    "get_image_num_channels",
    "get_image_size",
    "hflip",
    "normalize",
    "pad",
    "pil_to_tensor",
    "resize",
    "resized_crop",
    "rgb_to_grayscale",
    "rotate",
    "ten_crop",
    "to_grayscale",
    "to_pil_image",
    "to_tensor",
    "vflip",
]
