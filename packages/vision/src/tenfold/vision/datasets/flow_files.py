"""Files of optical flow and of disparity: Middlebury's .flo, portable float maps, and 16-bit PNG as KITTI has it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from tenfold.vision.datasets.published import Name
from tenfold.vision.io import decode_png, read_file

FLO_TAG = b"PIEH"


def read_flo(path: Name) -> Any:
    """The flow in a .flo file: (2, H, W) float32, right and down.

    Raises:
        ValueError: the file does not begin as such files do, or has another length than it says.

    Source: S. Baker and others, A Database and Evaluation Methodology for Optical Flow, 2011.
    """
    data = Path(path).read_bytes()
    width, height = np.frombuffer(data[4:12], "<i4").tolist() if len(data) >= 12 else (0, 0)
    if data[:4] != FLO_TAG or len(data) != 12 + 8 * width * height:
        raise ValueError(f"read_flo: {path} is no .flo file: it has {len(data)} bytes and begins with {data[:4]!r}")
    return np.frombuffer(data, "<f4", offset=12).reshape(height, width, 2).transpose(2, 0, 1)


def read_pfm(path: Name, channels: int) -> Any:
    """The first channels of a portable float map: (channels, H, W) float32, whose rows lie from the lowest up in the file.

    Raises:
        ValueError: the file does not begin as such files do, or has another length than it says.

    Source: P. Debevec, Portable Float Maps, 1998.
    """
    data = Path(path).read_bytes()
    head = re.match(rb"P([Ff])\s+(\d+)\s+(\d+)\s+([-+.\deE]+)[ \t]*\r?\n", data)
    if head is None:
        raise ValueError(f"read_pfm: {path} is no portable float map: it begins with {data[:12]!r}")
    width, height, planes = int(head[2]), int(head[3]), 3 if head[1] == b"F" else 1
    values = np.frombuffer(data[head.end() :], "<f4" if float(head[4]) < 0 else ">f4")
    if values.size != width * height * planes:
        raise ValueError(f"read_pfm: {path} has {values.size} values, but says {planes} of {width}x{height}")
    upright = values.reshape(height, width, planes)[::-1].transpose(2, 0, 1)
    return upright[:channels].astype(np.float32)


def read_kitti_flow(path: Name) -> tuple[Any, Any]:
    """The flow in a 16-bit PNG file, (2, H, W) float32, and where it is known, (H, W) bool.

    Source: M. Menze, A. Geiger, Object Scene Flow for Autonomous Vehicles, 2015, its development kit.
    """
    values = decode_png(read_file(path)).to(tenfold.float32).numpy()
    return (values[:2] - 2**15) / 64, values[2] != 0
