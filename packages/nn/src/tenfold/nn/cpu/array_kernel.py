"""The one decorator that every kernel of this folder wears.

Quiet arithmetic, half precision computed in float32, memory formats kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.types.memory_format import suggested_format

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

HALF_BYTES = 2


def is_half(value: object) -> bool:
    """Whether a value is a float16 or bfloat16 array, the two formats that kernels widen before they compute."""
    return isinstance(value, np.ndarray) and value.dtype.itemsize == HALF_BYTES and value.dtype.kind not in "iu"


def array_kernel(*, rounded: int = 1, laid_out: int = 0, formats: int = 1, held: bool = False) -> Callable[[Kernel], Kernel]:
    """Make a kernel silent about NaN and overflow, and run it in float32 when its first argument is float16 or bfloat16.

    The first `rounded` results are rounded back to the first argument's dtype, once; the ones after them are saved
    statistics, which stay in float32 for the gradient. The first `laid_out` results lie in memory as the first argument
    does, channels first or last; channels last where any of the first `formats` arguments does. With `held` what counts is
    the order that its elements are in, where strides of dimensions of size 1 mean nothing, else the one that its strides suggest.
    """

    def decorate(function: Kernel) -> Kernel:
        def run(*args: Any) -> Any:
            if args[0].dtype.itemsize == HALF_BYTES and is_half(args[0]):
                return _widened(function, args, rounded)
            return function(*args)

        wide = run
        if laid_out:  # outside, for what is widened has other strides where dimensions are of size 1
            wide = _in_the_arguments_format(run, laid_out, formats, _held_order if held else _suggested_order)
        return cast(Kernel, wraps(function)(quiet(wide)))

    return decorate


def _suggested_order(x: Any) -> tuple[int, ...] | None:
    return suggested_format(x).order


def _held_order(x: Any) -> tuple[int, ...] | None:
    """Channels last, if the elements lie in that order and no other; None, if row by row; else what the strides suggest."""
    if x.flags.c_contiguous:
        return None
    order = (0, *range(2, x.ndim), 1)
    return order if x.transpose(order).flags.c_contiguous else _suggested_order(x)


def _in_the_arguments_format(function: Kernel, count: int, formats: int, order_of: Callable[[Any], Any]) -> Kernel:
    def run(*args: Any) -> Any:
        result = function(*args)
        for given in args[:formats]:
            if given.ndim < 4 or given.strides[1] > given.strides[-1]:  # channels first, told soonest
                continue
            order = order_of(given)
            if order:
                if not isinstance(result, tuple):
                    return _ordered(result, order)
                return (*(_ordered(r, order) for r in result[:count]), *result[count:])
        return result

    return cast(Kernel, wraps(function)(run))


def _ordered(x: Any, order: tuple[int, ...]) -> Any:
    """The array with its dimensions in this order in memory."""
    laid = np.empty([x.shape[d] for d in order], x.dtype)  # new, so that sizes of 1 have the strides of this order too
    laid[...] = x.transpose(order)
    return laid.transpose(np.argsort(order))


def _widened(function: Callable[..., Any], args: tuple[Any, ...], rounded: int) -> Any:
    dtype = args[0].dtype
    result = function(*[a.astype(np.float32) if is_half(a) else a for a in args])
    if not isinstance(result, tuple):
        return result if result is NotImplemented else result.astype(dtype)
    return tuple(_narrow(r, dtype) if i < rounded else r for i, r in enumerate(result))


def _narrow(value: Any, dtype: np.dtype[Any]) -> Any:
    return value.astype(dtype) if isinstance(value, np.ndarray) and value.dtype == np.float32 else value
