"""Checkpoints in the safetensors format, Tenfold's native one: tensors by name, no code, atomic writes.

A file is eight bytes with the length N of the header, N bytes of JSON (`{"name": {"dtype", "shape", "data_offsets"}}`, text
metadata under `__metadata__`), and the tensors' bytes without gaps. Source: https://github.com/huggingface/safetensors#format.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from tenfold.checkpoint.archive import mapped
from tenfold.checkpoint.errors import CheckpointError, located
from tenfold.checkpoint.files import Window, name_of, opened, replaced
from tenfold.ops.creation.factories import place
from tenfold.tensor.tensor import Tensor, host
from tenfold.types import dtypes

# The format's names of element types.
NAMES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint16": "U16",
    "uint32": "U32", "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "complex64": "C64",
}  # fmt: skip
DTYPES = {name: dtypes.BY_NAME[own] for own, name in NAMES.items()}
MAX_HEADER = 100_000_000  # bytes, the format's own limit
_METADATA = "__metadata__"


# Writing


def save_file(tensors: Mapping[str, Tensor], filename: str | os.PathLike[str], metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors and text metadata; the file is replaced at once, so that a crash leaves the old or the new one.

    >>> import tempfile, tenfold
    >>> from tenfold.checkpoint.safetensors import load_file, save_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_file({"w": tenfold.ones(2)}, folder + "/x.safetensors")
    ...     load_file(folder + "/x.safetensors")["w"]
    tensor([1., 1.])
    """
    arrays = {name: _array(name, t) for name, t in tensors.items()}
    ordered = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))  # so that every tensor is aligned
    header: dict[str, Any] = {_METADATA: _text(metadata)} if metadata else {}
    end = 0
    for name in ordered:
        start, end = end, end + arrays[name].nbytes
        kind = NAMES[tensors[name].dtype.name]
        header[name] = {"dtype": kind, "shape": list(arrays[name].shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with replaced(filename) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in ordered:
            file.write(memoryview(arrays[name].reshape(-1).view(np.uint8)))


def _array(name: Any, tensor: Any) -> Any:
    if not isinstance(name, str) or name == _METADATA:
        raise TypeError(f"save_file: expected names that are text and not {_METADATA!r}, got {name!r}")
    if not isinstance(tensor, Tensor):
        raise TypeError(f"save_file: expected a Tensor under {name!r}, got {type(tensor).__name__}")
    if tensor.dtype.name not in NAMES:
        raise TypeError(f"save_file: the safetensors format has no {tensor.dtype.name} ({name!r})")
    array = np.asarray(host(tensor.detach()), order="C")
    return array if array.dtype.byteorder != ">" else array.astype(array.dtype.newbyteorder("<"))


def _text(metadata: Mapping[str, str]) -> dict[str, str]:
    if not all(isinstance(part, str) for entry in metadata.items() for part in entry):
        raise TypeError("save_file: metadata is text by name; write other values with json.dumps")
    return dict(metadata)


# Reading


def load_file(filename: str | os.PathLike[str], device: Any = "cpu", mmap: bool = False) -> dict[str, Tensor]:
    """Read all tensors of a file; CheckpointError (a RuntimeError) when it is corrupt.

    With `mmap` tensors on the CPU lie in the file until they are used, so that it may be larger than the memory; writes do not
    go there.
    """
    name = name_of(filename)
    with opened(filename) as window:
        entries, start = _checked_entries(window, name)
        if mmap:
            memory = mapped(filename)
            return {tensor: place(_mapped_data(memory, start, entry), device) for tensor, entry in entries.items()}
        return {tensor: place(_data(window, name, tensor, start, entry), device) for tensor, entry in entries.items()}


def load_metadata(filename: str | os.PathLike[str]) -> dict[str, str]:
    """Read the text metadata of a file."""
    with opened(filename) as window, located(name_of(filename), "metadata"):
        found = _header(window)[0].get(_METADATA, {})
        if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
            raise TypeError("expected text by name")
        return found


_Entry = tuple[dtypes.dtype, tuple[int, ...], int, int]  # dtype, shape, begin, end


def _header(window: Window) -> tuple[dict[str, Any], int]:
    """The JSON of a file, and where the tensors' bytes start."""
    head = window.read(8) or b""
    length = int.from_bytes(head, "little")
    if len(head) < 8 or length > min(MAX_HEADER, window.size - 8):
        raise ValueError(f"a header of {length} bytes in a file of {window.size}")
    text = window.read(length) or b""
    if not text.startswith(b"{"):
        raise ValueError(f"the header begins with {text[:1]!r}, expected '{{'")
    return json.loads(text, object_pairs_hook=_without_repeats), 8 + length


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r} is there twice")
        found[name] = value
    return found


def _checked_entries(window: Window, name: str) -> tuple[dict[str, _Entry], int]:
    """What the header says of every tensor, compared with the file: nothing overlaps, nothing is left over."""
    with located(name, "header"):
        header, start = _header(window)
    header.pop(_METADATA, None)
    entries = {}
    for tensor, given in header.items():
        with located(name, f"tensor {tensor!r}"):
            entries[tensor] = _entry(given)
    end = 0
    for tensor, (_, _, first, last) in sorted(entries.items(), key=lambda item: item[1][2:]):
        if first != end:
            raise CheckpointError(f"its data begin at {first}, the one before ends at {end}", name, f"tensor {tensor!r}")
        end = last
    if start + end != window.size:
        raise CheckpointError(
            f"the tensors have {end} bytes, the file {window.size - start}; the file is corrupt or was cut short", name
        )
    return entries, start


def _entry(given: Any) -> _Entry:
    if not isinstance(given, dict) or set(given) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{given!r}, expected dtype, shape and data_offsets")
    dtype, shape, offsets = DTYPES.get(given["dtype"]), given["shape"], given["data_offsets"]
    if dtype is None:
        raise ValueError(f"dtype {given['dtype']!r}, expected one of {', '.join(DTYPES)}")
    for numbers in (shape, offsets):
        if not isinstance(numbers, list) or not all(type(n) is int and 0 <= n < 1 << 63 for n in numbers):
            raise ValueError(f"shape {shape!r} and data_offsets {offsets!r}, expected lists of integers that are not negative")
    first, last = offsets
    if last - first != prod(shape) * dtype.itemsize:
        raise ValueError(f"{last - first} bytes for shape {shape} of {dtype.name}")
    return dtype, tuple(shape), first, last


def _data(window: Window, file: str, tensor: str, start: int, entry: _Entry) -> Any:
    """The array of one tensor."""
    dtype, shape, first, last = entry
    with located(file, f"tensor {tensor!r}"):
        array = np.empty(last - first, np.uint8)
        window.seek(start + first)
        window.read_into(array)
        return _typed(array, dtype, shape)


def _mapped_data(memory: Any, start: int, entry: _Entry) -> Any:
    """The array of one tensor in a file's memory; one that does not lie as the processor reads it is copied."""
    dtype, shape, first, last = entry
    array = np.frombuffer(memory, np.uint8, last - first, start + first)
    return _typed(array if not (start + first) % dtype.itemsize else array.copy(), dtype, shape)


def _typed(array: Any, dtype: dtypes.dtype, shape: tuple[int, ...]) -> Any:
    if sys.byteorder == "little" or dtype.numpy.kind not in "iufc":
        return array.view(dtype.numpy).reshape(shape)
    return array.view(dtype.numpy.newbyteorder("<")).astype(dtype.numpy).reshape(shape)
