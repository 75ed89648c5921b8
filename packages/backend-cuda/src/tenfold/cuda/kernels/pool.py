"""Pooling over windows: maxima with their places, means, adaptive means, and their gradients, one launch each."""

from __future__ import annotations

from math import gcd, prod
from typing import Any

import numpy as np

from tenfold.cuda import runtime
from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import cast
from tenfold.cuda.kernels.handwritten import F32, F64, FLOATS, Handwritten, contiguous, near, start
from tenfold.cuda.kernels.planes import Planes, allocated, channels_last, planes, window_constants
from tenfold.cuda.precision import switches
from tenfold.dispatch.operators import op
from tenfold.settings.determinism import are_deterministic_algorithms_enabled
from tenfold.types.memory_format import suggested_format

BLOCK = 256
INT64 = np.dtype(np.int64)


def as_five(x: Any, ndim: int) -> Any:
    """The array as (N, C, *S) with `ndim` spatial dimensions; what is in front of these becomes N and C."""
    lead = x.shape[: x.ndim - ndim]
    if len(lead) == 2:
        return near(x)
    return contiguous(x).reshape(1, prod(lead), *x.shape[len(lead) :])


def _served(x: Any, *shapes: Any, integers: bool = False) -> bool:
    return (
        (x.dtype in FLOATS or (integers and x.dtype.kind in "iu" and x.dtype.name != "uint64"))
        and 0 < x.size < 2**31
        and all(0 < prod(shape) < 2**31 for shape in shapes)
    )


def _last(x: Any) -> bool:
    """Whether an array (N, C, *S) lies channels last, also as a part of the channels of one that does."""
    if x.ndim != 4 or x.shape[1] < 2 or prod(x.shape[2:]) < 2:
        return channels_last(x)
    return channels_last(x) or bool(suggested_format(x).order)


