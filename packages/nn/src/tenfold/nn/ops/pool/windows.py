"""Pooling over windows of a fixed size: maximum, average, power mean."""

from __future__ import annotations

from functools import lru_cache
from math import inf, prod
from typing import Any

import numpy as np

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import per_dim, require_floating
from tenfold.nn.ops.conv.convolution import patches, spread_patches
from tenfold.nn.ops.padding import constant_pad
from tenfold.nn.ops.pool.laid import as_laid
from tenfold.nn.ops.pool.straddling import marked
from tenfold.nn.window import Sizes, Window, mean_factors, window_over
from tenfold.tensor.tensor import Tensor


def as_planes(x: Tensor, ndim: int) -> Tensor:
    """View `x` as (1, planes, *S), the last `ndim` dimensions spatial."""
    at = x.dim() - ndim
    return x.reshape(1, prod(x.shape[:at]), *x.shape[at:])


def table_max(input: Tensor, ndim: int, table: Any, outputs: Sizes) -> tuple[Tensor, Tensor]:
    """The maximum over given elements of each plane, and where it is.

    `table` (taps, positions) has the flat index of each element in the plane; what a window lacks repeats another.
    """
    lead = tuple(input.shape[: input.dim() - ndim])
    where = tf.tensor(table.reshape(-1).tolist(), dtype=tf.int64, device=input.device)
    taps, positions = table.shape
    flat = input.reshape(prod(lead), prod(input.shape[len(lead) :]))
    windows = tf.index_select(flat, 1, where).view(prod(lead), taps, positions)
    values, best = windows.max(1)
    index = where.view(1, taps, positions).expand(prod(lead), taps, positions).gather(1, best.unsqueeze(1))
    return values.reshape(*lead, *outputs), index.reshape(*lead, *outputs)


@lru_cache(maxsize=64)
def _window_table(window: Window) -> Any:
    """The flat index of every element of every window; outside the plane, that of the window's first element inside."""
    index, inside = np.zeros((1, 1), np.int64), np.ones((1, 1), bool)
    for axis, size in enumerate(window.inputs):
        taps = np.arange(window.kernel[axis])[:, None] * window.dilation[axis] - window.padding[axis]
        at = taps + np.arange(window.outputs[axis]) * window.stride[axis]
        shape = (len(index) * len(at), index.shape[1] * at.shape[1])
        index = (index[:, None, :, None] * size + at[None, :, None, :]).reshape(shape)
        inside = (inside[:, None, :, None] & ((at >= 0) & (at < size))[None, :, None, :]).reshape(shape)
    first = np.take_along_axis(index, inside.argmax(0)[None], 0)
    return np.clip(np.where(inside, index, first), 0, max(0, prod(window.inputs) - 1))


