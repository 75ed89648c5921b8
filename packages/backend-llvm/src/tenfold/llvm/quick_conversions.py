"""Conversions of tensors that lie in one piece to the dtypes for which there is no loop of their own, and the longer spellings of `to`.

NumPy converts as in tenfold-core's kernel. What is recorded, and what they do not know, is left to core's functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import op
from tenfold.llvm.quick_views import free, here
from tenfold.tensor.tensor import Tensor, wrap
from tenfold.types import dtypes

SOURCES = frozenset(np.dtype(name) for name in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "?"))
DOUBLE = np.dtype(np.float64)
_to: Any = op.to.fn


@quiet
def _cast(array: Any, dtype: Any) -> Any:
    return array.astype(dtype)


def _converter(target: Any) -> Any:
    numpy_dtype = target.numpy

    def convert(input: Any) -> Any:
        array = input._array
        if not free(input) or array.dtype not in SOURCES or not array.flags.forc:
            return NotImplemented
        if array.dtype is numpy_dtype:
            return input
        if target is dtypes.uint8 and array.dtype is DOUBLE:  # which goes by way of int64
            return NotImplemented
        return wrap(_cast(array, numpy_dtype), CPU)

    return convert


CONVERTERS = {
    d: _converter(d) for d in (dtypes.int16, dtypes.int8, dtypes.uint8, dtypes.complex64, dtypes.complex128)
}  # fmt: skip


def to(input: Any, *args: Any, dtype: Any = None, device: Any = None) -> Any:
    """To a dtype, to the CPU where the tensor is, as another tensor."""
    if not here(input):
        return NotImplemented
    for a in args:
        if type(a) is dtypes.dtype and dtype is None:
            dtype = a
        elif type(a) is Tensor and a._key is CPU and dtype is None:
            dtype = a.dtype
        elif device is None and (a is CPU or a == "cpu"):
            device = CPU
        else:
            return NotImplemented
    if device is not None and device is not CPU and device != "cpu":
        return NotImplemented
    if dtype is None or input._array.dtype is dtype.numpy:
        return input if type(dtype) is dtypes.dtype or (dtype is None and device is not None) else NotImplemented
    convert = CONVERTERS.get(dtype)
    if convert is not None:
        return convert(input)
    return _to(input, dtype) if len(args) != 1 or args[0] is not dtype else NotImplemented