def output_length(size: int, kernel_size: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """Positions of a window along a dimension; in `ceil_mode` a cut-off one counts unless it starts in the padding behind.

    >>> output_length(7, 2, 2, 0, 1, False), output_length(7, 2, 2, 0, 1, True)
    (3, 4)
    """
    room = size + 2 * padding - dilation * (kernel_size - 1) - 1
    if not ceil_mode:
        return room // stride + 1
    length = -(-room // stride) + 1
    return length - 1 if (length - 1) * stride >= size + padding else length


def _outputs(x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> tuple[int, ...]:
    sizes = x.shape[x.ndim - len(kernel_size) :]
    return tuple(output_length(i, k, s, p, d, ceil_mode) for i, k, s, p, d in zip(sizes, kernel_size, stride, padding, dilation))


def _numbers(out: Any, source: Planes, result: Planes) -> tuple[int, ...]:
    return (out.size, result.sizes[1], *source.sizes[2:], *result.sizes[2:], *source.strides)


def _kind(dtype: Any) -> int:
    """In what the programs compute: 0 float32, 1 float64, 2 int64."""
    return 2 if dtype.kind in "iu" else int(dtype == F64)


def _start(name: str, constants: Any, double: int, last: bool, window: Any, arrays: Any, numbers: Any, index: int) -> None:
    fixed = (*constants, ("DOUBLE", double), ("LAST", int(last)), *window, ("BLOCK", BLOCK))
    program = Handwritten(name, fixed, 4, by_address=True)
    start(program, (-(-arrays[0].size // BLOCK),), (*arrays, *numbers), index)


@kernel(op.max_pool, device="cuda", plays=True)
def max_pool(input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
    outputs = _outputs(input, kernel_size, stride, padding, dilation, ceil_mode)
    if min(outputs) < 1 or not _served(input, (*input.shape[: input.ndim - len(kernel_size)], *outputs), integers=True):
        return NotImplemented
    return _largest("largest_of_windows", input, outputs, window_constants(kernel_size, stride, padding, dilation))


def _largest(
    name: str, input: Any, outputs: tuple[int, ...], window: tuple[tuple[str, int], ...], *given: Any
) -> tuple[Any, Any]:  # fmt: skip
    """(the largest element of each window, where it is in its plane)."""
    x, lead = as_five(input, len(outputs)), input.shape[: input.ndim - len(outputs)]
    index, last = runtime.current().index_of(x), _last(x)
    out, where = (allocated((*x.shape[:2], *outputs), x, index, last, dtype) for dtype in (x.dtype, INT64))
    _start(name, (), _kind(x.dtype), last, window, (out, where, x, *given), _numbers(out, planes(x), planes(out)), index)
    return out.reshape(*lead, *outputs), where.reshape(*lead, *outputs)


def _nothing(input: Any, output_size: Any, dtype: Any) -> Any:
    """What is left of windows of which there are none; its gradient is refused by the rule."""
    now = runtime.current()
    return now.empty((*input.shape[: input.ndim - len(output_size)], *output_size), dtype, now.index_of(input))


def _taps(inputs: Any, outputs: Any) -> tuple[tuple[str, int], ...]:
    """The most elements of an adaptive window along each dimension, and whether places times sizes take 64 bits.

    A window that begins at i a / b begins with any multiple of gcd(a, b) below b as the rest; the last one's is the longest.

    >>> _taps((10,), (4,))[1:]
    (('TAPS_D', 1), ('TAPS_H', 1), ('TAPS_W', 3))
    """
    taps = [-(-(a + b - gcd(a, b)) // b) for a, b in zip(inputs, outputs)]
    wide = any((a + 1) * (b + 1) >= 2**31 for a, b in zip(inputs, outputs))
    return ("WIDE", int(wide)), *zip(("TAPS_D", "TAPS_H", "TAPS_W"), (*(1,) * (3 - len(taps)), *taps))


@kernel(op.adaptive_max_pool, device="cuda", plays=True)
def adaptive_max_pool(input: Any, output_size: Any) -> Any:
    n = len(output_size)
    if 0 in output_size and input.size:
        return _nothing(input, output_size, input.dtype), _nothing(input, output_size, INT64)
    if not _served(input, (*input.shape[: input.ndim - n], *output_size)):
        return NotImplemented
    return _largest("largest_of_adaptive_windows", input, tuple(output_size), _taps(input.shape[input.ndim - n :], output_size))


@kernel(op.fused_fractional_max_pool, device="cuda", plays=True)
def fused_fractional_max_pool(input: Any, samples: Any, kernel_size: Any, output_size: Any) -> Any:
    n = len(kernel_size)
    if not _served(input, (*input.shape[: input.ndim - n], *output_size)) or samples.dtype not in FLOATS:
        return NotImplemented
    taps = *zip(("TAPS_D", "TAPS_H", "TAPS_W"), (*(1,) * (3 - n), *kernel_size)), ("TWO", int(n == 2))
    return _largest("largest_of_fractional_windows", contiguous(input), tuple(output_size), taps, contiguous(samples))


@kernel(op.max_pool_grad, device="cuda", plays=switches)
def max_pool_grad(grad: Any, indices: Any, input_shape: Any, ndim: int) -> Any:
    if are_deterministic_algorithms_enabled() or not _served(grad, input_shape):  # windows that overlap add in any order
        return NotImplemented
    now = runtime.current()
    index = now.index_of(grad)
    g, where = contiguous(grad), contiguous(indices)
    lead = len(input_shape) - ndim
    wide = F64 if g.dtype == F64 else F32
    out = now.from_host(np.broadcast_to(np.zeros((), wide), tuple(input_shape)), index)
    fixed = (("DOUBLE", int(wide == F64)), ("BLOCK", BLOCK))
    numbers = (g.size, prod(g.shape[lead:]), prod(input_shape[lead:]))
    start(Handwritten("spread_largest", fixed, by_address=True), (-(-g.size // BLOCK),), (out, g, where, *numbers), index)
    return cast(out, g.dtype)


def _averaged(x: Any, shape: tuple[int, ...], gradient: bool, window: Any, count_pad: bool, divisor: int | None) -> Any:
    index, last = runtime.current().index_of(x), _last(x)
    out = allocated(shape, x, index, last)
    constants = (("GRADIENT", int(gradient)), ("PADS", int(count_pad)))
    numbers = (*_numbers(out, planes(x), planes(out)), int(divisor or 0))
    _start("means_of_windows", constants, _kind(x.dtype), last, window, (out, x), numbers, index)
    return out


@kernel(op.avg_pool, device="cuda", plays=True)
def avg_pool(
    input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool, divisor_override: Any
) -> Any:
    outputs = _outputs(input, kernel_size, stride, padding, (1,) * len(kernel_size), ceil_mode)
    whole = divisor_override == 1  # sums of whole numbers
    if min(outputs) < 1 or not _served(input, (*input.shape[: input.ndim - len(kernel_size)], *outputs), integers=whole):
        return NotImplemented
    x, ndim = as_five(input, len(kernel_size)), len(kernel_size)
    window = window_constants(kernel_size, stride, padding, (1,) * ndim)
    out = _averaged(x, (*x.shape[:2], *outputs), False, window, count_include_pad, divisor_override)
    return out.reshape(*input.shape[: input.ndim - ndim], *outputs)


@kernel(op.avg_pool_grad, device="cuda", plays=True)
def avg_pool_grad(
    grad: Any,
    input_shape: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: Any,
) -> Any:
    ndim = len(kernel_size)
    if not _served(grad, input_shape):
        return NotImplemented
    g = as_five(grad, ndim)
    window = window_constants(kernel_size, stride, padding, (1,) * ndim)
    shape = (*g.shape[:2], *input_shape[len(input_shape) - ndim :])
    return _averaged(g, shape, True, window, count_include_pad, divisor_override).reshape(tuple(input_shape))


def _adaptive(input: Any, sizes: tuple[int, ...], gradient: bool) -> Any:
    """Means over windows, or with `gradient` their gradients, whose last dimensions have these sizes."""
    x, lead = as_five(input, len(sizes)), input.shape[: input.ndim - len(sizes)]
    index, last = runtime.current().index_of(x), _last(x)
    out = allocated((*x.shape[:2], *sizes), x, index, last)
    numbers = _numbers(out, planes(x), planes(out))
    constants, taps = (("GRADIENT", int(gradient)),), _taps(x.shape[2:], sizes)
    _start("adaptive_means", constants, _kind(x.dtype), last, taps, (out, x), numbers, index)
    return out.reshape(*lead, *sizes)


@kernel(op.adaptive_avg_pool, device="cuda", plays=True)
def adaptive_avg_pool(input: Any, output_size: Any) -> Any:
    if 0 in output_size and input.size:
        return _nothing(input, output_size, input.dtype)
    if not _served(input, (*input.shape[: input.ndim - len(output_size)], *output_size)):
        return NotImplemented
    return _adaptive(input, tuple(output_size), False)


@kernel(op.adaptive_avg_pool_grad, device="cuda", plays=True)
def adaptive_avg_pool_grad(grad: Any, input_shape: Any, ndim: int) -> Any:
    if not _served(grad, input_shape):
        return NotImplemented
    return _adaptive(grad, tuple(input_shape[len(input_shape) - ndim :]), True)
