"""The short way of an elementwise call: contiguous operands of one shape (or one and a number), aligned, seen before.

What is known of such a call after its first time, by dtypes and GPU, is kept as a plan: the loaded kernel and the result's
dtype. The rest is an allocation, five numbers packed, and the launch. Every other call goes the general way (elementwise.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.kernels.generation import BLOCK

MOST = 2**31 - 2**17  # elements that 32-bit positions reach
UNALIGNED = 15


class Plan(NamedTuple):
    """What a call of known dtypes on a known GPU needs."""

    pack: Any
    buffers: Callable[[], tuple[Any, int]]
    function: int
    threads: int
    shared: int
    dtype: np.dtype[Any]
    itemsize: int


def swiftly(general: Callable[..., Any], operands: int) -> Callable[..., Any]:  # noqa: C901 - both ways, written out
    """A kernel of one or two operands that takes the short way where it can; `general(..., seen=list)` is the other one.

    The general way appends the `Loaded` kernel to `seen` when it launches exactly one.
    """
    plans: dict[tuple[Any, ...], Plan] = {}
    parts: list[Any] = []

    def tools() -> list[Any]:
        cuda = runtime.current().module.cuda
        parts[:] = [cuda.alloc, runtime.current().module.ndarray, cuda.runtime.getDevice, cuda.driver.launchKernel,
                    cuda.get_current_stream]  # fmt: skip
        return parts

    def first(key: tuple[Any, ...], arrays: tuple[Any, ...], out: Any) -> Any:
        """The general way; it leaves a plan where it launched the kernel that the short way would."""
        seen: list[Any] = []
        result = general(*arrays, out=out, seen=seen)
        if len(seen) == 1 and result is not NotImplemented:
            loaded = seen[0]
            if loaded.slots == 2 + 2 + operands:  # result, operands, count, and two that Triton adds
                plans[key] = Plan(loaded.packing.pack_into, loaded.buffers, loaded.pointer, loaded.threads, loaded.shared,
                                  result.dtype, result.dtype.itemsize)  # fmt: skip
        return result

    def unary(x: Any, out: Any = None) -> Any:
        if out is not None or not getattr(x, "_c_contiguous", False):
            return general(x, out=out)
        data, n = x.data, x.size
        key = (x.dtype, data.device_id)
        plan = plans.get(key)
        a = data.ptr
        if n == 0 or (a | n) & UNALIGNED or n > MOST:
            return general(x, out=out)
        alloc, array, get_device, start, stream = parts or tools()
        if plan is None or get_device() != key[1]:
            return first(key, (x,), out)
        memory = alloc(n * plan.itemsize)
        r = memory.ptr
        buffer, table = plan.buffers()
        plan.pack(buffer, 0, r, a, n, 0, 0)
        start(plan.function, -(-n // BLOCK), 1, 1, plan.threads, 1, 1, plan.shared, stream().ptr, table, 0)
        return array(x.shape, plan.dtype, memory)

    def binary(x: Any, y: Any, out: Any = None) -> Any:
        if not getattr(x, "_c_contiguous", False) or (out is not None and out is not x):
            return general(x, y, out=out)
        data, n, kind = x.data, x.size, type(y)
        if kind is float or kind is int:
            key, b, value = (x.dtype, kind, data.device_id, out is None), 0, y
        elif getattr(y, "_c_contiguous", False) and y.shape == x.shape and y.data.device_id == data.device_id:
            key = (x.dtype, y.dtype, data.device_id, out is None)
            b = value = y.data.ptr
        else:
            return general(x, y, out=out)
        a = data.ptr
        if n == 0 or (a | b | n) & UNALIGNED or n > MOST or (kind is int and not -MOST < y < MOST):
            return general(x, y, out=out)
        alloc, array, get_device, start, stream = parts or tools()
        plan = plans.get(key)
        if plan is None or get_device() != key[2]:
            return first(key, (x, y), out)
        if out is None:
            memory = alloc(n * plan.itemsize)
            r = memory.ptr
            out = array(x.shape, plan.dtype, memory)
        else:
            r = a
        buffer, table = plan.buffers()
        plan.pack(buffer, 0, r, a, value, n, 0, 0)
        start(plan.function, -(-n // BLOCK), 1, 1, plan.threads, 1, 1, plan.shared, stream().ptr, table, 0)
        return out

    chosen: Any = unary if operands == 1 else binary
    chosen.__signature__ = inspect.signature(general)  # any names: operators call by position
    return chosen
