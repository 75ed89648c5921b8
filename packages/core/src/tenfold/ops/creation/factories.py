"""Factories: tensors from data, filled, ranges, and the like."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from tenfold.dispatch import devices
from tenfold.dispatch.operators import composite
from tenfold.tensor.tensor import Tensor, host, wrap
from tenfold.types import dtypes
from tenfold.types.dtypes import from_numpy as dtype_of, get_default_dtype
from tenfold.types.promotion import number_dtype

Ints = Sequence[int]


def place(array: Any, device: Any, requires_grad: bool = False) -> Tensor:
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
    result = wrap(key.backend.empty(checked_size(shape, "empty"), numpy_dtype, key.index), key)
    if requires_grad:
        result.requires_grad_(True)
    return result


def checked_size(size: Any, name: str = "size") -> tuple[int, ...]:
    """A size given as ints or one sequence, as a tuple; errors for negative and non-integer entries."""
    if isinstance(size, (int, np.integer)):
        size = (size,)
    try:
        shape = tuple(map(index, size))
    except (AttributeError, TypeError):
        raise TypeError(f"{name}: expected a sequence of ints, got {size!r}") from None
    if shape and min(shape) < 0:
        raise RuntimeError(f"{name}: Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    return shape


def legacy_tensor(data: tuple[Any, ...], device: Any) -> Tensor:
    """`Tensor(...)`: sizes give an uninitialised tensor, a sequence or tensor its data in the default dtype."""
    if len(data) == 1 and not isinstance(data[0], (int, np.integer)):
        value = data[0]
        if isinstance(value, Tensor):
            return value.detach()
        return empty(tuple(value)) if type(value).__name__ == "Size" else tensor(value, dtype=get_default_dtype(), device=device)
    return empty(data or (0,), device=device)


_NUMBERS = {bool, int, float, complex}


def _is_sequence(data: Any) -> bool:
    """Whether nested data goes on in there: lists, tuples and whatever has a length and numbered items."""
    if isinstance(data, (list, tuple, range)):
        return True
    return not isinstance(data, (str, bytes, dict, int, float)) and hasattr(data, "__getitem__") and hasattr(data, "__len__")


def _infer_dtype(data: Any) -> dtypes.dtype:
    """The dtype for nested Python data: the highest category found."""
    if isinstance(data, Tensor):
        return data.dtype
    if isinstance(data, (np.generic, np.ndarray)):
        return dtype_of(data.dtype)
    if _is_sequence(data):
        kinds = set(map(type, data))
        found = [number_dtype(kind()) for kind in kinds] if kinds <= _NUMBERS else [_infer_dtype(item) for item in data]
        return max(found, key=lambda d: (d.category, d.itemsize)) if found else get_default_dtype()
    if not isinstance(data, (int, float, complex)):
        raise _not_a_number(data)
    return number_dtype(data)


def _not_a_number(data: Any) -> Exception:
    """The error for something else where a number should be."""
    kind = TypeError if isinstance(data, (str, bytes)) else RuntimeError
    return kind(f"Could not infer dtype of {type(data).__name__}: tensor() takes numbers, nested sequences or arrays")


def _nested(data: Any) -> Any:
    """Nested sequences with tensors turned into arrays."""
    if isinstance(data, Tensor):
        return host(data.detach())
    if type(data) in (int, float):
        return data
    if not isinstance(data, np.ndarray) and _is_sequence(data):
        if set(map(type, data)) <= _NUMBERS and isinstance(data, (list, tuple)):
            return data
        return [_nested(item) for item in data]
    return data


def to_array(data: Any, dtype: Any, copy: bool) -> Any:
    """A NumPy array of the data, in the dtype that PyTorch would infer."""
    if isinstance(data, np.ndarray):
        wanted = dtype_of(data.dtype) if dtype is None else dtype
        return np.array(data, wanted.numpy, copy=True if copy else None)
    if not isinstance(data, (list, tuple, int, float, complex, np.generic)):
        if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
            return to_array(np.asarray(data), dtype, copy)
        if not _is_sequence(data):
            raise _not_a_number(data)
        data = list(data)
    found = _infer_dtype(data)  # also with a dtype given: it refuses what is no number
    inferred = dtype or found
    try:
        with np.errstate(all="ignore"):
            nested = _nested(data)
            if inferred.category == 1 and isinstance(data, (list, tuple, float)):
                return np.asarray(nested).astype(inferred.numpy) if nested != [] else np.empty(np.shape(nested), inferred.numpy)
            return np.array(nested, inferred.numpy)
    except ValueError as error:
        raise ValueError(f"tensor(): nested sequences must have equal lengths at each level: {error}") from None


@composite("creation", method=None)
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A new tensor with a copy of the data: numbers, nested sequences, NumPy arrays, tensors.

    >>> import tenfold
    >>> tenfold.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if isinstance(data, Tensor):
        result = data.detach().clone().to(dtype=dtype, device=device)
        return result.requires_grad_(True) if requires_grad else result
    return place(to_array(data, dtype, True), device, requires_grad)


@composite("creation", method=None)
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The data as a tensor, without a copy where it is a tensor or a NumPy array already.

    >>> import tenfold
    >>> x = tenfold.ones(1)
    >>> tenfold.as_tensor(x) is x
    True
    """
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
    if dtype_of(ndarray.dtype).numpy != ndarray.dtype:
        raise ValueError("from_numpy: given numpy array has byte order different from the native byte order")
    if any(s < 0 for s in ndarray.strides):
        raise ValueError(
            "from_numpy: at least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported; make a copy of your array with array.copy()."
        )
    ndarray = ndarray.view(np.ndarray)  # subclasses, as of files, give results of their own class
    if ndarray.base is not None and ndarray.flags.c_contiguous and ndarray.dtype.kind != "V":
        # The tensor's storage starts where the given array does, as in PyTorch.
        ndarray = np.ndarray(ndarray.shape, ndarray.dtype, ndarray.data)
    return wrap(ndarray, devices.located(devices.CPU))


