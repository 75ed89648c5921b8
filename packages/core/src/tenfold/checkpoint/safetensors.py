"""Checkpoints in the safetensors format, Tenfold's native one: tensors by name, no code, atomic writes.

Source: https://github.com/huggingface/safetensors (the library, an optional extra: pip install tenfold-core[safetensors]).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

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


def _library() -> Any:
    try:
        import safetensors
        import safetensors.numpy
    except ImportError as error:
        raise ImportError("checkpoints need the library safetensors: pip install 'tenfold-core[safetensors]'") from error
    return safetensors


def save_file(tensors: Mapping[str, Tensor], filename: str | os.PathLike[str], metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors and text metadata; the file is replaced at once, so that a crash leaves the old or the new one.

    >>> import tempfile, tenfold
    >>> from tenfold.checkpoint.safetensors import load_file, save_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_file({"w": tenfold.ones(2)}, folder + "/x.safetensors")
    ...     load_file(folder + "/x.safetensors")["w"]
    tensor([1., 1.])
    """
    entries = {}
    for name, t in tensors.items():
        if not isinstance(t, Tensor):
            raise TypeError(f"save_file: expected a Tensor under {name!r}, got {type(t).__name__}")
        kind = NAMES.get(t.dtype.name)
        if kind is None:
            raise TypeError(f"save_file: the safetensors format has no {t.dtype.name} ({name!r})")
        array = np.asarray(host(t.detach()), order="C")
        entries[name] = array
    data = _library().numpy.save(entries, metadata=dict(metadata) if metadata else None)
    write_atomically(Path(filename), data)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file under a temporary name, flush it to disk, then give it its name."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise


def _read(filename: str | os.PathLike[str]) -> tuple[list[Any], dict[str, str]]:
    import json

    data = Path(filename).read_bytes()
    try:
        entries = _library().deserialize(data)
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
    except ImportError:
        raise
    except Exception as error:
        raise RuntimeError(
            f"{os.fspath(filename)}: not a readable safetensors file ({len(data)} bytes): {error}. "
            f"The file is corrupt or was cut short; use another checkpoint"
        ) from error
    return entries, header.get("__metadata__", {})


def load_file(filename: str | os.PathLike[str], device: Any = "cpu") -> dict[str, Tensor]:
    """Read all tensors of a file; RuntimeError when it is corrupt."""
    entries, _ = _read(filename)
    found = {}
    for name, entry in entries:
        dtype = DTYPES[entry["dtype"]]
        array = np.frombuffer(bytearray(entry["data"]), dtype.numpy).reshape(entry["shape"])
        found[name] = place(array, device)
    return found


def load_metadata(filename: str | os.PathLike[str]) -> dict[str, str]:
    """Read the text metadata of a file."""
    return _read(filename)[1]
