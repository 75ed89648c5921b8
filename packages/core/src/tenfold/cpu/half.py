"""Half precision in kernels of several steps: computed in float32, rounded once."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet


def is_half(array: Any) -> bool:
    """Whether this is a float16 or bfloat16 array."""
    dtype = getattr(array, "dtype", None)
    return dtype is not None and dtype.itemsize == 2 and dtype.kind in "fV"


def _wide(value: Any) -> Any:
    return value.astype(np.float32) if is_half(value) else value


def _rounded(array: Any, dtype: Any) -> Any:
    return np.asarray(array).astype(dtype)


rounded = quiet(_rounded)


def widened(function: Any) -> Callable[..., Any]:
    """The kernel, given float32 arrays in place of float16 and bfloat16 ones, its result rounded back.

    The first array's dtype decides: promotion has made the others agree. A quiet kernel stays one that is called directly.
    """
    if hasattr(function, "direct"):
        return quiet(widened(function.__wrapped__))

    @functools.wraps(function)
    def kernel(*args: Any, **kwargs: Any) -> Any:
        if type(args[0]) is np.ndarray and args[0].itemsize > 2:
            return function(*args, **kwargs)
        for a in args:
            if type(a) is np.ndarray:
                dtype = a.dtype
                break
        if dtype.itemsize != 2 or dtype.kind not in "fV":
            return function(*args, **kwargs)
        out = kwargs.get("out")
        result = function(*map(_wide, args))
        if result is NotImplemented:
            return result
        if out is None:
            return rounded(result, dtype)
        if result.shape != out.shape:
            raise ValueError("the result does not fit its output")
        np.copyto(out, rounded(result, dtype))
        return out

    return kernel
