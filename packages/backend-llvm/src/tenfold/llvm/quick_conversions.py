"""Conversions without a loop of their own or with a record, and the longer spellings of `to`: the operator beneath is called.

What they do not know is left to tenfold-core's functions, by NotImplemented or by any exception.
"""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import op
from tenfold.llvm.quick_views import here
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes
from tenfold.types.memory_format import preserve_format

_clone: Any = op.clone.fn
_to: Any = op.to.fn
_to_dtype: Any = op.to_dtype.fn


def _converter(target: Any) -> Any:
    def convert(input: Any) -> Any:
        if not here(input):
            return NotImplemented
        return input if input._array.dtype is target.numpy else _to_dtype(input, target)

    return convert


CONVERTERS = {
    d: _converter(d)
    for d in (
        dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16, dtypes.int64, dtypes.int32, dtypes.bool_,
        dtypes.int16, dtypes.int8, dtypes.uint8, dtypes.complex64, dtypes.complex128,
    )
}  # fmt: skip


def to(
    input: Any, *args: Any, dtype: Any = None, device: Any = None, non_blocking: Any = False, memory_format: Any = preserve_format
) -> Any:
    """To a dtype, to the CPU where the tensor is, as another tensor."""
    if not here(input) or memory_format is not preserve_format or type(non_blocking) is not bool:
        return NotImplemented
    copy = False
    if len(args) > 1 and type(args[-1]) is bool:  # non_blocking, which says nothing here, and copy
        copy = args[-1] if type(args[-2]) is bool else False
        args = args[:-2] if type(args[-2]) is bool else args[:-1]
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
        if copy:
            return _clone(input) if dtype is not None else NotImplemented
        return input if type(dtype) is dtypes.dtype or (dtype is None and device is not None) else NotImplemented
    if dtype not in CONVERTERS:
        return NotImplemented
    return _to_dtype(input, dtype) if len(args) == 1 and args[0] is dtype else _to(input, dtype)  # which has loops of its own
