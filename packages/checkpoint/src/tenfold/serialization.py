"""`tenfold.serialization`: saving and loading under PyTorch's module name."""

import os
from collections.abc import Callable
from typing import IO, Any, TypeAlias

from tenfold.checkpoint.archive import reading, writing
from tenfold.checkpoint.errors import CheckpointError
from tenfold.checkpoint.files import is_zipfile, open_file_like
from tenfold.checkpoint.legacy import MAGIC_NUMBER, PROTOCOL_VERSION
from tenfold.checkpoint.options import (
    MAP_PRIVATE,
    MAP_SHARED,
    LoadEndianness,
    add_safe_globals,
    clear_safe_globals,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    get_safe_globals,
    location_tag,
    register_package,
    safe_globals,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)
from tenfold.checkpoint.places import (
    SourceChangeWarning,
    default_restore_location,
    normalize_storage_type,
)
from tenfold.checkpoint.rebuilding import layout_of
from tenfold.checkpoint.serialization import DEFAULT_PROTOCOL, get_unsafe_globals_in_checkpoint, load, save
from tenfold.checkpoint.torch_names import torch_names
from tenfold.dispatch.devices import device

__all__ = [
    "DEFAULT_PROTOCOL", "MAGIC_NUMBER", "MAP_PRIVATE", "MAP_SHARED", "PROTOCOL_VERSION", "CheckpointError", "LoadEndianness",
    "SourceChangeWarning", "add_safe_globals", "clear_safe_globals", "default_restore_location", "get_crc32_options",
    "get_default_load_endianness", "get_default_mmap_options",
    "get_safe_globals", "get_unsafe_globals_in_checkpoint", "load", "location_tag", "normalize_storage_type",
    "register_package", "safe_globals", "save", "set_crc32_options", "set_default_load_endianness",
    "set_default_mmap_options", "skip_data",
    "torch_names",
]  # fmt: skip

FILE_LIKE: TypeAlias = str | os.PathLike[str] | IO[bytes]
FileLike: TypeAlias = FILE_LIKE
MAP_LOCATION: TypeAlias = Callable[[Any, str], Any] | device | str | dict[str, str] | None

# PyTorch's own names for what programs use that look into the archive.
_open_zipfile_reader, _open_zipfile_writer = reading, writing
_get_layout = layout_of
_is_zipfile, _open_file_like = is_zipfile, open_file_like