@composite("creation", method=None)
def asarray(obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False) -> Tensor:
    """The data as a tensor that shares its memory where that is possible; copy=True never does, copy=False must.

    >>> import tenfold
    >>> tenfold.asarray([1, 2])
    tensor([1, 2])
    """
    if copy:
        return tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    made = as_tensor(obj, dtype, device)
    if (
        copy is False
        and isinstance(obj, (Tensor, np.ndarray))
        and not np.shares_memory(host(made), host(obj) if isinstance(obj, Tensor) else obj)
    ):
        raise ValueError("asarray: cannot alias the data with the dtype and device asked for; leave out copy=False")
    return made.detach().requires_grad_(True) if requires_grad and not made.requires_grad else made


@composite("creation", method=None)
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-d tensor on the memory of an object with the buffer protocol.

    >>> import tenfold
    >>> tenfold.frombuffer(bytearray([1, 2, 3]), dtype=tenfold.uint8, offset=1)
    tensor([2, 3], dtype=tenfold.uint8)
    """
    size = memoryview(buffer).nbytes
    if size == 0 or not 0 <= offset < size:
        raise ValueError(
            f"frombuffer: offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} bytes) minus 1"
        )
    if count == 0 or count < -1:
        raise ValueError(f"frombuffer: both buffer length ({size}) and count ({count}) must not be 0")
    if count < 0 and (size - offset) % dtype.itemsize:
        raise ValueError(
            f"frombuffer: buffer length ({size - offset} bytes) after offset must be a multiple of "
            f"element size ({dtype.itemsize})"
        )
    if count > 0 and offset + count * dtype.itemsize > size:
        raise ValueError(
            f"frombuffer: requested buffer length ({count} * {dtype.itemsize} bytes) after offset exceeds actual "
            f"buffer length ({size} bytes)"
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
        raise RuntimeError(f"empty_strided: mismatch in length of strides {list(stride)} and shape {list(size)}")
    extent = 1 + sum((n - 1) * s for n, s in zip(size, stride)) if 0 not in size else 0
    made = empty_on((extent,), dtype, device).as_strided(size, tuple(stride))
    return made.requires_grad_(True) if requires_grad else made


@composite("creation", method=None, out=True)
def full(
    size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor filled with one value.

    >>> import tenfold
    >>> tenfold.full((2,), 7)
    tensor([7, 7])
    """
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    dtype = dtype or number_dtype(fill_value)
    with np.errstate(all="ignore"):
        return place(np.full(checked_size(size, "full"), fill_value, dtype.numpy), device, requires_grad)


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
    return place(np.zeros(checked_size(size, "zeros"), (dtype or get_default_dtype()).numpy), device, requires_grad)


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
    return place(np.ones(checked_size(size, "ones"), (dtype or get_default_dtype()).numpy), device, requires_grad)
