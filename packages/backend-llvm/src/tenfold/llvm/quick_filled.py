"""Small tensors of one value, before tenfold-core's own functions look at a call: `zeros`, `full`, `ones_like`, `new_empty` and
their kin on the CPU, in any dtype and by any argument's name.

They make what those make. What they do not know (layouts, memory formats, numbers that a dtype may not hold, other devices,
wrong arguments) is left to those, by NotImplemented or by any exception.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import Any

import numpy as np

from tenfold.cpu.allocator import COLLECTED
from tenfold.dispatch.devices import CPU
from tenfold.llvm.quick_factories import usual
from tenfold.llvm.quick_views import here
from tenfold.settings.determinism import STATE as DETERMINISM
from tenfold.tensor.tensor import wrap
from tenfold.types import dtypes
from tenfold.types.memory_format import preserve_format
from tenfold.types.size import Size

WHOLE = 1 << 24  # whole numbers below which float32 holds all
LARGEST = 3.4e38  # of what is surely a float32
HALF = 256  # whole numbers up to which half precision holds all
FEW = 1 << 12  # places of a triangle's matrix
_DTYPES = {float: "float32", int: "int64", bool: "bool_"}
_RANGES = {
    dtypes.int64: range(-(1 << 62), 1 << 62), dtypes.int32: range(-(1 << 31), 1 << 31), dtypes.int16: range(-(1 << 15), 1 << 15),
    dtypes.int8: range(-128, 128), dtypes.uint8: range(256),
}  # fmt: skip
_HALVES = (dtypes.float16, dtypes.bfloat16)
_FLOATS = (dtypes.float32, dtypes.float64)
_PLAIN = frozenset((*_RANGES, *_HALVES, *_FLOATS, dtypes.bool_, dtypes.complex64, dtypes.complex128))
_ROWS = (None, preserve_format)


def _sizes(given: tuple[Any, ...]) -> Any:
    """Sizes given one by one or as one sequence; None for others than ints, and where there are none."""
    if not given:
        return None
    if len(given) == 1 and type(given[0]) in (tuple, list, Size):
        (given,) = given
    for n in given:
        if type(n) is not int:
            return None
    return given


def _holds(dtype: Any, value: Any) -> bool:
    """Whether a number becomes an element of the dtype as it stands."""
    kind = int if type(value) is bool and dtype is not dtypes.bool_ else type(value)
    if dtype in _FLOATS:
        return (kind is float and (abs(value) < LARGEST or value in (inf, -inf))) or (kind is int and -WHOLE < value < WHOLE)
    if dtype in _HALVES:
        return (kind is int or kind is float) and -HALF <= value <= HALF and value == int(value)
    if dtype is dtypes.bool_:
        return kind is bool
    return kind is int and dtype in _RANGES and value in _RANGES[dtype]


def _made(size: Any, value: Any, dtype: Any, device: Any, requires_grad: Any, pin_memory: Any = False) -> Any:
    """A tensor of one value; None: of none, 0 of any kind of zeros."""
    if dtype is None:
        dtype = dtypes.float32
    if size is None or dtype not in _PLAIN or not usual(device) or COLLECTED:
        return NotImplemented
    if type(requires_grad) is not bool or pin_memory is not False:
        return NotImplemented
    if value is None:
        if DETERMINISM["on"]:
            return NotImplemented
        array = np.empty(size, dtype.numpy)
    elif value == 0 and type(value) is int:
        array = np.zeros(size, dtype.numpy)
    else:
        array = np.empty(size, dtype.numpy)
        array.fill(value)
    made = wrap(array, CPU)
    return made.requires_grad_(True) if requires_grad else made


def empty(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Any:
    return _made(_sizes(size), None, dtype, device, requires_grad, pin_memory)


def zeros(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Any:
    return _made(_sizes(size), 0, dtype, device, requires_grad, pin_memory)


def ones(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Any:
    return _made(_sizes(size), 1, dtype, device, requires_grad, pin_memory)


def full(
    size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Any:
    if dtype is None:
        dtype = getattr(dtypes, _DTYPES[type(fill_value)])
    if not _holds(dtype, fill_value) or type(size) is int:
        return NotImplemented
    return _made(_sizes((size,)), fill_value, dtype, device, requires_grad, pin_memory)


def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Any:
    if dtype is None:
        dtype = dtypes.float32
    return full((), s, dtype=dtype, device=device, requires_grad=requires_grad, pin_memory=pin_memory)


def _like(input: Any, value: Any, dtype: Any, device: Any, requires_grad: Any, memory_format: Any) -> Any:
    array = input._array
    if not here(input) or memory_format not in _ROWS or not (array.ndim < 2 or array.flags.c_contiguous):
        return NotImplemented
    return _made(array.shape, value, input.dtype if dtype is None else dtype, CPU if device is None else device, requires_grad)


def empty_like(
    input: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = None
) -> Any:
    return _like(input, None, dtype, device, requires_grad, memory_format)


def zeros_like(
    input: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = None
) -> Any:
    return _like(input, 0, dtype, device, requires_grad, memory_format)


def ones_like(
    input: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = None
) -> Any:
    return _like(input, 1, dtype, device, requires_grad, memory_format)


def full_like(
    input: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = None
) -> Any:
    if not _holds(input.dtype if dtype is None else dtype, fill_value):
        return NotImplemented
    return _like(input, fill_value, dtype, device, requires_grad, memory_format)


def _new(input: Any, size: tuple[Any, ...], value: Any, dtype: Any, device: Any, requires_grad: Any) -> Any:
    if not here(input):
        return NotImplemented
    return _made(_sizes(size), value, input.dtype if dtype is None else dtype, CPU if device is None else device, requires_grad)


def new_empty(input: Any, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    return _new(input, size, None, dtype, device, requires_grad)


def new_zeros(input: Any, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    return _new(input, size, 0, dtype, device, requires_grad)


def new_ones(input: Any, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    return _new(input, size, 1, dtype, device, requires_grad)


def new_full(
    input: Any, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Any:
    if type(size) is int or not _holds(input.dtype if dtype is None else dtype, fill_value):
        return NotImplemented
    return _new(input, (size,), fill_value, dtype, device, requires_grad)


def fill(input: Any, value: Any) -> Any:
    """One value in the shape and dtype of a tensor."""
    return NotImplemented if input._node is not None else full_like(input, value)


def eye(n: Any, m: Any = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """Ones on the diagonal of a square."""
    if type(n) is not int or n < 1 or not (m is None or (type(m) is int and m == n)) or type(requires_grad) is not bool:
        return NotImplemented
    made = _made((n, n), 0, dtype, device, False)
    if made is not NotImplemented:
        made._array.reshape(-1)[:: n + 1] = 1
    return made.requires_grad_(True) if requires_grad is True and made is not NotImplemented else made


@lru_cache(maxsize=64)
def _triangle(lower: bool, row: int, col: int, offset: int) -> Any:
    find: Any = np.tril_indices if lower else np.triu_indices
    return np.stack(find(row, offset, col))


def _indices(lower: bool, row: Any, col: Any, offset: Any, dtype: Any, device: Any) -> Any:
    if {type(row), type(col), type(offset)} != {int} or min(row, col) < 0 or row * col > FEW or not usual(device):
        return NotImplemented
    found = _triangle(lower, row, col, offset)
    return wrap(found.astype((dtypes.int64 if dtype is None else dtype).numpy), CPU)


def tril_indices(row: Any, col: Any, offset: Any = 0, *, dtype: Any = None, device: Any = None) -> Any:
    return _indices(True, row, col, offset, dtype, device)


def triu_indices(row: Any, col: Any, offset: Any = 0, *, dtype: Any = None, device: Any = None) -> Any:
    return _indices(False, row, col, offset, dtype, device)


FILLED: dict[str, Any] = {
    f.__name__: f
    for f in (
        empty, zeros, ones, full, scalar_tensor, empty_like, zeros_like, ones_like, full_like, new_empty, new_zeros, new_ones,
        new_full, fill, eye, tril_indices, triu_indices,
    )
}  # fmt: skip
