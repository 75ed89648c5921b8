"""Copies and conversions: dtype, device, memory layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.dispatch import devices
from tenfold.dispatch.devices import device
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, primitive
from tenfold.dispatch.spellings import PYTHON_TYPES
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes
from tenfold.types.dtypes import dtype, get_default_dtype
from tenfold.types.memory_format import contiguous_format, memory_format, preserve_format, suggested_format

Ints = Sequence[Any]


@primitive("conversion")
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy with memory of its own; it keeps the strides' order unless a memory format is given.

    >>> import tenfold
    >>> x = tenfold.ones(1)
    >>> x.clone().data_ptr() == x.data_ptr()
    False
    """


@clone.rule
def _(input: Any, memory_format: Any) -> Meta:
    order = (memory_format or preserve_format).order_for(input)
    strides = [0] * len(order)
    step = input.dtype.itemsize
    for d in reversed(order):
        strides[d] = step
        step *= max(input.shape[d], 1)
    return Meta(input.shape, input.dtype, strides)


@primitive("conversion", method=None, name="to_dtype", ends_graph="integers")
def _to_dtype(input: Tensor, dtype: Any) -> Tensor:
    """The elements converted to a dtype, in new memory: what `Tensor.to(dtype)` runs.

    >>> import tenfold
    >>> tenfold.op.to_dtype(tenfold.tensor([1.5]), tenfold.int64)
    tensor([1])
    """


