"""A tensor in Python and NumPy: its elements as numbers, lists and arrays, its length, its truth, for other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.dispatch.runtime import STATE
from tenfold.dispatch.services import SERVICES
from tenfold.types import dtypes
from tenfold.types.dtypes import FROM_NUMPY
from tenfold.types.narrow import widened

if TYPE_CHECKING:  # operators install themselves as methods, which no type checker sees; these are their declarations
    from tenfold.operator_methods import TensorMethods
else:
    TensorMethods = object


def host(tensor: Any) -> Any:
    """The tensor's elements as a NumPy array (its own memory on the CPU)."""
    key = tensor._key
    if key.level is not None:
        return host(key.transform.readable(tensor))
    return key.backend.to_numpy(tensor._array)


class Conversions(TensorMethods):
    """What a tensor is to Python's own functions, to NumPy and to other array libraries: a part of `Tensor`."""

    __slots__ = ()

    def item(self: Any) -> Any:
        """The one element, as a Python number."""
        array = self._array
        if type(array) is np.ndarray and array.size == 1:
            value = array.item()
            return value if type(value) is not tuple else complex(*value)  # a complex32 is a record of NumPy's
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        value = host(self).item()
        return value if type(value) is not tuple else complex(*value)

    def tolist(self: Any) -> Any:
        """The elements as nested lists of Python numbers."""
        array = host(self)
        return widened(array).tolist() if array.dtype.names else array.tolist()

    def numpy(self: Any, *, force: bool = False) -> Any:
        """The tensor as a NumPy array; on the CPU they share memory."""
        if force:
            return host(self.detach())
        if self._node is not None and STATE.grad_enabled:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self._key.device is not CPU:
            raise TypeError(
                f"can't convert {self._key.device} device type tensor to numpy. "
                f"Use Tensor.cpu() to copy the tensor to host memory first."
            )
        if self._array.dtype.kind == "V":
            raise TypeError(f"Got unsupported ScalarType {dtypes.type_name(self.dtype)}: NumPy has no such dtype; convert it")
        self.untyped_storage().lent = True
        return host(self)

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        if copy:
            return np.array(array, dtype=dtype, copy=True)
        return array if dtype is None else array.astype(dtype, copy=False)

    def __array_wrap__(self: Any, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Results of NumPy's functions on tensors become tensors, as in PyTorch."""
        return SERVICES.from_numpy(np.asarray(array)) if np.asarray(array).dtype in FROM_NUMPY else array

    def __array_namespace__(self: Any, *, api_version: str | None = None) -> Any:
        """The Python array API standard's functions on tensors: `tenfold.array_api`."""
        return SERVICES.array_namespace(api_version)

    def to_device(self: Any, device: Any, /, *, stream: Any = None) -> Any:
        """The tensor on a device, under the array API standard's name."""
        return self.to(device)

    def __dlpack__(
        self: Any, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:  # fmt: skip
        """A DLPack capsule on the tensor's memory, for other array libraries."""
        return SERVICES.export(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self: Any) -> tuple[int, int]:
        return SERVICES.dlpack_device(self)

    def __reversed__(self: Any) -> Any:
        """The rows in reverse order."""
        return self.flip(0) if self._array.shape else self

    def __len__(self: Any) -> int:
        if not self._array.shape:
            raise TypeError("len() of a 0-d tensor")
        return int(self._array.shape[0])

    def __iter__(self: Any) -> Iterator[Any]:
        if not self._array.shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __bool__(self: Any) -> bool:
        if self.numel() != 1:
            kind = "no" if self.numel() == 0 else "more than one"
            raise RuntimeError(f"Boolean value of Tensor with {kind} value{'s' if kind == 'no' else ''} is ambiguous")
        return bool(self.item())

    def _one(self: Any) -> Any:
        """The one element, for Python's conversions."""
        array = self._array
        if type(array) is np.ndarray and array.size == 1:
            value = array.item()
            return value if type(value) is not tuple else complex(*value)
        if self.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.item()

    def _real(self: Any) -> Any:
        """The one element as a real number; RuntimeError where that loses an imaginary part."""
        value = self._one()
        if isinstance(value, complex):
            if value.imag:
                raise RuntimeError(f"value cannot be converted to a real number without overflow: it is {value}")
            value = value.real
        return value

    def __float__(self: Any) -> float:
        return float(self._real())

    def __int__(self: Any) -> int:
        value = self._real()
        if self.dtype.is_complex and not abs(value) < float("inf"):
            raise RuntimeError(f"value cannot be converted to type int64_t without overflow: it is {value}")
        return int(value)

    def __complex__(self: Any) -> complex:
        return complex(self._one())

    def __index__(self: Any) -> int:
        if self.numel() != 1 or self.dtype.category > 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __contains__(self: Any, element: Any) -> bool:
        if not (hasattr(element, "_array") or isinstance(element, (int, float, complex, np.number))):
            raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")
        return bool((self == element).any())
