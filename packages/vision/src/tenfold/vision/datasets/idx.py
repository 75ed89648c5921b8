"""The IDX file format of the MNIST family: two zero bytes, a type, the sizes, then the values, all big-endian.

Source: the format's description with the MNIST database, Y. LeCun, C. Cortes, C. Burges.
"""

from __future__ import annotations

import gzip
import lzma
import math
import os
from pathlib import Path

import numpy as np

import tenfold
from tenfold import Tensor

UNPACK = {".gz": gzip.decompress, ".xz": lzma.decompress}
DTYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: str | os.PathLike[str]) -> Tensor:
    """The array in an IDX file, plain or compressed (by its name's end, .gz or .xz).

    Raises:
        ValueError: the file does not start as IDX does, or has another length than its header says.
    """
    name = Path(path)
    data = UNPACK.get(name.suffix, bytes)(name.read_bytes())
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in DTYPES:
        raise ValueError(
            f"read_idx: {name} is not an IDX file: it starts with {data[:4].hex(' ')}, expected 00 00, a type and a rank"
        )
    dtype = np.dtype(DTYPES[data[2]])
    start = 4 + 4 * data[3]
    shape = tuple(np.frombuffer(data[4:start], ">u4").tolist())
    if len(data) != start + math.prod(shape) * dtype.itemsize:
        raise ValueError(f"read_idx: {name} has {len(data)} bytes, but its header announces shape {shape} of {dtype}")
    values = np.frombuffer(data, dtype, offset=start).reshape(shape)
    return tenfold.from_numpy(values.astype(dtype.newbyteorder("=")))
