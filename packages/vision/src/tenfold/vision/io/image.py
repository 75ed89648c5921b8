"""Reading and writing image files as uint8 tensors of shape (C, H, W), through Pillow."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
    RGBA = RGB_ALPHA


PILLOW_MODES = {
    ImageReadMode.GRAY: "L",
    ImageReadMode.GRAY_ALPHA: "LA",
    ImageReadMode.RGB: "RGB",
    ImageReadMode.RGB_ALPHA: "RGBA",
}
OPAQUE = (ImageReadMode.UNCHANGED, ImageReadMode.GRAY, ImageReadMode.RGB)  # what a file without transparency is read as


def read_file(path: Name) -> Tensor:
    """The bytes of a file, as a 1-d uint8 tensor."""
    return tenfold.from_numpy(np.fromfile(path, dtype=np.uint8))


def write_file(filename: Name, data: Tensor) -> None:
    """Write a 1-d uint8 tensor to a file.

    Raises:
        RuntimeError: another dtype or shape.
    """
    if data.dtype != tenfold.uint8 or data.ndim != 1:
        raise RuntimeError(f"write_file: data should be a 1-d uint8 tensor, got {data.dtype} of shape {tuple(data.shape)}")
    Path(filename).write_bytes(data.cpu().numpy().tobytes())


def read_image(path: Name, mode: ImageReadMode | str = ImageReadMode.UNCHANGED, apply_exif_orientation: bool = False) -> Tensor:
    """The image in a file; ``mode`` converts its colours, ``apply_exif_orientation`` turns it as the camera was held.

    Shape: (C, H, W), uint8 (uint16 for 16 bits); (T, C, H, W) for a GIF of several pictures.

    Raises:
        FileNotFoundError: there is no such file.
        RuntimeError: it holds no image that Pillow reads.
    """
    return decode_image(read_file(path), mode, apply_exif_orientation)


def decode_image(
    input: Tensor | Name, mode: ImageReadMode | str = ImageReadMode.UNCHANGED, apply_exif_orientation: bool = False
) -> Tensor:
    """The image in the bytes of a file (a 1-d uint8 tensor), or in the file of this name; see `read_image`."""
    data = input if isinstance(input, Tensor) else read_file(input)
    image = _opened("decode_image", data)
    if image.format == "GIF":
        return _frames(image)
    if image.format == "PNG":
        return decode_png(data, mode, apply_exif_orientation)
    return _values(image, mode, apply_exif_orientation)


def decode_jpeg(
    input: Tensor | Sequence[Tensor],
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    device: Any = "cpu",
    apply_exif_orientation: bool = False,
) -> Any:
    """The image in the bytes of a JPEG file, or those in several, on a device.

    Shape: 1-d uint8 to (C, H, W) uint8; a list of the former to a list of the latter.

    Raises:
        RuntimeError: the bytes are no JPEG file, or ``mode`` asks for transparency, which JPEG has not.
    """
    if not isinstance(input, Tensor):
        return [decode_jpeg(data, mode, device, apply_exif_orientation) for data in input]
    if _chosen(mode) not in OPAQUE:
        raise RuntimeError(f"decode_jpeg: the mode should be UNCHANGED, GRAY or RGB, got {_chosen(mode).name}")
    return _values(_opened("decode_jpeg", input, "JPEG"), mode, apply_exif_orientation).to(device)


def decode_png(
    input: Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED, apply_exif_orientation: bool = False
) -> Tensor:
    """The image in the bytes of a PNG file; see `read_image`. Of 16 bits a colour it is uint16.

    Raises:
        RuntimeError: the bytes are no PNG file.
    """
    if _chosen(mode) in (ImageReadMode.UNCHANGED, ImageReadMode.RGB) and _is_deep(input):
        colours = _deep_values(input)
        return colours if _chosen(mode) is ImageReadMode.UNCHANGED else colours[:3]
    return _values(_opened("decode_png", input, "PNG"), mode, apply_exif_orientation)


def decode_gif(input: Tensor) -> Tensor:
    """The pictures in the bytes of a GIF file, in red, green and blue.

    Shape: (3, H, W) of one picture, (T, 3, H, W) of T pictures; uint8.

    Raises:
        RuntimeError: the bytes are no GIF file.
    """
    return _frames(_opened("decode_gif", input, "GIF"))


def decode_webp(input: Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED) -> Tensor:
    """The (first) image in the bytes of a WebP file; see `read_image`.

    Raises:
        RuntimeError: the bytes are no WebP file.
    """
    return _values(_opened("decode_webp", input, "WEBP"), mode)


def decode_avif(input: Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED) -> Tensor:
    """The image in the bytes of an AVIF file; see `read_image`.

    Raises:
        RuntimeError: the bytes are no AVIF file, or this build of Pillow reads none.
    """
    return _values(_opened("decode_avif", input, "AVIF"), mode)


def decode_heic(input: Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED) -> Tensor:
    """The image in the bytes of a HEIC file, through pillow-heif; see `read_image`.

    Raises:
        RuntimeError: the bytes are no HEIC file, or pillow-heif is not installed.
    """
    try:
        from pillow_heif import register_heif_opener  # type: ignore[import-not-found]
    except ImportError as error:
        raise RuntimeError("decode_heic: HEIC files are read by pillow-heif; pip install pillow-heif") from error
    register_heif_opener()
    return _values(_opened("decode_heic", input, "HEIF"), mode)


def _opened(operator: str, data: Tensor, format: str | None = None) -> Any:
    """The Pillow image in these bytes, read whole; in a file of one format, if that is named."""
    from PIL import Image

    if data.dtype != tenfold.uint8 or data.ndim != 1 or not len(data):
        raise RuntimeError(
            f"{operator}: input should be the bytes of a file, a non-empty 1-d uint8 tensor, "
            f"got {data.dtype} of shape {tuple(data.shape)}"
        )
    try:
        image = Image.open(BytesIO(data.cpu().numpy().tobytes()), formats=None if format is None else [format])
        image.load()
    except (OSError, SyntaxError, ValueError, KeyError) as error:  # Pillow's ways to say that a file is damaged
        kind = "image" if format is None else f"{format} image"
        raise RuntimeError(f"{operator}: the {len(data)} bytes are no {kind} that can be read: {error}") from error
    return image


def _values(image: Any, mode: ImageReadMode | str, apply_exif_orientation: bool = False) -> Tensor:
    """Of a Pillow image, (C, H, W)."""
    from PIL import ImageOps

    values = np.array(_converted(ImageOps.exif_transpose(image) if apply_exif_orientation else image, mode))
    values = values[:, :, None] if values.ndim == 2 else values
    return tenfold.from_numpy(np.ascontiguousarray(values.transpose(2, 0, 1)))


PNG_DEPTH, PNG_COLOURS = 24, 25  # places of these bytes in a PNG file; of the latter 2 is RGB, 6 RGBA


def _is_deep(data: Tensor) -> bool:
    """Whether this is a PNG file of 16 bits for each of several colours, which Pillow halves."""
    return len(data) > PNG_COLOURS and int(data[PNG_DEPTH]) == 16 and int(data[PNG_COLOURS]) in (2, 6)


def _deep_values(data: Tensor) -> Tensor:
    """The values of such a file: Pillow reads it twice, once the upper halves, once, as if they were these, the lower ones."""
    from PIL import Image

    halves = []
    for order in "BL":
        image: Any = Image.open(BytesIO(data.cpu().numpy().tobytes()), formats=["PNG"])
        image.tile = [tile._replace(args=f"{image.mode};16{order}") for tile in image.tile]
        try:
            image.load()
        except (OSError, SyntaxError) as error:
            raise RuntimeError(f"decode_png: the {len(data)} bytes are no PNG image that can be read: {error}") from error
        halves.append(np.asarray(image).astype(np.uint16))
    return tenfold.from_numpy(np.ascontiguousarray((halves[0] * 256 + halves[1]).transpose(2, 0, 1)))


def _frames(image: Any) -> Tensor:
    """All pictures of a film, or the one of a picture, in red, green and blue."""
    from PIL import ImageSequence

    frames = [_values(frame, ImageReadMode.RGB) for frame in ImageSequence.Iterator(image)]
    return frames[0] if len(frames) == 1 else tenfold.stack(frames)


def _chosen(mode: ImageReadMode | str) -> ImageReadMode:
    return ImageReadMode[mode.upper()] if isinstance(mode, str) else mode


def _converted(image: Any, mode: ImageReadMode | str) -> Any:
    chosen = _chosen(mode)
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


def encode_jpeg(input: Tensor | Sequence[Tensor], quality: int = 75) -> Any:
    """The bytes of a JPEG file with this (C, H, W) uint8 image, C being 1 or 3; of a list of images a list.

    Raises:
        RuntimeError: another dtype or shape.
        ValueError: a quality outside 1..100.
    """
    if not 1 <= quality <= 100:
        raise ValueError(f"encode_jpeg: Image quality should be a positive number between 1 and 100, got {quality}")
    if not isinstance(input, Tensor):
        return [encode_jpeg(image, quality) for image in input]
    return _encoded("encode_jpeg", input, "JPEG", quality=quality)


def write_png(input: Tensor, filename: Name, compression_level: int = 6) -> None:
    """`encode_png` into a file."""
    write_file(filename, encode_png(input, compression_level))


def write_jpeg(input: Tensor, filename: Name, quality: int = 75) -> None:
    """`encode_jpeg` into a file."""
    write_file(filename, encode_jpeg(input, quality))
