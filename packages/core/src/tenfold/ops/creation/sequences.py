"""Factories of regular numbers: ranges and identities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tenfold.dispatch.devices import located
from tenfold.dispatch.operators import composite
from tenfold.ops.creation._data import too_large
from tenfold.ops.creation.factories import place
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes
from tenfold.types.dtypes import get_default_dtype, type_name
from tenfold.types.numbers import require_value


def number_of(value: Any) -> Any:
    if isinstance(value, Tensor) and value.dim():
        raise RuntimeError(f"expected a number or a 0-d tensor, got a tensor of {value.dim()} dimensions")
    value = value.item() if isinstance(value, (Tensor, np.generic)) else value
    return int(value) if isinstance(value, bool) else value


def _require_numbers(name: str, dtype: Any) -> None:
    """NotImplementedError for complex32, which NumPy does not compute."""
    if dtype is dtypes.complex32:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'ComplexHalf'; make complex64 and convert with .chalf()")


def require_order(name: str, dtype: Any) -> None:
    """NotImplementedError for truth values and complex numbers."""
    _require_numbers(name, dtype)
    if dtype.category in (0, 3):
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{type_name(dtype)}'; make int64 and convert with .to()")


def _module(device: Any) -> Any:
    key = located(device)
    return key.backend.numbers(key.index)


def numbers(dtype: Any, device: Any, start: Any, end: int, step: int = 1) -> Any:
    try:
        return _module(device).arange(start, end, step)
    except (MemoryError, ValueError) as error:
        raise too_large(((end - start) // step,), dtype.numpy) from error


@composite("creation", method=None, out="filled")
def arange(
    start: float | None = None, end: float | None = None, step: float = 1, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Numbers from start (0) up to, not including, end: ints give int64, floats the default dtype.

    >>> import tenfold
    >>> tenfold.arange(1, 4)
    tensor([1, 2, 3])
    """
    if end is None:
        start, end = 0, start
        if end is None:
            raise TypeError("arange: missing end")
    start, end, step = number_of(0 if start is None else start), number_of(end), number_of(step)
    if step == 0:
        raise RuntimeError("arange: step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"arange: unsupported range: {start} -> {end}")
    if (end - start) * (1 if step > 0 else -1) < 0:
        raise RuntimeError(f"arange: upper bound and lower bound inconsistent with step sign: {start}, {end}, {step}")
    if dtype is dtypes.int64:
        start, end, step = int(start), int(end), int(step)
        if step == 0:
            raise ValueError("arange: step must be nonzero")
    whole = type(start) is type(end) is type(step) is int
    dtype = dtype or (dtypes.int64 if whole else get_default_dtype())
    require_order("arange", dtype)
    array: Any
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        if max(start, end) >= 2**63:
            raise RuntimeError("arange: value cannot be converted to type int64_t without overflow")
        array = numbers(dtype, device, start, end, step)
    else:
        count = math.ceil((end - start) / step)
        if dtype.category < 2:
            start, step = int(start), int(step)
        array = numbers(dtype, device, 0.0 if dtype.category > 1 else 0, count)
        array *= step
        array += start
    return place(array.astype(dtype.numpy, copy=False), device, requires_grad)


@composite("creation", method=None, out="filled")
def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """`steps` numbers at equal distances from start to end, both included.

    >>> import tenfold
    >>> tenfold.linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    start, end = number_of(start), number_of(end)
    dtype = spaced_dtype("linspace", start, end, dtype)
    return place(spaced(start, end, steps, dtype, device).astype(dtype.numpy), device, requires_grad)


def spaced_dtype(name: str, start: Any, end: Any, dtype: Any) -> Any:
    _require_numbers(name, dtype)
    if dtype is dtypes.bool_:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'; make int64 and convert with .bool()")
    if not isinstance(start, complex) and not isinstance(end, complex):
        return dtype or get_default_dtype()
    found = dtypes.default_complex()
    _require_numbers(name, dtype or found)
    if dtype is not None and not dtype.is_complex:
        raise RuntimeError(f"torch.{name}(): inferred dtype {found} can't be safely cast to passed dtype {dtype}")
    return dtype or found


def spaced(start: Any, end: Any, steps: int, dtype: Any, device: Any) -> Any:
    """Equally spaced numbers, counted from the nearer end, so that both ends are exact."""
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {steps}")
    wide = np.complex128 if dtype.is_complex else np.float64
    whole = dtype.category < 2
    for number in (start, end) if steps > 1 else (start,) * (whole and steps):
        require_value(number, dtype)
    if steps < 2:
        return np.asarray([start] * steps, wide)
    if whole:
        start, end = int(start), int(end)
    step = (end - start) / (steps - 1)
    if dtype is dtypes.float32:  # PyTorch rounds these to float32, and what follows only once
        first, last = np.float32(start), np.float32(end)
        with np.errstate(over="ignore", invalid="ignore"):
            start, end, step = float(first), float(last), float((last - first) / np.float32(steps - 1))
    try:
        with np.errstate(invalid="ignore"):
            index = _module(device).arange(0.0, steps - steps // 2) * step
            return np.concatenate([start + index[: steps // 2], end - index[::-1]])
    except (MemoryError, ValueError) as error:
        raise too_large((steps,), dtype.numpy) from error


@composite("creation", method=None, out=True)
def eye(
    n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Ones on the diagonal, zeros elsewhere. Shape: (n, m), m is n by default.

    >>> import tenfold
    >>> tenfold.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(f"eye: n and m must be greater or equal to 0, got {n} and {m}")
    _require_numbers("eye", dtype)
    return place(_module(device).eye(n, m, dtype=(dtype or get_default_dtype()).numpy), device, requires_grad)
