"""Factories: tensors from data, from memory, uninitialised, filled."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from tenfold.dispatch import devices
from tenfold.dispatch.full import number
from tenfold.dispatch.operators import Data, composite
from tenfold.dispatch.services import SERVICES
from tenfold.ops.creation._data import on_gpu, to_array, too_large
from tenfold.settings.determinism import STATE as _DETERMINISM, fills_memory
from tenfold.settings.warnings import warn_once
from tenfold.tensor.storage import on_storage
from tenfold.tensor.tensor import Tensor, wrap
from tenfold.types import dtypes
from tenfold.types.dtypes import complex32, complex64, from_numpy as dtype_of, get_default_dtype
from tenfold.types.memory_format import strided
from tenfold.types.narrow import announce, limited, narrowed
from tenfold.types.numbers import element, require_value
from tenfold.types.numeric_limits import iinfo
from tenfold.types.promotion import number_dtype

Ints = Sequence[int]
_ZERO = 0


def place(array: Any, device: Any, requires_grad: bool | None = False) -> Tensor:
    """A tensor of a fresh NumPy array, on a device."""
    key = devices.located(device)
    result = wrap(key.backend.from_numpy(array, key.index), key)
    if requires_grad:
        result.requires_grad_(True)
    return result


def empty_on(shape: Sequence[int], dtype: Any, device: Any, requires_grad: bool = False) -> Tensor:
    """An uninitialised tensor."""
    key = devices.located(device)
    numpy_dtype = (dtype or get_default_dtype()).numpy
    shape = checked_size(shape, "empty")
    if dtype is dtypes.complex32:
        announce()
    try:
        made = key.backend.empty(shape, numpy_dtype, key.index)
    except devices.OutOfMemoryError:
        raise
    except (MemoryError, ValueError) as error:
        raise too_large(shape, numpy_dtype) from error
    result = wrap(made, key)
    if _DETERMINISM["on"]:
        fill_uninitialised(result)
    if requires_grad:
        result.requires_grad_(True)
    return result


def checked_size(size: Any, name: str = "size") -> tuple[int, ...]:
    """A size given as ints or one sequence, as a tuple; errors for negative and non-integer entries."""
    one = hasattr(size, "__index__") and not getattr(size, "shape", ())  # a number, also as a 0-d tensor
    try:
        size = (size,) if one else tuple(size)
        shape = tuple(map(index, size))
        if type(size[0] if size else 0) is bool:
            raise TypeError
    except (AttributeError, TypeError):
        raise TypeError(f"{name}: expected a sequence of ints, got {size!r}") from None
    if shape and min(shape) < 0:
        raise RuntimeError(f"{name}: Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    return shape


def filled(size: Any, value: Any, dtype: dtypes.dtype, name: str) -> Any:
    """A NumPy array of one value."""
    shape = checked_size(size, name)
    if dtype is dtypes.complex32:
        announce()
        value = narrowed(value)[()]
    elif dtype is dtypes.float8_e4m3fn:
        value = limited(value)
    try:
        return np.zeros(shape, dtype.numpy) if value is _ZERO else np.full(shape, value, dtype.numpy)
    except (MemoryError, ValueError) as error:
        raise too_large(shape, dtype.numpy) from error


def constant(size: Any, value: Any, dtype: dtypes.dtype, device: Any, requires_grad: bool, name: str) -> Tensor:
    """A tensor of one value; where the backend can repeat it, only that is copied."""
    backend = devices.located(device).backend
    if not backend.takes_numbers:
        return place(filled(size, value, dtype, name), device, requires_grad)
    return place(np.broadcast_to(filled((), value, dtype, name), checked_size(size, name)), device, requires_grad)


def fill_uninitialised(tensor: Tensor, start: int = 0) -> None:
    """With deterministic algorithms on, what no one wrote is NaN, or the largest integer, from an element on."""
    if not fills_memory() or tensor._key.device is devices.META:
        return
    rest = tensor._array if not start else tensor[start:]._array
    d = tensor.dtype
    value = True if d.category == 0 else iinfo(d).max if d.category == 1 else float("nan")
    if d.is_complex:
        value = complex(value, value)  # type: ignore[assignment]
    tensor._key.backend.write(rest, np.full((), element(value, d) if d is dtypes.complex32 else value, d.numpy))


@composite("creation", method=None)
def tensor(data: Data, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A new tensor with a copy of numbers, nested sequences, NumPy arrays, tensors.

    >>> import tenfold
    >>> tenfold.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if hasattr(data, "untyped"):  # a storage, with elements of a dtype or of bytes
        data = on_storage(data, dtype or getattr(data, "_dtype", dtypes.uint8))
    elif isinstance(data, Tensor):
        warnings.warn("To copy construct from a tensor, it is recommended to use source.detach().clone()", stacklevel=3)
    else:
        data = on_gpu(data)
    if isinstance(data, Tensor):
        result = data.detach().clone().to(dtype=dtype, device=device or devices.chosen())
        return result.requires_grad_(True) if requires_grad else result
    return place(to_array(data, dtype, True), device, requires_grad)


@composite("creation", method=None)
def as_tensor(data: Data, dtype: Any = None, device: Any = None) -> Tensor:
    """The data as a tensor, without a copy where it is a tensor or a NumPy array already.

    >>> import tenfold
    >>> x = tenfold.ones(1)
    >>> tenfold.as_tensor(x) is x
    True
    """
    device, data = device or devices.chosen(), on_gpu(data)
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)
    if isinstance(data, np.ndarray) and (dtype is None or dtype.numpy == data.dtype) and device in (None, "cpu", devices.CPU):
        return from_numpy(data)
    return place(to_array(data, dtype, False), device)


@composite("creation", method=None)
def from_numpy(ndarray: Any) -> Tensor:
    """A tensor on the memory of a NumPy array: writes show in both.

    >>> import numpy, tenfold
    >>> a = numpy.zeros(2)
    >>> tenfold.from_numpy(a)[0] = 5
    >>> a.tolist()
    [5.0, 0.0]
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy: expected np.ndarray (got {type(ndarray).__name__})")
    kind = dtype_of(ndarray.dtype).numpy
    if kind != ndarray.dtype:
        raise ValueError("from_numpy: given numpy array has byte order different from the native byte order")
    strides = ndarray.strides
    if any(map(ndarray.itemsize.__rmod__, strides)):
        raise ValueError(
            "from_numpy: given numpy array strides not a multiple of the element byte size; make a copy by array.copy()"
        )
    if strides and min(strides) < 0:
        raise ValueError(
            "from_numpy: at least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported; make a copy of your array with array.copy()."
        )
    if not ndarray.flags.writeable:
        why = "The given NumPy array is not writable, and PyTorch does not support non-writable tensors: pass array.copy()."
        warn_once("from_numpy read-only", why)
    # Subclasses, as of files, give results of their own class; an unpickled dtype is equal to the one kernels know, and another.
    ndarray = ndarray.view(kind, np.ndarray)
    if ndarray.base is not None and ndarray.flags.c_contiguous and ndarray.dtype.isbuiltin == 1:
        # The tensor's storage starts where the given array does, as in PyTorch.
        ndarray = np.ndarray(ndarray.shape, ndarray.dtype, ndarray.data)
    made = wrap(ndarray, devices.located(devices.CPU))
    made.untyped_storage().lent = True
    return made


