"""Pooling to a given output size: window i reads from floor(i * size / out) to ceil((i + 1) * size / out)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.dispatch.spellings import as_int
from tenfold.nn.arguments import require_floating
from tenfold.nn.ops.pool.laid import as_laid
from tenfold.nn.ops.pool.windows import table_max
from tenfold.tensor.tensor import Tensor

Sizes = tuple[int, ...]


@lru_cache(maxsize=64)
def _means(size: int, out: int) -> Any:
    """The matrix (size, out) that averages the windows."""
    at = np.arange(size)[:, None]
    steps = np.arange(out)
    starts, ends = steps * size // max(1, out), -(-(steps + 1) * size // max(1, out))
    return ((at >= starts) & (at < ends)) / (ends - starts)


def _along(x: Tensor, axis: int, matrix: Any) -> Tensor:
    """Multiply one dimension of `x` by a matrix."""
    factors = tf.tensor(matrix.reshape(-1).tolist(), dtype=x.dtype, device=x.device).view(*matrix.shape)
    return tf.matmul(x.transpose(axis, -1), factors).transpose(axis, -1)


@composite("pool", method=None)
def adaptive_avg_pool(input: Tensor, output_size: Sizes) -> Tensor:
    """The mean over windows that divide each of the last dimensions as evenly as whole elements allow.

    >>> import tenfold
    >>> tenfold.op.adaptive_avg_pool(tenfold.arange(3.0), (2,))
    tensor([0.5000, 1.5000])
    """
    for axis, out in enumerate(reversed(output_size), 1):
        input = _along(input, -axis, _means(input.shape[-axis], out))
    return input


@composite("pool", method=None)
def adaptive_avg_pool_grad(grad: Tensor, input_shape: Sizes, ndim: int) -> Tensor:
    """The gradient of `adaptive_avg_pool` over the last `ndim` dimensions.

    >>> import tenfold
    >>> tenfold.op.adaptive_avg_pool_grad(tenfold.ones(2), (3,), 1)
    tensor([0.5000, 1.0000, 0.5000])
    """
    for axis in range(1, ndim + 1):
        grad = _along(grad, -axis, _means(input_shape[-axis], grad.shape[-axis]).T)
    return grad


@lru_cache(maxsize=64)
def _table(inputs: Sizes, outputs: Sizes) -> Any:
    """The flat index of every element of every window; windows with fewer elements repeat their last."""
    index = np.zeros((1, 1), np.int64)
    for size, out in zip(inputs, outputs, strict=True):
        steps = np.arange(out)
        starts, ends = steps * size // max(1, out), -(-(steps + 1) * size // max(1, out))
        taps = np.arange((ends - starts).max(initial=1))[:, None]
        at = np.minimum(starts + taps, ends - 1)
        index = (index[:, None, :, None] * size + at[None, :, None, :]).reshape(len(index) * len(at), -1)
    return index


@composite("pool", method=None)
def adaptive_max_pool(input: Tensor, output_size: Sizes) -> tuple[Tensor, Tensor]:
    """The largest element of each adaptive window and its index in the flattened plane.

    >>> import tenfold
    >>> tenfold.op.adaptive_max_pool(tenfold.arange(3.0), (2,))
    (tensor([1., 2.]), tensor([1, 2]))
    """
    n = len(output_size)
    return table_max(input, n, _table(tuple(input.shape[input.dim() - n :]), tuple(output_size)), tuple(output_size))


def _sizes(name: str, n: int, input: Tensor, output_size: Any) -> Sizes:
    require_floating(name, input)
    shape = input._array.shape
    # All but the first size for maxima and for means over volumes, which leaves out the channels where there is no batch.
    sized = shape[1:] if "max" in name or n == 3 else shape[-n:]
    if len(shape) not in (n + 1, n + 2) or 0 in sized:
        raise RuntimeError(
            f"{name}(): Expected {n + 1}D or {n + 2}D tensor with non-zero size for non-batch dimensions, but got {list(shape)}"
        )
    given = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * n
    if len(given) != n:
        raise RuntimeError(f"{name}(): output_size must be {n} ints, got {output_size}")
    sizes = tuple(s if o is None else as_int(o, name, "output_size") for o, s in zip(given, shape[-n:], strict=True))
    if min(sizes) < 0:
        raise RuntimeError(f"{name}(): elements of output_size must be greater than or equal to 0 but received {list(sizes)}")
    return sizes


def _maxima(n: int, input: Tensor, output_size: Any, return_indices: bool) -> Any:
    found = adaptive_max_pool(input, _sizes(f"adaptive_max_pool{n}d", n, input, output_size))
    return tuple(as_laid(r, input, n) for r in found) if return_indices else as_laid(found[0], input, n)


@composite("pool", accepts={"input": "floating"}, method=None)
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Means over 1 dimension to the given size; None keeps a dimension. Shape: (N, C, L) or (C, L).

    >>> import tenfold
    >>> tenfold.op.adaptive_avg_pool1d(tenfold.arange(4.0).view(1, 4), 1)
    tensor([[1.5000]])
    """
    return as_laid(adaptive_avg_pool(input, _sizes("adaptive_avg_pool1d", 1, input, output_size)), input, 1)


@composite("pool", accepts={"input": "floating"}, method=None)
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over 2 dimensions to the given size; None keeps a dimension. Shape: (N, C, H, W) or (C, H, W).

    >>> import tenfold
    >>> tenfold.op.adaptive_avg_pool2d(tenfold.arange(4.0).view(1, 2, 2), 1)
    tensor([[[1.5000]]])
    """
    return adaptive_avg_pool(input, _sizes("adaptive_avg_pool2d", 2, input, output_size))


@composite("pool", accepts={"input": "floating"}, method=None)
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means over 3 dimensions to the given size; None keeps a dimension. Shape: (N, C, D, H, W) or (C, D, H, W).

    >>> import tenfold
    >>> tenfold.op.adaptive_avg_pool3d(tenfold.arange(8.0).view(1, 2, 2, 2), 1)
    tensor([[[[3.5000]]]])
    """
    return as_laid(adaptive_avg_pool(input, _sizes("adaptive_avg_pool3d", 3, input, output_size)), input, 3)


@composite("pool", accepts={"input": "floating"}, method=None)
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over 1 dimension to the given size, with `return_indices` where they are. Shape: (N, C, L) or (C, L).

    >>> import tenfold
    >>> tenfold.op.adaptive_max_pool1d(tenfold.arange(4.0).view(1, 4), 1)
    tensor([[3.]])
    """
    return _maxima(1, input, output_size, return_indices)


@composite("pool", accepts={"input": "floating"}, method=None)
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over 2 dimensions to the given size, with `return_indices` where they are. Shape: (N, C, H, W) or (C, H, W).

    >>> import tenfold
    >>> tenfold.op.adaptive_max_pool2d(tenfold.arange(4.0).view(1, 2, 2), 1)
    tensor([[[3.]]])
    """
    return _maxima(2, input, output_size, return_indices)


@composite("pool", accepts={"input": "floating"}, method=None)
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over 3 dimensions to the given size, with `return_indices` where they are. Shape: (N, C, D, H, W) or (C, D, H, W).

    >>> import tenfold
    >>> tenfold.op.adaptive_max_pool3d(tenfold.arange(8.0).view(1, 2, 2, 2), 1)
    tensor([[[[7.]]]])
    """
    return _maxima(3, input, output_size, return_indices)