@composite("pool", method=None)
def max_pool(
    input: Tensor, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> tuple[Tensor, Tensor]:
    """The largest element of each window over the last dimensions, and its index in the flattened plane.

    >>> import tenfold
    >>> tenfold.op.max_pool(tenfold.tensor([1.0, 3.0, 2.0, 0.0]), (2,), (2,), (0,), (1,), False)
    (tensor([3., 2.]), tensor([1, 2]))
    """
    ndim = len(kernel_size)
    window = window_over(tuple(input.shape[input.dim() - ndim :]), kernel_size, stride, padding, dilation, ceil_mode)
    return table_max(input, ndim, _window_table(window), window.outputs)


@composite("pool", method=None)
def max_pool_grad(grad: Tensor, indices: Tensor, input_shape: Sizes, ndim: int) -> Tensor:
    """The gradient of a maximum pooling: `grad` is added where each maximum came from.

    >>> import tenfold
    >>> tenfold.op.max_pool_grad(tenfold.ones(1), tenfold.tensor([1]), (3,), 1)
    tensor([0., 1., 0.])
    """
    lead = prod(input_shape[: len(input_shape) - ndim])
    zeros = tf.zeros(lead, prod(input_shape[len(input_shape) - ndim :]), dtype=grad.dtype, device=grad.device)
    count = prod(grad.shape[grad.dim() - ndim :])
    return zeros.scatter_add(1, indices.reshape(lead, count), grad.reshape(lead, count)).view(*input_shape)


@composite("pool", method=None)
def avg_pool(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """The mean of each window over the last dimensions.

    >>> import tenfold
    >>> tenfold.op.avg_pool(tenfold.tensor([1.0, 3.0, 2.0]), (2,), (1,), (0,), False, True, None)
    tensor([2.0000, 2.5000])
    """
    window, scale = _averaging(
        input, tuple(input.shape), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    ndim = len(kernel_size)
    ends = [(o - 1) * s + k for o, s, k in zip(window.outputs, stride, kernel_size, strict=True)]
    pads = [(p, max(0, end - p - n)) for end, p, n in zip(ends, padding, window.inputs, strict=True)]
    x = constant_pad(as_planes(input, ndim), tuple(n for pair in reversed(pads) for n in pair), 0)
    sums = patches(x, kernel_size, stride, (1,) * ndim, window.outputs).sum(2)
    return (sums * scale).reshape(*input.shape[: input.dim() - ndim], *window.outputs)


@composite("pool", method=None)
def avg_pool_grad(
    grad: Tensor,
    input_shape: Sizes,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """The gradient of `avg_pool`: every element of `grad` is shared out over its window.

    >>> import tenfold
    >>> tenfold.op.avg_pool_grad(tenfold.ones(1), (2,), (2,), (2,), (0,), False, True, None)
    tensor([0.5000, 0.5000])
    """
    window, scale = _averaging(grad, input_shape, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    ndim = len(kernel_size)
    shares = (as_planes(grad, ndim) * scale).unsqueeze(2)
    columns = shares.expand(*shares.shape[:2], window.taps, *window.outputs)
    return spread_patches(columns, window.inputs, kernel_size, stride, padding, (1,) * ndim).reshape(input_shape)


def _averaging(
    x: Tensor, shape: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, count_pad: bool, divisor: Any
) -> tuple[Window, Tensor]:
    inputs = tuple(shape[len(shape) - len(kernel) :])
    window = window_over(inputs, kernel, stride, padding, (1,) * len(kernel), ceil_mode)
    factors = mean_factors(window, count_pad, divisor)
    return window, tf.tensor(factors.tolist(), dtype=x.dtype, device=x.device)


def _geometry(
    name: str, n: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Sizes, Sizes, Sizes, Sizes]:
    given = kernel_size, stride, padding, dilation
    known = all(type(v) is int or v is None or (type(v) is tuple and {*map(type, v)} == {int}) for v in given)
    return (sizes_of if known else sizes_of.__wrapped__)(name, n, input._array.shape, *given, bool(ceil_mode))


@lru_cache(maxsize=256)
def sizes_of(
    name: str, n: int, shape: Sizes, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Sizes, Sizes, Sizes, Sizes]:
    """Kernel size, stride, padding and dilation, one for each dimension, of a pool over an input of this shape."""
    kernel = per_dim(kernel_size, n, f"{name}: kernel_size")
    steps = kernel if stride is None or (type(stride) in (list, tuple) and not stride) else per_dim(stride, n, f"{name}: stride")
    pads, gaps = per_dim(padding, n, f"{name}: padding"), per_dim(dilation, n, f"{name}: dilation")
    if len(shape) not in (n + 1, n + 2) or 0 in shape[-n - 1 :]:
        raise RuntimeError(
            f"{name}: Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for input, "
            f"but got: {list(shape)}"
        )
    for what, values in (("kernel size", kernel), ("stride", steps), ("dilation", gaps)):
        if min(values) <= 0:
            if what == "stride" and 0 in values and name != "max_pool1d":
                raise RuntimeError(f"{name}: stride should not be zero, but got {values}")
            must = "must" if name == "max_pool1d" else "should"
            raise RuntimeError(f"{name}: {what} {must} be greater than zero, but got {values}")
    for p, k, d in zip(pads, kernel, gaps, strict=True):
        if p < 0 or p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(
                f"{name}: pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}"
            )
        if p > k // 2:
            raise RuntimeError(
                f"{name}: pad should be smaller than or equal to half of kernel size, but got pad={p}, kernel_size={k}"
            )
    _check_outputs(name, shape, kernel, steps, pads, gaps, ceil_mode)
    return kernel, steps, pads, gaps


def _check_outputs(name: str, shape: Sizes, kernel: Sizes, steps: Sizes, pads: Sizes, gaps: Sizes, ceil_mode: bool) -> None:
    n = len(kernel)
    window = window_over(shape[-n:], kernel, steps, pads, gaps, ceil_mode)
    if min(window.outputs) < 1:
        one = (1,) if n == 1 else ()  # one dimension is the last of two
        C = shape[-n - 1]
        had, left = ("x".join(map(str, (C, *one, *each))) for each in (shape[-n:], window.outputs))
        raise RuntimeError(f"{name}: Given input size: ({had}). Calculated output size: ({left}). Output size is too small")


def _max(name: str, n: int, input: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, both: bool) -> Any:
    require_floating(name, input, also="" if n == 1 and not both else "iu")
    sizes = _geometry(name, n, input, kernel, stride, padding, dilation, ceil)
    result: Any = max_pool(input, *sizes, ceil)
    if max(sizes[3]) > min(input._array.shape[-n:]):  # taps on both sides of the input
        result = marked(result, tuple(input.shape[-n:]), *sizes, ceil)
    if n == 1 and (both or (input.requires_grad and tf.is_grad_enabled())):  # else PyTorch has another kernel
        result = as_laid(result[0], input, 1), as_laid(result[1], input, 1)
    if n == 3 and input.dim() == 4 and not input.is_contiguous():  # what a batch of one tells of how it lies in memory
        last = tf.channels_last_3d
        if input.unsqueeze(0).is_contiguous(memory_format=last):
            result = [r.unsqueeze(0).contiguous(memory_format=last).squeeze(0) for r in result]
    return tuple(result) if both else result[0]


def _avg(
    name: str, n: int, input: Tensor, kernel: Any, stride: Any, padding: Any, ceil: bool, count_pad: bool, divisor: Any
) -> Tensor:
    if input.dtype is not tf.int64:
        require_floating(name, input)
    kernel, steps, pads, _ = _geometry(name, n, input, kernel, stride, padding, 1, ceil)
    if divisor == 0:
        raise RuntimeError(f"{name}: divisor must be not zero")
    if n == 3 and any(size < k for size, k in zip(input.shape[-3:], kernel, strict=True)):
        sizes = tuple(input.shape[-3:])
        raise RuntimeError(f"{name}: input image {sizes} smaller than kernel size {kernel}, which padding does not help")
    if input._array.dtype.kind in "iu":
        return as_laid(_integer_means(input, kernel, steps, pads, ceil, count_pad, divisor), input, n)
    return as_laid(avg_pool(input, kernel, steps, pads, ceil, count_pad, divisor), input, n)


def _integer_means(input: Tensor, kernel: Sizes, steps: Sizes, pads: Sizes, ceil: bool, count_pad: bool, divisor: Any) -> Tensor:
    """Means of integers, rounded towards zero."""
    sums = avg_pool(input, kernel, steps, pads, ceil, count_pad, 1)
    window = window_over(tuple(input.shape[-len(kernel) :]), kernel, steps, pads, (1,) * len(kernel), ceil)
    counts = np.rint(1 / mean_factors(window, count_pad, divisor)).astype(np.int64)
    return tf.div(sums, tf.tensor(counts.tolist(), dtype=input.dtype, device=input.device), rounding_mode="trunc")


def _power_mean(n: int, input: Tensor, norm_type: Any, kernel: Any, stride: Any, ceil_mode: bool) -> Tensor:
    name, kernel = f"lp_pool{n}d", per_dim(kernel, n, f"lp_pool{n}d: kernel_size")
    if norm_type in (inf, -inf):
        return (s := 1 if norm_type > 0 else -1) * _max(name, n, s * input.abs(), kernel, stride, 0, 1, ceil_mode, False)
    means = _avg(name, n, input.pow(norm_type), kernel, stride, 0, ceil_mode, True, None)
    sizes = tf.relu(means) if norm_type in (2, 4, 6) else tf.sign(means) * tf.relu(tf.abs(means))  # no even mean is below 0
    return (sizes * prod(kernel)).pow(1.0 / norm_type)


@composite("pool", accepts={"input": "integer floating"}, method=None)
def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window, and with `return_indices` its index in the flattened plane; NaN wins.

    Shape: (N, C, L) or (C, L); stride None is the kernel's size. Dtype: floating, with `return_indices` integers too.
    Raises: RuntimeError for sizes that do not fit.

    >>> import tenfold
    >>> tenfold.max_pool1d(tenfold.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[3., 2.]])
    """
    return _max("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@composite("pool", accepts={"input": "integer floating"}, method=None)
def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window, and with `return_indices` its index in the flattened plane; NaN wins.

    Shape: (N, C, H, W) or (C, H, W); stride None is the kernel's size. Raises: RuntimeError for sizes that do not fit.

    >>> import tenfold
    >>> tenfold.max_pool2d(tenfold.arange(4.0).view(1, 2, 2), 2)
    tensor([[[3.]]])
    """
    return _max("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@composite("pool", accepts={"input": "integer floating"}, method=None)
def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window, and with `return_indices` its index in the flattened plane; NaN wins.

    Shape: (N, C, D, H, W) or (C, D, H, W); stride None is the kernel's size. Raises: RuntimeError for sizes that do not fit.

    >>> import tenfold
    >>> tenfold.max_pool3d(tenfold.arange(8.0).view(1, 2, 2, 2), 2)
    tensor([[[[7.]]]])
    """
    return _max("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@composite("pool", accepts={"input": "int64 floating"}, method=None)
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window; zeros of the padding count unless `count_include_pad` is False.

    Shape: (N, C, L) or (C, L); stride None is the kernel's size. Raises: RuntimeError for sizes that do not fit.

    >>> import tenfold
    >>> tenfold.op.avg_pool1d(tenfold.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[2., 1.]])
    """
    return _avg("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@composite("pool", accepts={"input": "int64 floating"}, method=None, out="same")
def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window; zeros of the padding count unless `count_include_pad` is False.

    Shape: (N, C, H, W) or (C, H, W); stride None is the kernel's size. Raises: RuntimeError for sizes that do not fit.

    >>> import tenfold
    >>> tenfold.op.avg_pool2d(tenfold.arange(4.0).view(1, 2, 2), 2)
    tensor([[[1.5000]]])
    """
    return _avg("avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@composite("pool", accepts={"input": "int64 floating"}, method=None, out="same")
def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window; zeros of the padding count unless `count_include_pad` is False.

    Shape: (N, C, D, H, W) or (C, D, H, W); stride None is the kernel's size. Raises: RuntimeError for sizes that do not fit.

    >>> import tenfold
    >>> tenfold.op.avg_pool3d(tenfold.arange(8.0).view(1, 2, 2, 2), 2)
    tensor([[[[3.5000]]]])
    """
    return _avg("avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@composite("pool", method=None)
def lp_pool1d(input: Tensor, norm_type: float | Tensor, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norm of each window: (sum of x^p)^(1/p), p being `norm_type`. Shape: (N, C, L) or (C, L).

    >>> import tenfold
    >>> tenfold.op.lp_pool1d(tenfold.tensor([[3.0, 4.0]]), 2, 2)
    tensor([[5.]])
    """
    return _power_mean(1, input, norm_type, kernel_size, stride, ceil_mode)


@composite("pool", method=None)
def lp_pool2d(input: Tensor, norm_type: float | Tensor, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norm of each window: (sum of x^p)^(1/p), p being `norm_type`. Shape: (N, C, H, W) or (C, H, W).

    >>> import tenfold
    >>> tenfold.op.lp_pool2d(tenfold.tensor([[[3.0, 4.0], [0.0, 0.0]]]), 2, 2)
    tensor([[[5.]]])
    """
    return _power_mean(2, input, norm_type, kernel_size, stride, ceil_mode)


@composite("pool", method=None)
def lp_pool3d(input: Tensor, norm_type: float | Tensor, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norm of each window: (sum of x^p)^(1/p), p being `norm_type`. Shape: (N, C, D, H, W) or (C, D, H, W).

    >>> import tenfold
    >>> tenfold.op.lp_pool3d(tenfold.tensor([[[[3.0, 4.0]]]]), 2, (1, 1, 2))
    tensor([[[[5.]]]])
    """
    return _power_mean(3, input, norm_type, kernel_size, stride, ceil_mode)
