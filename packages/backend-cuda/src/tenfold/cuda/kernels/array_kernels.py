"""Kernels that are a call of the array module (CuPy; NumPy in the interpreter)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from tenfold.cuda.kernels.eight_bits import is_eight, narrowed, widened
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.runtime import xp
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import Operator

F32, BOOL = np.dtype(np.float32), np.dtype(np.bool_)


def is_half(array: Any) -> bool:
    """Whether an array is float16 or bfloat16."""
    dtype = getattr(array, "dtype", None)
    return dtype is not None and dtype.itemsize == 2 and dtype.kind in "fV"


def cast(array: Any, dtype: Any) -> Any:
    """The array in another dtype; the array itself when it has it already."""
    if isinstance(array, np.generic):  # NumPy gives scalars where CuPy gives 0-d arrays
        array = xp.asarray(array)
    if array.dtype == dtype:
        return array
    if is_eight(array.dtype):
        return cast(widened(array), dtype)
    if is_eight(dtype):
        return narrowed(cast(array, F32), dtype)
    result = run("cast", array, dtype=np.dtype(dtype)) if np.dtype(dtype).kind != "c" else NotImplemented
    return array.astype(dtype) if result is NotImplemented else result


def wide(array: Any) -> Any:
    """Half precision as float32, everything else as it is."""
    return cast(array, F32) if is_half(array) else array


def of_array_module(name: str) -> Callable[..., Any]:
    """The array module's elementwise function of this name, half precision computed in float32."""

    def call(*operands: Any, out: Any = None) -> Any:
        half = next((x.dtype for x in operands if is_half(x)), None)
        if name.startswith("logical_"):  # CuPy has none for complex numbers
            operands = tuple(x != 0 if getattr(x, "dtype", BOOL).kind == "c" else x for x in operands)
        with np.errstate(all="ignore"):
            result = getattr(xp, name)(*map(wide, operands))
        if half is not None and result.dtype.kind == "f":
            result = cast(result, half)
        if out is None:
            return result
        out[...] = result
        return out

    call.__name__ = call.__qualname__ = name
    return call


def refusing(operator: Operator, function: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, after the shape rule has refused what PyTorch refuses and NumPy's functions would compute somehow."""

    @wraps(function)
    def checked(*arguments: Any) -> Any:
        operator.shape_rule(*[Meta(a.shape, a.dtype) if hasattr(a, "shape") else a for a in arguments])
        return function(*arguments)

    return checked
