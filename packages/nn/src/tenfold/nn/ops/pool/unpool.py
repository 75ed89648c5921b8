"""The inverse of maximum pooling: maxima go back to where they were found."""

from __future__ import annotations

from math import prod
from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import per_dim, require_floating
from tenfold.settings.determinism import alert_not_deterministic
from tenfold.tensor.tensor import Tensor

Sizes = tuple[int, ...]


def _unpool(
    name: str, n: int, input: Tensor, indices: Tensor, kernel: Any, stride: Any, padding: Any, output_size: Any
) -> Tensor:
    require_floating(name, input)
    alert_not_deterministic(f"max_unpooling{max(n, 2)}d_forward_out")
    kernel = per_dim(kernel, n, f"{name}: kernel_size")
    stride = kernel if stride is None else per_dim(stride, n, f"{name}: stride")
    padding = per_dim(padding, n, f"{name}: padding")
    if input.dim() not in (n + 1, n + 2) or input.shape != indices.shape:
        raise RuntimeError(
            f"{name}: Expected an input of {n + 1} or {n + 2} dimensions and indices of its shape, got "
            f"{list(input.shape)} and {list(indices.shape)}"
        )
    if indices.dtype is not tf.int64:
        raise RuntimeError(f"{name}: elements in indices should be type int64 but got: {indices.dtype.name}")
    usual = [(i - 1) * s - 2 * p + k for i, s, p, k in zip(input.shape[-n:], stride, padding, kernel, strict=True)]
    sizes = _unpooled_sizes(name, usual, stride, output_size)
    lead = tuple(input.shape[:-n])
    visible = indices._key.device.type != "meta" and indices._key.level is None  # inside vmap values cannot be looked at
    visible = visible and not getattr(indices.device.backend, "reports_indices", False)  # of those out of bounds scatter tells
    if input.numel() and visible and (int(indices.max()) >= prod(sizes) or int(indices.min()) < 0):
        raise RuntimeError(f"{name}: Found an invalid max index: {int(indices.max())} (output size is {list(sizes)})")
    rows = prod(lead), prod(input.shape[-n:])
    zeros = tf.zeros(rows[0], prod(sizes), dtype=input.dtype, device=input.device)
    result = zeros.scatter(1, indices.reshape(rows), input.reshape(rows)).reshape(*lead, *sizes)
    lies_last = n == 2 and input.dim() == 4 and not input.is_contiguous() and input.is_contiguous(memory_format=tf.channels_last)
    return result.contiguous(memory_format=tf.channels_last) if lies_last else result


def _unpooled_sizes(name: str, usual: list[int], stride: Sizes, output_size: Any) -> Sizes:
    if output_size is None:
        return tuple(usual)
    sizes = tuple(output_size)[-len(usual) :]
    if len(sizes) != len(usual):
        raise ValueError(
            f"{name}: output_size should be a sequence containing {len(usual)} or {len(usual) + 2} elements, but "
            f"it has a length of '{len(sizes)}'"
        )
    for got, size, step in zip(sizes, usual, stride, strict=True):
        if not size - step < got < size + step:
            raise ValueError(
                f'{name}: invalid output_size "{list(sizes)}" (each must be between {size - step} and {size + step})'
            )
    return sizes


@composite("pool", accepts={"input": "floating"}, method=None)
def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Put maxima back where `max_pool1d` found them, zeros elsewhere. Shape: (N, C, L) or (C, L).

    >>> import tenfold
    >>> tenfold.op.max_unpool1d(tenfold.tensor([[3.0]]), tenfold.tensor([[1]]), 2)
    tensor([[0., 3.]])
    """
    return _unpool("max_unpool1d", 1, input, indices, kernel_size, stride, padding, output_size)


@composite("pool", accepts={"input": "floating"}, method=None)
def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Put maxima back where `max_pool2d` found them, zeros elsewhere. Shape: (N, C, H, W) or (C, H, W).

    >>> import tenfold
    >>> tenfold.op.max_unpool2d(tenfold.tensor([[[3.0]]]), tenfold.tensor([[[2]]]), 2)
    tensor([[[0., 0.],
             [3., 0.]]])
    """
    return _unpool("max_unpool2d", 2, input, indices, kernel_size, stride, padding, output_size)


@composite("pool", accepts={"input": "floating"}, method=None)
def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Put maxima back where `max_pool3d` found them, zeros elsewhere. Shape: (N, C, D, H, W) or (C, D, H, W).

    >>> import tenfold
    >>> tenfold.op.max_unpool3d(tenfold.tensor([[[[3.0]]]]), tenfold.tensor([[[[1]]]]), (1, 1, 2))
    tensor([[[[0., 3.]]]])
    """
    return _unpool("max_unpool3d", 3, input, indices, kernel_size, stride, padding, output_size)
