"""Image files and films as tensors, and tensors as image files and films."""

from __future__ import annotations

from tenfold.vision.io.image import (
    ImageReadMode,
    decode_avif,
    decode_gif,
    decode_heic,
    decode_image,
    decode_jpeg,
    decode_png,
    decode_webp,
    encode_jpeg,
    encode_png,
    read_file,
    read_image,
    write_file,
    write_jpeg,
    write_png,
)
from tenfold.vision.io.reader import VideoReader
from tenfold.vision.io.video import read_video, read_video_timestamps, write_video

__all__ = [
    "ImageReadMode",
    "VideoReader",
    "decode_avif",
    "decode_gif",
    "decode_heic",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "decode_webp",
    "encode_jpeg",
    "encode_png",
    "read_file",
    "read_image",
    "read_video",
    "read_video_timestamps",
    "write_file",
    "write_jpeg",
    "write_png",
    "write_video",
]
