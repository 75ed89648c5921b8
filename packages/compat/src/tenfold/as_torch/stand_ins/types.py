"""`torch.types`: names for annotations."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO, Any, TypeAlias

import tenfold

__all__ = ["Device", "FileLike", "Number", "Storage"]

Number: TypeAlias = builtins.int | builtins.float | builtins.bool
Device: TypeAlias = tenfold.device | str | builtins.int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Storage = tenfold.UntypedStorage

_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex
_dtype, _device, _layout, _qscheme = tenfold.dtype, tenfold.device, tenfold.layout, type(None)
_size: object = tenfold.Size | list[builtins.int] | tuple[builtins.int, ...]
_symsize: object = tenfold.Size | Sequence[Any]
_dispatchkey: object = str
_TensorOrTensors: object = tenfold.Tensor | Sequence[tenfold.Tensor]
_TensorOrTensorsOrGradEdge: object = Any
SymInt, PySymType = builtins.int, Any
IntLikeType: TypeAlias = builtins.int
FloatLikeType: TypeAlias = builtins.float
BoolLikeType: TypeAlias = builtins.bool
py_sym_types = ()
