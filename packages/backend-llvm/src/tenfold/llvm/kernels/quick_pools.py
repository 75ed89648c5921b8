"""Pools of few pixels row by row, of which nothing is recorded: quick functions for composites of tenfold-nn.

Sizes are looked at once for each shape, in the words of tenfold-nn; the kernels are those of means.py and pool.py, which
are attached before. What they do not know is left to the composites, by NotImplemented or by any exception.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tenfold.dispatch.devices import CPU
from tenfold.llvm.kernels.attaching import quickly
from tenfold.llvm.kernels.means import adaptive_avg_pool, avg_pool
from tenfold.llvm.kernels.pool import adaptive_max_pool
from tenfold.llvm.quick_views import INTS, free
from tenfold.llvm.storage import FLOAT32, FLOAT64
from tenfold.tensor.tensor import wrap

windows: Any = import_module("tenfold.nn.ops.pool.windows")  # tenfold-nn is there where its operators' kernels are asked for
SERVED = frozenset((FLOAT32.dtype, FLOAT64.dtype))


def _plain(input: Any, n: int) -> Any:
    """The array of such a tensor, with a batch or channels in front of n dimensions; None for others."""
    array = input._array
    known = array.dtype in SERVED and array.flags.c_contiguous and n < array.ndim < n + 3 and array.size
    return array if known and free(input) else None


def _number(value: Any) -> bool:
    """Whether a size is an int, several of them, or left out; a truth is none."""
    return type(value) is int or value is None or (type(value) is tuple and set(map(type, value)) == INTS)


def _avg(name: str, n: int, input: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, count: Any, divisor: Any) -> Any:
    array = _plain(input, n)
    if array is None or type(ceil_mode) is not bool or type(count) is not bool or not (divisor is None or type(divisor) is int):
        return NotImplemented
    if not (_number(kernel) and _number(stride) and _number(padding)) or divisor == 0:
        return NotImplemented
    kernel, steps, pads, _ = windows.sizes_of(name, n, array.shape, kernel, stride, padding, 1, ceil_mode)
    if n == 3 and any(size < k for size, k in zip(array.shape[-3:], kernel, strict=True)):
        return NotImplemented
    made = avg_pool(array, kernel, steps, pads, ceil_mode, count, divisor)
    return made if made is NotImplemented else wrap(made, CPU)


def avg_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True
) -> Any:
    """Means of windows."""
    return _avg("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True,
    divisor_override: Any = None,
) -> Any:  # fmt: skip
    """Means of windows."""
    return _avg("avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True,
    divisor_override: Any = None,
) -> Any:  # fmt: skip
    """Means of windows."""
    return _avg("avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _adaptive(kernel: Any, n: int, input: Any, output_size: Any) -> Any:
    """What a kernel makes of pixels for an output of sizes that are ints."""
    array = _plain(input, n)
    sizes = (output_size,) * n if type(output_size) is int else output_size
    if array is None or type(sizes) not in (tuple, list) or len(sizes) != n:
        return NotImplemented
    if None in sizes:
        sizes = [have if size is None else size for size, have in zip(sizes, array.shape[-n:], strict=True)]
    if set(map(type, sizes)) != INTS or min(sizes) < 1:
        return NotImplemented
    return kernel(array, tuple(sizes))


def _means(n: int, input: Any, output_size: Any) -> Any:
    made = _adaptive(adaptive_avg_pool, n, input, output_size)
    return made if made is NotImplemented else wrap(made, CPU)


def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:
    """Means to a given size."""
    return _means(1, input, output_size)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """Means to a given size."""
    return _means(2, input, output_size)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """Means to a given size."""
    return _means(3, input, output_size)


def _maxima(n: int, input: Any, output_size: Any, return_indices: Any) -> Any:
    made = _adaptive(adaptive_max_pool, n, input, output_size) if type(return_indices) is bool else NotImplemented
    if made is NotImplemented or not return_indices:
        return made if made is NotImplemented else wrap(made[0], CPU)
    return wrap(made[0], CPU), wrap(made[1], CPU)


def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: Any = False) -> Any:
    """Maxima to a given size."""
    return _maxima(1, input, output_size, return_indices)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: Any = False) -> Any:
    """Maxima to a given size."""
    return _maxima(2, input, output_size, return_indices)


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: Any = False) -> Any:
    """Maxima to a given size."""
    return _maxima(3, input, output_size, return_indices)


quickly(
    avg_pool1d, avg_pool2d, avg_pool3d, adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d,
    adaptive_max_pool2d, adaptive_max_pool3d,
)  # fmt: skip