@composite("creation", method=None)
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool | None = None
) -> Tensor:
    """The data as a tensor that shares its memory where that is possible; copy=True never does, copy=False must.

    requires_grad=None: as the tensor.

    >>> import tenfold
    >>> tenfold.asarray([1, 2])
    tensor([1, 2])
    """
    if isinstance(obj, np.generic) and copy is False:
        raise RuntimeError("asarray: can't alias NumPy scalars")
    device = device or devices.chosen()
    source = _aliased(obj := on_gpu(obj), dtype)
    if source is None:
        if copy is False:
            raise ValueError("asarray: can't alias arbitrary sequence into a tensor")
        return place(to_array(obj, dtype, False), device, requires_grad)
    if requires_grad is None and source.requires_grad:
        requires_grad = True
        warn_once("asarray", "asarray: the result requires gradients")
    made = source.to(dtype=dtype, device=source.device if device is None and isinstance(obj, Tensor) else device)
    if copy is False and made is not source:
        if made.device is not source.device:
            raise ValueError(f"asarray: can't alias tensor from device '{source.device}' to '{made.device}'.")
        raise ValueError(f"asarray: can't alias tensor with dtype '{source.dtype}' into dtype '{made.dtype}'.")
    if copy and made is source:
        made = made.clone()
    grad = bool(requires_grad)
    return made if made.requires_grad is grad else made.detach().requires_grad_(grad)


