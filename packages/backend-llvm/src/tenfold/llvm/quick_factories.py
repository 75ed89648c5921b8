"""Small tensors of numbers, before tenfold-core's own functions look at a call: what most programs ask for, on the CPU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.dispatch.runtime import STATE
from tenfold.random.generator import default_generator
from tenfold.tensor.tensor import wrap
from tenfold.types import dtypes

FLOAT32, INT64, BOOL = np.dtype(np.float32), np.dtype(np.int64), np.dtype(np.bool_)
LARGEST = 3.4e38  # of what is surely a float32
MOST = 1 << 16  # numbers
FEW = 32  # drawn ones
WIDE = 1 << 28  # ranges that take more than a word of 32 bits
FARTHEST = 1 << 62
SMALL = range(-256, 257)  # which float32 holds
BOUNDS: dict[type, float] = {float: LARGEST, int: 1 << 63}  # of numbers
_KINDS: dict[Any, Any] = {float: FLOAT32, int: INT64, bool: BOOL}


def usual(device: Any = None) -> bool:
    """Whether a tensor on this device is on the CPU, and floats are float32 unless something else is asked for."""
    if dtypes._default is not dtypes.float32:
        return False
    if device is None:
        return not STATE.devices or STATE.devices[-1] in (None, CPU)
    return device is CPU or device == "cpu"


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: Any = False, pin_memory: Any = False) -> Any:
    """Numbers, and lists of numbers of one kind, also in a list."""
    if pin_memory is not False or type(requires_grad) is not bool or not usual(device):
        return NotImplemented
    kind = type(data)
    if kind is list:
        kinds = set(map(type, data))
        if kinds == {list}:
            kinds = {k for row in data for k in map(type, row)}
        if len(kinds) != 1:
            return NotImplemented
        (kind,) = kinds
    numpy_dtype = _KINDS.get(kind)
    if numpy_dtype is None:
        return NotImplemented
    if dtype is not None and getattr(dtype, "numpy", None) is not numpy_dtype:  # `bool` is one of Python's
        if dtype is not dtypes.float32 or kind is not int:
            return NotImplemented
        numpy_dtype = FLOAT32
    if numpy_dtype is FLOAT32 and type(data) is not list and not abs(data) < LARGEST:
        return NotImplemented
    try:
        if numpy_dtype is FLOAT32 and type(data) is list:
            wide = np.array(data, np.float64)
            if not wide.size or not np.abs(wide).max() < LARGEST:
                return NotImplemented
            array = wide.astype(FLOAT32)
        else:
            array = np.array(data, numpy_dtype)
    except (ValueError, TypeError, OverflowError):  # in the words of the ordinary path
        return NotImplemented
    made = wrap(array, CPU)
    return made.requires_grad_(True) if requires_grad else made


def are_numbers(*values: Any) -> bool:
    """Whether all are of Python's, the ints of 64 bits, and finite in float32."""
    return all(type(v) in BOUNDS and abs(v) < BOUNDS[type(v)] for v in values)


def linspace(start: Any, end: Any, steps: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Few float32 numbers at equal distances, counted from the nearer end, as PyTorch rounds them."""
    if type(steps) is not int or not 1 < steps < MOST or not are_numbers(start, end) or not usual(device):
        return NotImplemented
    if dtype is not None and dtype is not dtypes.float32:
        return NotImplemented
    low, high = _rounded(start), _rounded(end)
    between = high - low
    if not abs(between) < LARGEST:
        return NotImplemented
    step, half = _rounded(_rounded(between) / (steps - 1)), steps // 2
    if steps <= FEW:
        few = [low + i * step for i in range(half)] + [high - i * step for i in range(steps - half - 1, -1, -1)]
        return wrap(np.array(few, FLOAT32), CPU)
    index = np.arange(0.0, steps - half)
    index *= step
    array = np.empty(steps)
    np.add(index[:half], low, array[:half])
    np.subtract(high, index[::-1], array[half:])
    return wrap(array.astype(FLOAT32), CPU)


def _rounded(value: float) -> float:
    """The nearest float32."""
    return float(value) if type(value) is int and value in SMALL else float(np.float32(value))


def arange(start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Any:
    """Few numbers at a distance: int64 of ints, else float32."""
    if end is None:
        start, end = 0, start
    if not are_numbers(start, end, step) or not step or (end - start) * step < 0 or not usual(device):
        return NotImplemented
    whole = type(start) is type(end) is type(step) is int
    if dtype is not None and dtype is not dtypes.float32 and not (whole and dtype is dtypes.int64):
        return NotImplemented
    count = -((start - end) // step) if whole else math.ceil((end - start) / step)
    if not 0 <= count < MOST or (whole and max(abs(start), abs(end), abs(step)) >= FARTHEST):
        return NotImplemented
    if whole:
        array = np.arange(start, end, step)
        return wrap(array if dtype is not dtypes.float32 else array.astype(FLOAT32), CPU)
    array = np.arange(0.0, count)
    array *= step
    array += start
    return wrap(array.astype(FLOAT32), CPU)


def randint(low: Any, high: Any = None, size: Any = None) -> Any:
    """Few whole numbers of the default generator."""
    if size is None:
        low, high, size = 0, low, high
    if type(low) is not int or type(high) is not int or type(size) is not tuple or not usual():
        return NotImplemented
    count = 1
    for n in size:
        if type(n) is not int or n < 1:
            return NotImplemented
        count *= n
    span = high - low
    if count > FEW or not 0 < span < WIDE or abs(low) >= FARTHEST:
        return NotImplemented
    array = np.array([low + word % span for word in default_generator.few(count)])
    return wrap(array if len(size) == 1 else array.reshape(size), CPU)


def randperm(n: Any) -> Any:
    """A permutation of few numbers, by the default generator."""
    if type(n) is not int or not 1 < n <= FEW or not usual():
        return NotImplemented
    items = list(range(n))
    for i, word in enumerate(default_generator.few(n - 1)):
        target = i + word % (n - i)
        items[i], items[target] = items[target], items[i]
    return wrap(np.array(items), CPU)


FACTORIES: dict[str, Any] = {"tensor": tensor, "linspace": linspace, "arange": arange, "randint": randint, "randperm": randperm}
