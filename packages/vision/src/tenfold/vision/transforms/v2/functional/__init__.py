"""Every transform as a function that does to pictures, films, masks, boxes and points what is right for each.

What they do to one kind is here as well under the kind's name: ``resize_mask``, ``rotate_bounding_boxes``.
"""

from __future__ import annotations

from typing import Any

from tenfold.vision.transforms.interpolation import InterpolationMode
from tenfold.vision.transforms.v2.functional.boxes import (
    clamp_bounding_boxes,
    clamp_keypoints,
    convert_bounding_box_format,
    sanitize_bounding_boxes,
    sanitize_keypoints,
)
from tenfold.vision.transforms.v2.functional.conversion import (
    convert_image_dtype,
    get_dimensions,
    get_image_num_channels,
    get_image_size,
    get_num_channels,
    get_num_frames,
    get_size,
    normalize,
    pil_to_tensor,
    to_dtype,
    to_image,
    to_pil_image,
    to_tensor,
    uniform_temporal_subsample,
)
from tenfold.vision.transforms.v2.functional.dispatching import KINDS, is_pure_tensor, kernel_of, register_kernel
from tenfold.vision.transforms.v2.functional.placement import (
    affine,
    center_crop,
    crop,
    elastic,
    elastic_transform,
    five_crop,
    hflip,
    horizontal_flip,
    pad,
    perspective,
    resize,
    resized_crop,
    rotate,
    ten_crop,
    vertical_flip,
    vflip,
)
from tenfold.vision.transforms.v2.functional.values import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    adjust_sharpness,
    autocontrast,
    equalize,
    erase,
    gaussian_blur,
    gaussian_noise,
    grayscale_to_rgb,
    invert,
    jpeg,
    permute_channels,
    posterize,
    rgb_to_grayscale,
    solarize,
    to_grayscale,
)

__all__ = [
    "InterpolationMode",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "affine",
    "autocontrast",
    "center_crop",
    "clamp_bounding_boxes",
    "clamp_keypoints",
    "convert_bounding_box_format",
    "convert_image_dtype",
    "crop",
    "elastic",
    "elastic_transform",
    "equalize",
    "erase",
    "five_crop",
    "gaussian_blur",
    "gaussian_noise",
    "get_dimensions",
    "get_image_num_channels",
    "get_image_size",
    "get_num_channels",
    "get_num_frames",
    "get_size",
    "grayscale_to_rgb",
    "hflip",
    "horizontal_flip",
    "invert",
    "is_pure_tensor",
    "jpeg",
    "normalize",
    "pad",
    "permute_channels",
    "perspective",
    "pil_to_tensor",
    "posterize",
    "register_kernel",
    "resize",
    "resized_crop",
    "rgb_to_grayscale",
    "rotate",
    "sanitize_bounding_boxes",
    "sanitize_keypoints",
    "solarize",
    "ten_crop",
    "to_dtype",
    "to_grayscale",
    "to_image",
    "to_pil_image",
    "to_tensor",
    "uniform_temporal_subsample",
    "vertical_flip",
    "vflip",
]


def __getattr__(name: str) -> Any:
    """The kernel of one kind, such as ``crop_mask``."""
    for kind in KINDS:
        function = globals().get(name.removesuffix(f"_{kind}")) if name.endswith(f"_{kind}") else None
        kernel = None if function is None else kernel_of(function, kind)
        if kernel is not None:
            return kernel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
