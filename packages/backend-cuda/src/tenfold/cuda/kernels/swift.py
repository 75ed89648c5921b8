"""The short way of an elementwise call: contiguous operands of one shape (or one and a number), aligned, seen before.

What is known of such a call after its first time, by dtypes, GPU and whether the size is a multiple of 16, is kept as a plan:
the loaded kernel and the result's dtype. The rest is a result, five numbers packed, and the launch. Every other call goes the
general way (elementwise.py).
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.capturing import CAPTURES
from tenfold.cuda.kernels.generation import BLOCK
from tenfold.cuda.kernels.recycling import SMALL, idle, keep, ring_of
from tenfold.cuda.recordings import RECORDINGS

MOST = 2**31 - 2**17  # elements that 32-bit positions reach
UNALIGNED = 15


class Plan:
    """What a call of known dtypes on a known GPU needs."""

    __slots__ = ("dtype", "function", "itemsize", "loaded", "pack", "rings", "shared", "threads")

    def __init__(self, loaded: Any, dtype: np.dtype[Any]) -> None:
        self.loaded = loaded
        self.pack = loaded.packing.pack_into
        self.function, self.threads, self.shared = loaded.pointer, loaded.threads, loaded.shared
        self.dtype, self.itemsize = dtype, dtype.itemsize
        self.rings: dict[Any, deque[Any]] = {}


def swiftly(  # noqa: C901 - both ways, written out
    general: Callable[..., Any], operands: int, most: int = SMALL
) -> Callable[..., Any]:
    """A kernel of one or two operands that takes the short way where it can; `general(..., seen=list)` is the other one.

    The general way appends the `Loaded` kernel to `seen` when it launches exactly one. Results of up to `most` bytes come back.
    """
    plans: dict[tuple[Any, ...], Plan] = {}
    parts: list[Any] = []
    runtime.AFTER_FORK.append(parts.clear)

    def tools() -> list[Any]:
        cuda = runtime.current().module.cuda
        parts[:] = [cuda.alloc, runtime.current().module.ndarray, cuda.runtime.getDevice, cuda.driver.launchKernel,
                    cuda.get_current_stream]  # fmt: skip
        return parts

    def first(key: tuple[Any, ...], arrays: tuple[Any, ...], out: Any) -> Any:
        """The general way; it leaves a plan where it launched the kernel that the short way would."""
        seen: list[Any] = []
        result = general(*arrays, out=out, seen=seen)
        if len(seen) == 1 and result is not NotImplemented and seen[0].slots == 2 + 2 + operands:
            plans[key] = Plan(seen[0], result.dtype)  # the slots: result, operands, count, and two that Triton adds
        return result

    def made(plan: Plan, shape: tuple[int, ...], size_bytes: int, stream: int) -> Any:
        """An array for a result: one that is free again, or a new one."""
        if size_bytes > most or CAPTURES:  # a graph's memory is its own, and is not lent to others
            return parts[1](shape, plan.dtype, parts[0](size_bytes))
        ring = plan.rings.get((shape, stream)) or ring_of(plan.rings, (shape, stream))
        if ring and (array := idle(ring)) is not None:
            return array
        array = parts[1](shape, plan.dtype, parts[0](size_bytes))
        keep(ring, array)
        return array

    def unary(x: Any, out: Any = None) -> Any:
        if out is not None or RECORDINGS or not getattr(x, "_c_contiguous", False):
            return general(x, out=out)
        data, n = x.data, x.size
        a, key = data.ptr, (x.dtype, data.device_id, n & UNALIGNED == 0)
        if n == 0 or a & UNALIGNED or n > MOST:
            return general(x, out=out)
        _, _, get_device, start, current = parts or tools()
        plan = plans.get(key)
        if plan is None or get_device() != key[1]:
            return first(key, (x,), out)
        buffer, table = plan.loaded.buffers()
        stream = current().ptr
        out = made(plan, x.shape, n * plan.itemsize, stream)
        plan.pack(buffer, 0, out.data.ptr, a, n, 0, 0)
        start(plan.function, -(-n // BLOCK), 1, 1, plan.threads, 1, 1, plan.shared, stream, table, 0)
        return out

    def binary(x: Any, y: Any, out: Any = None) -> Any:
        kind, shape = type(y), None
        try:
            if not x._c_contiguous or RECORDINGS or (out is not None and out is not x):
                return general(x, y, out=out)
            data, n = x.data, x.size
            if kind is float or kind is int:
                key, b, value = (x.dtype, kind, data.device_id, out is None, n & UNALIGNED == 0), 0, y
            else:
                shape, other = x.shape, y.data
                if not y._c_contiguous or y.shape != shape or other.device_id != data.device_id:
                    return general(x, y, out=out)
                key = (x.dtype, y.dtype, data.device_id, out is None, n & UNALIGNED == 0)
                b = value = other.ptr
        except AttributeError:
            return general(x, y, out=out)
        a = data.ptr
        if n == 0 or (a | b) & UNALIGNED or n > MOST or (kind is int and not -MOST < y < MOST):
            return general(x, y, out=out)
        _, _, get_device, start, current = parts or tools()
        plan = plans.get(key)
        if plan is None or get_device() != key[2]:
            return first(key, (x, y), out)
        buffer, table = plan.loaded.buffers()
        stream = current().ptr
        if out is None:
            out = made(plan, x.shape if shape is None else shape, n * plan.itemsize, stream)
        plan.pack(buffer, 0, out.data.ptr, a, value, n, 0, 0)
        start(plan.function, -(-n // BLOCK), 1, 1, plan.threads, 1, 1, plan.shared, stream, table, 0)
        return out

    chosen: Any = unary if operands == 1 else binary
    chosen.__signature__ = inspect.signature(general)  # any names: operators call by position
    return chosen
