"""Copies: into other memory, another dtype, another layout; to and from the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cuda import pinned, runtime
from tenfold.cuda.attaching import kernel, where_its_arrays_are
from tenfold.cuda.element_types import DTYPES
from tenfold.cuda.kernels.array_kernels import cast, wide
from tenfold.cuda.kernels.eight_bits import is_eight
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.swift import swiftly
from tenfold.cuda.recordings import spoil
from tenfold.dispatch.inplace import bump_version
from tenfold.dispatch.operators import op
from tenfold.dispatch.runtime import STATE
from tenfold.types.dtypes import from_numpy
from tenfold.types.memory_format import preserve_format
from tenfold.types.numbers import element

WORD = 8  # bytes of a number at most that a kernel has as an argument


def write(destination: Any, source: Any) -> None:
    """Copy `source` (broadcast, converted, on any device) into the memory of `destination`."""
    if source is destination:  # as a draw into it gives it
        return
    now = runtime.current()
    if is_eight(destination.dtype) or is_eight(source.dtype):
        spoil()
        source = cast(source, destination.dtype)
        if is_eight(destination.dtype):
            destination, source = destination.view(np.uint8), source.view(np.uint8)
    if now.index_of(source) != now.index_of(destination):
        source = now.to_peer(source, now.index_of(destination))
    elif destination.size > 1 and overlaps(destination, source):
        spoil()  # a copy that the next call may not need
        source = run("cast", source) if source.dtype.kind != "c" else source.copy()
    if destination.dtype.kind == "c" != source.dtype.kind:  # no formula has complex numbers
        spoil()
        destination[...] = wide(source)
    elif run("cast", source, out=destination) is NotImplemented:
        spoil()
        destination[...] = source.real if source.dtype.kind == "c" != destination.dtype.kind else source


write_there = where_its_arrays_are(write)  # for those whose GPU may not be the current one


def overlaps(a: Any, b: Any) -> bool:
    """Whether two arrays of one device may share bytes without being the same elements."""
    now = runtime.current()
    if now.apart(a, b):
        return False
    if a.dtype == b.dtype and a.strides == b.strides and now.pointer(a) == now.pointer(b):
        return False
    return may_share(a, b)


def may_share(a: Any, b: Any) -> bool:
    """Whether bytes of two arrays of one device, their own or between their elements, are the same."""
    now = runtime.current()
    (a_low, a_high), (b_low, b_high) = _bounds(now.pointer(a), a), _bounds(now.pointer(b), b)
    return a_low < b_high and b_low < a_high


def _bounds(start: int, array: Any) -> tuple[int, int]:
    """The addresses of an array's first byte and of the one after its last."""
    reach = [(n - 1) * s for n, s in zip(array.shape, array.strides)]
    return start + sum(r for r in reach if r < 0), start + sum(r for r in reach if r > 0) + int(array.dtype.itemsize)


@kernel(op.to_device, device="cuda")
def to_device(input: Any, device: Any, non_blocking: bool) -> Any:
    now = runtime.current()
    if non_blocking and device.type == "cpu" and not runtime.is_replaced():
        return pinned.to_host(now, input), device
    if device.type == "cuda" and device.index != now.index_of(input):
        return now.to_peer(input, device.index), device
    return device.backend.from_numpy(now.to_host(input), device.index), device


@where_its_arrays_are
def _anyhow(input: Any, target: Any) -> Any:
    if input.dtype.kind == "c" and target.kind == "b":
        return run("logical_or", input.real, input.imag)
    if input.dtype.kind == "c" and target.kind != "c":
        input = input.real  # a view, of which the result is a copy
    if is_eight(target) and input.dtype == target:
        return clone_contiguous(input)
    return run("cast", input) if input.dtype == target and input.dtype.kind != "c" else cast(input, target)


