"""PyTorch's convolution functions for one to three dimensions."""

from __future__ import annotations

from operator import index
from typing import Any

from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import per_dim
from tenfold.nn.ops.conv.convolution import Sizes, check_convolution, check_output_padding, check_steps, convolution
from tenfold.nn.ops.padding import constant_pad
from tenfold.tensor.tensor import Tensor


def _same_padding(name: str, input: Tensor, weight: Tensor, stride: Sizes, dilation: Sizes) -> tuple[Tensor, Sizes]:
    """The input and padding with which the result keeps the input's size; uneven padding is put on first."""
    if any(s != 1 for s in stride):
        raise RuntimeError(f"{name}: padding='same' is not supported for strided convolutions, got stride={stride}")
    total = [d * (k - 1) for k, d in zip(weight.shape[2:], dilation, strict=True)]
    if any(t % 2 for t in total):
        input = constant_pad(input, tuple(n for t in reversed(total) for n in (0, t % 2)), 0)
    return input, tuple(t // 2 for t in total)


def _plain(
    name: str, n: int, input: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Tensor:
    if weight.dim() != n + 2:
        raise RuntimeError(
            f"{name}: expected a weight of {n + 2} dimensions (out, in / groups, *kernel), got {list(weight.shape)}"
        )
    stride, dilation = per_dim(stride, n, f"{name}: stride"), per_dim(dilation, n, f"{name}: dilation")
    if type(padding) is str:
        if padding == "same":
            input, padding = _same_padding(name, input, weight, stride, dilation)
        elif padding == "valid":
            padding = 0
        else:
            raise RuntimeError(f"{name}: Invalid padding string: {padding!r}; it must be 'same', 'valid', or ints")
    padding = per_dim(padding, n, f"{name}: padding")
    groups = index(groups)
    check_steps(name, stride, padding, dilation, groups)
    if 0 in input._array.shape or (bias is not None and bias._array.shape != weight._array.shape[:1]):
        # no kernel would notice sizes that do not fit
        check_convolution(input, weight, bias, stride, padding, dilation, False, (0,) * n, groups)
    return convolution(input, weight, bias, stride, padding, dilation, False, (0,) * n, groups)


def _transposed(
    name: str,
    n: int,
    input: Tensor,
    weight: Tensor,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Tensor:
    if weight.dim() != n + 2:
        raise RuntimeError(
            f"{name}: expected a weight of {n + 2} dimensions (in, out / groups, *kernel), got {list(weight.shape)}"
        )
    stride, dilation = per_dim(stride, n, f"{name}: stride"), per_dim(dilation, n, f"{name}: dilation")
    padding, more = per_dim(padding, n, f"{name}: padding"), per_dim(output_padding, n, f"{name}: output_padding")
    groups = index(groups)
    check_steps(name, stride, padding, dilation, groups)
    if 0 in input._array.shape or (bias is not None and bias._array.shape != (weight._array.shape[1] * groups,)):
        check_convolution(input, weight, bias, stride, padding, dilation, True, more, groups)
    else:  # of an empty batch none is too large
        check_output_padding(name, more, stride, dilation)
    return convolution(input, weight, bias, stride, padding, dilation, True, more, groups)


@composite("conv", accepts={"input": "integer floating complex"}, method=None)
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution over 1 dimension; padding may be "same" or "valid". Shape: (N, C, L) -> (N, O, ...); see `convolution`.

    >>> import tenfold
    >>> tenfold.conv1d(tenfold.ones(1, 1, 4), tenfold.ones(1, 1, 3)).shape
    tenfold.Size([1, 1, 2])
    """
    return _plain("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@composite("conv", accepts={"input": "integer floating complex"}, method=None)
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution over 2 dimensions; padding may be "same" or "valid". Shape: (N, C, H, W) -> (N, O, ...); see `convolution`.

    >>> import tenfold
    >>> tenfold.conv2d(tenfold.ones(1, 1, 3, 3), tenfold.ones(1, 1, 2, 2)).shape
    tenfold.Size([1, 1, 2, 2])
    """
    return _plain("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@composite("conv", accepts={"input": "integer floating complex"}, method=None)
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution over 3 dimensions; padding may be "same" or "valid". Shape: (N, C, D, H, W) -> (N, O, ...); see `convolution`.

    >>> import tenfold
    >>> tenfold.conv3d(tenfold.ones(1, 1, 3, 3, 3), tenfold.ones(1, 1, 2, 2, 2)).shape
    tenfold.Size([1, 1, 2, 2, 2])
    """
    return _plain("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


@composite("conv", accepts={"input": "int64 floating complex"}, method=None)
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Transposed convolution over 1 dimension, the gradient of `conv1d` for its input; see `convolution`.

    >>> import tenfold
    >>> tenfold.conv_transpose1d(tenfold.ones(1, 1, 4), tenfold.ones(1, 1, 3)).shape
    tenfold.Size([1, 1, 6])
    """
    return _transposed("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@composite("conv", accepts={"input": "int64 floating complex"}, method=None)
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Transposed convolution over 2 dimensions, the gradient of `conv2d` for its input; see `convolution`.

    >>> import tenfold
    >>> tenfold.conv_transpose2d(tenfold.ones(1, 1, 3, 3), tenfold.ones(1, 1, 2, 2)).shape
    tenfold.Size([1, 1, 4, 4])
    """
    return _transposed("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


@composite("conv", accepts={"input": "int64 floating complex"}, method=None)
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Transposed convolution over 3 dimensions, the gradient of `conv3d` for its input; see `convolution`.

    >>> import tenfold
    >>> tenfold.conv_transpose3d(tenfold.ones(1, 1, 3, 3, 3), tenfold.ones(1, 1, 2, 2, 2)).shape
    tenfold.Size([1, 1, 4, 4, 4])
    """
    return _transposed("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


@composite("conv", method=None)
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """`conv1d` of sequences whose time comes first. Shape: (T, N, C), (K, C, O), (O) -> (T + 2 pad - K + 1, N, O).

    >>> import tenfold
    >>> tenfold.conv_tbc(tenfold.ones(4, 1, 1), tenfold.ones(3, 1, 1), tenfold.zeros(1)).shape
    tenfold.Size([2, 1, 1])
    """
    if input.dim() != 3 or weight.dim() != 3 or bias.dim() != 1:
        raise RuntimeError(
            f"conv_tbc: expected input (T, N, C), weight (K, C, O) and bias (O), got {list(input.shape)}, {list(weight.shape)} "
            f"and {list(bias.shape)}"
        )
    return conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)