@_to_dtype.rule
def _(input: Any, dtype: Any) -> Meta:
    scale = dtype.itemsize
    return Meta(input.shape, dtype.numpy, [s // input.dtype.itemsize * scale for s in input.strides])


@primitive("conversion", method=None, name="to_device", moves=True)
def _to_device(input: Tensor, device: Any, non_blocking: bool = False) -> Tensor:
    """A copy on another device: what `Tensor.to(device)` runs; with `non_blocking` it may still be under way.

    >>> import tenfold
    >>> tenfold.op.to_device(tenfold.ones(2), tenfold.device("cpu"))
    tensor([1., 1.])
    """


@_to_device.rule
def _(input: Any, device: Any, non_blocking: bool) -> Any:
    if device is not devices.META:
        raise NotImplementedError(f"to_device: Cannot copy out of meta tensor; no data! Create it on {device} instead")
    return input, device


@composite("conversion")
def contiguous(input: Tensor, memory_format: Any = contiguous_format) -> Tensor:
    """The tensor itself when it lies in row-major order (or in the memory format), else such a copy.

    >>> import tenfold
    >>> tenfold.ones(2, 3).T.contiguous().stride()
    (2, 1)
    """
    return input if input.is_contiguous(memory_format) else clone(input, memory_format=memory_format)


@composite("conversion")
def to(
    input: Tensor, args: Ints = (), *, dtype: Any = None, device: Any = None, non_blocking: bool = False, copy: bool = False,
    memory_format: Any = preserve_format,
) -> Tensor:  # fmt: skip
    """Convert to a dtype, a device, or those of another tensor; the tensor itself when nothing changes.

    >>> import tenfold
    >>> tenfold.ones(1).to(tenfold.int64)
    tensor([1])
    """
    dtype, device = _targets(args, dtype, device)
    result = input
    if device is not None:
        target = devices.located(device)
        if target is not input.device:
            read = target is devices.CPU and (dtype not in (None, input.dtype) or memory_format.order)  # below, at once
            result = _to_device(result, target, non_blocking and not read)
    if dtype is not None and dtype is not input.dtype:
        result = _to_dtype(result, dtype)
    if result is input and copy:
        return clone(input, memory_format=memory_format)
    if memory_format.order is not None and (
        suggested_format(result._array) is not memory_format or (result is not input and not result.is_contiguous(memory_format))
    ):
        return clone(result, memory_format=memory_format)
    return result


def _targets(args: Any, wanted: Any, where: Any) -> tuple[Any, Any]:
    """PyTorch's overloads: to(dtype), to(device), to(device, dtype), to(other)."""
    for a in args if type(args) is tuple else (args,):
        if isinstance(a, dtype):
            wanted = a
        elif isinstance(a, (device, str, int)) and not isinstance(a, bool):
            where = a
        elif isinstance(a, Tensor):
            wanted, where = a.dtype, a.device
        elif isinstance(a, type) and a in PYTHON_TYPES:
            wanted = PYTHON_TYPES[a]
        elif a is not None and not isinstance(a, (bool, memory_format)):
            raise TypeError(f"to(): expected a dtype, a device or a Tensor, got {type(a).__name__}")
    return wanted, where


@composite("conversion", mixed=True)
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """In the dtype of another tensor, on its device.

    >>> import tenfold
    >>> tenfold.ones(1).type_as(tenfold.tensor([1])).dtype
    tenfold.int64
    """
    return to(input, other)


@composite("conversion")
def cpu(input: Tensor, memory_format: Any = preserve_format) -> Tensor:
    """On the CPU.

    >>> import tenfold
    >>> tenfold.ones(1).cpu().is_cpu
    True
    """
    return to(input, devices.CPU, memory_format=memory_format)


def _converter(name: str, target: dtype) -> Any:
    def convert(self: Tensor, memory_format: Any = preserve_format) -> Tensor:
        if self._array.dtype is target.numpy and memory_format is preserve_format:
            return self
        return to(self, target, memory_format=memory_format)

    convert.__name__, convert.__qualname__ = name, f"Tensor.{name}"
    convert.__doc__ = f"Converted to {target.name}: `to(tenfold.{target.name})`."
    return convert


for _name, _target in {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16,
    "long": dtypes.int64, "int": dtypes.int32, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8,
    "bool": dtypes.bool_, "chalf": dtypes.complex32, "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
}.items():  # fmt: skip
    setattr(Tensor, _name, _converter(_name, _target))


@composite("conversion")
def cuda(input: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = preserve_format) -> Tensor:
    """On a CUDA device, the current one when none is named.

    >>> import tenfold
    >>> tenfold.ones(1).cuda("cpu")
    Traceback (most recent call last):
    RuntimeError: cuda: Invalid device, must be cuda device, got cpu
    """
    if isinstance(device, int):
        device = f"cuda:{device}"
    if device is not None and str(device).partition(":")[0] != "cuda":
        raise RuntimeError(f"cuda: Invalid device, must be cuda device, got {device}")
    return to(input, "cuda" if device is None else device, non_blocking=non_blocking, memory_format=memory_format)


# PyTorch's names of tensor types, as `Tensor.type()` gives and takes them.
TYPE_NAMES = {
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long", "int32": "Int",
    "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "complex32": "ComplexHalf",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}  # fmt: skip


def _type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type, such as "torch.FloatTensor"; with a dtype or such a name, the conversion to it."""
    if dtype is None:
        place = "" if self.device is devices.CPU else f"{self.device.type}."
        return f"torch.{place}{TYPE_NAMES.get(self.dtype.name, self.dtype.name)}Tensor"
    if not isinstance(dtype, str):
        device = getattr(dtype, "device_type", None)  # of a typed tensor class
        dtype = get_default_dtype() if dtype is Tensor else getattr(dtype, "dtype", dtype)
        if isinstance(dtype, type):
            raise ValueError(f"type(): invalid type: {dtype.__name__!r}")
        return to(self, device, dtype) if device else to(self, dtype)
    *prefix, kind = dtype.removeprefix("torch.").removeprefix("tenfold.").split(".")
    for name, title in TYPE_NAMES.items():
        if kind == title + "Tensor":
            return to(self, prefix[0] if prefix else "cpu", dtypes.BY_NAME[name])
    raise ValueError(f"type(): invalid type: {dtype!r}; expected a dtype or one of {', '.join(TYPE_NAMES.values())} + 'Tensor'")


Tensor.type = _type  # type: ignore[method-assign, assignment]