def _aliased(obj: Any, dtype: Any) -> Tensor | None:
    """A tensor on the memory that an object has: a tensor, an array, a DLPack capsule, a buffer; None for a sequence."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, np.ndarray):
        return from_numpy(obj)
    if type(obj).__name__ == "PyCapsule" or (hasattr(obj, "__dlpack__") and not hasattr(obj, "__array__")):
        return SERVICES.from_dlpack(obj)
    if isinstance(obj, (memoryview, bytes, bytearray)):
        return frombuffer(obj, dtype=dtype or get_default_dtype())
    return None


@composite("creation", method=None)
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-d tensor on the memory of an object with the buffer protocol.

    >>> import tenfold
    >>> tenfold.frombuffer(bytearray([1, 2, 3]), dtype=tenfold.uint8, offset=1)
    tensor([2, 3], dtype=tenfold.uint8)
    """
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("frombuffer: object does not implement Python buffer protocol.") from None
    size = view.nbytes
    if size == 0 or count == 0:
        raise ValueError(f"frombuffer: both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"frombuffer: offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} bytes) minus 1"
        )
    if view.readonly:
        warn_once(
            "frombuffer", "The given buffer is not writable. Writes through the tensor are undefined; copy the buffer to write"
        )
    if count < 0 and (size - offset) % dtype.itemsize:
        raise ValueError(
            f"frombuffer: buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a multiple of element size "
            f"({dtype.itemsize})"
        )
    if count > 0 and offset + count * dtype.itemsize > size:
        raise ValueError(
            f"frombuffer: requested buffer length ({count} * {dtype.itemsize} bytes) after offset ({offset} bytes) must not be "
            f"greater than actual buffer length ({size} bytes)"
        )
    result = wrap(np.frombuffer(buffer, dtype.numpy, count, offset), devices.located(devices.CPU))
    return result.requires_grad_(True) if requires_grad else result


@composite("creation", method=None)
def scalar_tensor(
    s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False
) -> Tensor:
    """A 0-d tensor of a number, in the default floating type unless a dtype is given.

    >>> import tenfold
    >>> tenfold.scalar_tensor(2)
    tensor(2.)
    """
    if dtype is None:
        dtype = dtypes.default_complex() if isinstance(s, complex) else get_default_dtype()
    return full((), s, dtype=dtype, device=device, requires_grad=requires_grad)


@composite("creation", method=None, out=True)
def empty(
    size: Ints, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """An uninitialised tensor.

    >>> import tenfold
    >>> tenfold.empty(2, 0).shape
    tenfold.Size([2, 0])
    """
    if layout is not None and layout is not strided:
        return _in_layout(size, layout, dtype, device, requires_grad)
    if memory_format is not None and memory_format.order:
        order = memory_format.order
        if len(size) != len(order):
            raise RuntimeError(f"empty: required rank {len(order)} tensor to use this memory format, got size {list(size)}")
        inverse = [order.index(d) for d in range(len(order))]
        base = empty_on([size[d] for d in order], dtype, device).permute(inverse)
        return base.requires_grad_(requires_grad)
    return empty_on(size, dtype, device, requires_grad)


@composite("creation", method=None)
def empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """An uninitialised tensor with given strides, counted in elements.

    >>> import tenfold
    >>> tenfold.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    size = checked_size(size, "empty_strided")
    if len(size) != len(stride):
        raise RuntimeError(
            f"empty_strided: dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})"
        )
    extent = 1 + sum((n - 1) * s for n, s in zip(size, stride)) if 0 not in size else 0
    made = empty_on((extent,), dtype, device).as_strided(size, tuple(stride))
    return made.requires_grad_(True) if requires_grad else made


@composite("creation", method=None, out=True)
def full(
    size: Any, fill_value: complex, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor filled with one value.

    >>> import tenfold
    >>> tenfold.full((2,), 7)
    tensor([7, 7])
    """
    if layout is not None and layout is not strided:
        raise _not_in_layout("full")
    if isinstance(fill_value, np.generic):
        fill_value = number(fill_value)
    if dtype is None:  # pairs of half precision are made only where they are asked for
        dtype = complex64 if number_dtype(fill_value) is complex32 else number_dtype(fill_value)
    require_value(fill_value, dtype)
    return constant(size, element(fill_value, dtype), dtype, device, requires_grad, "full")


@composite("creation", method=None, out=True)
def zeros(
    size: Ints, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of zeros.

    >>> import tenfold
    >>> tenfold.zeros(2)
    tensor([0., 0.])
    """
    if layout is not None and layout is not strided:
        return _in_layout(size, layout, dtype, device, requires_grad)
    return constant(size, _ZERO, dtype or get_default_dtype(), device, requires_grad, "zeros")


@composite("creation", method=None, out=True)
def ones(
    size: Ints, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of ones.

    >>> import tenfold
    >>> tenfold.ones(2)
    tensor([1., 1.])
    """
    if layout is not None and layout is not strided:
        raise _not_in_layout("ones")
    return constant(size, 1, dtype or get_default_dtype(), device, requires_grad, "ones")


def _in_layout(size: Any, layout: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """A tensor without stored elements; the layouts are tenfold-sparse's."""
    made: Tensor = SERVICES.without_elements(
        checked_size(size, "zeros"), layout, dtype=dtype, device=device, requires_grad=requires_grad
    )
    return made


def _not_in_layout(name: str) -> RuntimeError:
    return RuntimeError(f"{name}(...) is not implemented for sparse layout: make it dense, then to_sparse()")