def _swift(source: Any, target: Any) -> Any:
    """What casts from one dtype to another in one launch; None: that is done in another way."""
    if source == target or {source.kind, target.kind} & {"c"} or is_eight(source) or is_eight(target):
        return None

    def general(input: Any, out: Any = None, seen: list[Any] | None = None) -> Any:
        return run("cast", input, dtype=target, seen=seen)

    return swiftly(general, 1, most=0)  # what it gives may become a parameter's gradient


_swiftly: dict[tuple[Any, Any], Any] = {}


@kernel(op.to_dtype, device="cuda", chooses_device=True)
def to_dtype(input: Any, dtype: Any) -> Any:
    key = (input.dtype, dtype)
    found = _swiftly.get(key, _swiftly)
    if found is _swiftly:
        if dtype.name not in DTYPES:
            raise TypeError(f"to(): device 'cuda' has no dtype {dtype.name}; it has {', '.join(DTYPES)}")
        found = _swiftly[key] = _swift(input.dtype, dtype.numpy)
    if found is not None:
        result = found(input)
        if result is not NotImplemented:
            return result
    return _anyhow(input, dtype.numpy)


@kernel(op.clone, device="cuda", plays=True)
def clone(input: Any, memory_format: Any) -> Any:
    copy = _room(input, memory_format)
    if copy.size:
        write(copy, input)
    return copy


def _room(input: Any, memory_format: Any = preserve_format) -> Any:
    """Memory for a copy of an array, laid out as the array is or in a format."""
    geometry = op.clone.shape_rule(input, memory_format)
    now = runtime.current()
    block = now.empty((max(geometry.size, 1),), input.dtype, now.index_of(input))
    return now.view(block, geometry.shape, geometry.strides, 0, input.dtype)


@kernel(op.copy, device="cuda", into=True)
def copy(input: Any, src: Any, non_blocking: bool, out: Any = None) -> Any:
    if out is None:
        out = _room(input)
    if out.size:
        write(out, src)
    return out


def _written_later(input: Any, src: Any, non_blocking: bool) -> Any:
    """`pinned.copy_(tensor on a GPU, non_blocking=True)`: the GPU writes there when it comes to it, a graph each time."""
    if not non_blocking or runtime.is_replaced() or not (input.is_cpu and getattr(src, "is_cuda", False) and input.is_pinned()):
        return NotImplemented
    if src._key.level is not None:
        return NotImplemented
    recorded = STATE.grad_enabled and not (input._node is src._node is None)
    if recorded or hasattr(input._storage, "detached"):
        return NotImplemented
    if src.shape != input.shape or not pinned.written(runtime.current(), input._array, src.detach().to(input.dtype)._array):
        return NotImplemented
    bump_version(input)
    return input


op.copy.in_place = _written_later


@kernel(op.fill, device="cuda", into=True)
def fill(input: Any, value: Any, out: Any = None) -> Any:
    """A number's bits, or a 0-d array's value, everywhere."""
    if value.ndim if hasattr(value, "ndim") else input.dtype.itemsize == 2 and not -6e4 < value.real < 6e4:
        return NotImplemented  # the body has the words, also for what may not fit float16
    if out is None:
        out = _room(input)
    if hasattr(value, "ndim"):
        write(out, value)
        return out
    one = np.full((), element(value, from_numpy(out.dtype)), out.dtype)
    dense = out.flags.c_contiguous or runtime.order_in_memory(out) is not None
    if runtime.is_replaced() or one.itemsize > WORD or not dense:
        word = f"u{one.itemsize}" if one.itemsize <= WORD else out.dtype
        out.view(word).fill(one.view(word)[()])
    elif out.size:
        now = runtime.current()
        now.repeat(out, one.tobytes(), now.index_of(out))
    return out


@kernel(op.zero, device="cuda", into=True)
def zero(input: Any, out: Any = None) -> Any:
    if out is None:
        out = _room(input)
    out.fill(np.zeros((), input.dtype)[()] if input.dtype.kind == "V" else 0)
    return out


def clone_contiguous(array: Any) -> Any:
    """A row-major copy."""
    now = runtime.current()
    out = now.empty(array.shape, array.dtype, now.index_of(array))
    if out.size:
        write(out, array)
    return out
