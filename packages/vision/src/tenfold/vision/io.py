"""Reading and writing image files as uint8 tensors of shape (C, H, W), through Pillow."""

from __future__ import annotations

import os
from enum import Enum
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from tenfold import Tensor
from tenfold.vision.transforms.conversion import to_pil_image

Name = str | os.PathLike[str]


class ImageReadMode(Enum):
    """What colours an image is converted to when it is read."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4


PILLOW_MODES = {
    ImageReadMode.GRAY: "L",
    ImageReadMode.GRAY_ALPHA: "LA",
    ImageReadMode.RGB: "RGB",
    ImageReadMode.RGB_ALPHA: "RGBA",
}


def read_file(path: Name) -> Tensor:
    """The bytes of a file, as a 1-d uint8 tensor."""
    return tenfold.from_numpy(np.fromfile(path, dtype=np.uint8))


def write_file(filename: Name, data: Tensor) -> None:
    """Write a 1-d uint8 tensor to a file."""
    Path(filename).write_bytes(data.cpu().numpy().tobytes())


def read_image(path: Name, mode: ImageReadMode | str = ImageReadMode.UNCHANGED, apply_exif_orientation: bool = False) -> Tensor:
    """The image in a file; ``mode`` converts its colours, ``apply_exif_orientation`` turns it as the camera was held.

    Shape: (C, H, W), uint8 (uint16 for 16-bit grey).

    Raises:
        FileNotFoundError: there is no such file.
        RuntimeError: it holds no image that Pillow reads.
    """
    return decode_image(read_file(path), mode, apply_exif_orientation)


def decode_image(
    input: Tensor | Name, mode: ImageReadMode | str = ImageReadMode.UNCHANGED, apply_exif_orientation: bool = False
) -> Tensor:
    """The image in the bytes of a file (a 1-d uint8 tensor), or in the file of this name; see `read_image`."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    data = input if isinstance(input, Tensor) else read_file(input)
    try:
        image: Any = Image.open(BytesIO(data.cpu().numpy().tobytes()))
        image.load()
    except (UnidentifiedImageError, OSError) as error:
        raise RuntimeError(f"decode_image: the {len(data)} bytes are no image that can be read: {error}") from error
    if apply_exif_orientation:
        image = ImageOps.exif_transpose(image)
    values = np.array(_converted(image, mode))
    values = values[:, :, None] if values.ndim == 2 else values
    return tenfold.from_numpy(np.ascontiguousarray(values.transpose(2, 0, 1)))


def _converted(image: Any, mode: ImageReadMode | str) -> Any:
    chosen = ImageReadMode[mode.upper()] if isinstance(mode, str) else mode
    if chosen is not ImageReadMode.UNCHANGED:
        return image.convert(PILLOW_MODES[chosen])
    if image.mode == "P":
        return image.convert("RGBA" if "transparency" in image.info else "RGB")
    return image.convert("L") if image.mode == "1" else image


def _encoded(operator: str, input: Tensor, format: str, **options: Any) -> Tensor:
    if input.dtype != tenfold.uint8 or input.ndim != 3 or input.shape[0] not in (1, 3):
        raise RuntimeError(
            f"{operator}: The input should be uint8 of shape (1 or 3, H, W), got {input.dtype}, {tuple(input.shape)}"
        )
    file = BytesIO()
    to_pil_image(input).save(file, format=format, **options)
    return tenfold.from_numpy(np.frombuffer(file.getvalue(), dtype=np.uint8).copy())


def encode_png(input: Tensor, compression_level: int = 6) -> Tensor:
    """The bytes of a PNG file with this (C, H, W) uint8 image, C being 1 or 3.

    Raises:
        RuntimeError: another dtype or shape, or a level outside 0..9.
    """
    if not 0 <= compression_level <= 9:
        raise RuntimeError(f"encode_png: Compression level should be between 0 and 9, got {compression_level}")
    return _encoded("encode_png", input, "PNG", compress_level=compression_level)


def encode_jpeg(input: Tensor, quality: int = 75) -> Tensor:
    """The bytes of a JPEG file with this (C, H, W) uint8 image, C being 1 or 3.

    Raises:
        RuntimeError: another dtype or shape.
        ValueError: a quality outside 1..100.
    """
    if not 1 <= quality <= 100:
        raise ValueError(f"encode_jpeg: Image quality should be a positive number between 1 and 100, got {quality}")
    return _encoded("encode_jpeg", input, "JPEG", quality=quality)


def write_png(input: Tensor, filename: Name, compression_level: int = 6) -> None:
    """`encode_png` into a file."""
    write_file(filename, encode_png(input, compression_level))


def write_jpeg(input: Tensor, filename: Name, quality: int = 75) -> None:
    """`encode_jpeg` into a file."""
    write_file(filename, encode_jpeg(input, quality))
