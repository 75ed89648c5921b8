"""Sliding blocks as columns and back."""

from __future__ import annotations

from math import prod
from typing import Any

from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import per_dim, require_floating
from tenfold.nn.ops.conv.convolution import patches, spread_patches
from tenfold.nn.ops.padding import constant_pad
from tenfold.nn.window import Sizes, window_over
from tenfold.tensor.tensor import Tensor


@composite("fold", method=None)
def im2col(input: Tensor, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Tensor:
    """Each window's elements as a column: (N, C, *S) -> (N, C taps, L).

    >>> import tenfold
    >>> tenfold.op.im2col(tenfold.arange(3.0).view(1, 1, 3), (2,), (1,), (0,), (1,))
    tensor([[[0., 1.],
             [1., 2.]]])
    """
    window = window_over(tuple(input.shape[2:]), kernel_size, stride, padding, dilation)
    x = constant_pad(input, tuple(p for n in reversed(padding) for p in (n, n)), 0)
    columns = patches(x, kernel_size, stride, dilation, window.outputs)
    return columns.reshape(input.shape[0], input.shape[1] * window.taps, window.positions)


@composite("fold", method=None)
def col2im(input: Tensor, output_size: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Tensor:
    """Add columns back to where `im2col` took them: (N, C taps, L) -> (N, C, *S).

    >>> import tenfold
    >>> tenfold.op.col2im(tenfold.ones(1, 2, 2), (3,), (2,), (1,), (0,), (1,))
    tensor([[[1., 2., 1.]]])
    """
    window = window_over(tuple(output_size), kernel_size, stride, padding, dilation)
    columns = input.reshape(input.shape[0], input.shape[1] // window.taps, window.taps, *window.outputs)
    return spread_patches(columns, tuple(output_size), kernel_size, stride, padding, dilation)


def _steps(name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple[Sizes, ...]:
    given = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    sizes = tuple(per_dim(v, 2, f"{name}: {what}") for what, v in given.items())
    for (what, value), values in zip(given.items(), sizes, strict=True):
        if isinstance(value, (tuple, list)) and len(value) != 2:
            raise RuntimeError(f"{name}: It is expected {what} equals to 2, but got size {len(value)}")
        least = 0 if what == "padding" else 1
        if min(values) < least:
            raise RuntimeError(
                f"{name}: {what} should be {'non-negative' if least == 0 else 'greater than zero'}, but got {values}"
            )
    return sizes


# tenfold.unfold is the view of sliding windows along one dimension.
@composite("fold", method=None, name="unfold_blocks")
def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Each window's elements as a column.

    Shape: (N, C, H, W) or (C, H, W) -> (N, C kH kW, L) or (C kH kW, L). Raises: RuntimeError for sizes that do not fit.

    >>> from tenfold.nn.ops.fold import unfold
    >>> import tenfold
    >>> unfold(tenfold.arange(4.0).view(1, 1, 2, 2), (1, 2)).shape
    tenfold.Size([1, 2, 2])
    """
    require_floating("unfold", input, also="cb")
    sizes = _steps("unfold", kernel_size, dilation, padding, stride)
    if input.dim() not in (3, 4) or 0 in input.shape[-3:]:
        raise RuntimeError(
            f"unfold: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
    kernel, gaps, pads, steps = sizes
    outputs = window_over(tuple(input.shape[-2:]), kernel, steps, pads, gaps).outputs
    if min(outputs) < 1:
        raise RuntimeError(
            f"unfold: Given input with spatial size {list(input.shape[-2:])}, kernel_size={kernel}, "
            f"dilation={gaps}, padding={pads}, "
            f"calculated shape of the array of sliding blocks as {outputs}, but its components must be at least one."
        )
    return im2col(input, *sizes) if input.dim() == 4 else im2col(input.unsqueeze(0), *sizes).squeeze(0)


@composite("fold", accepts="bool floating complex", method=None)
def fold(input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Add columns back to where `unfold` took them.

    Shape: (N, C kH kW, L) or (C kH kW, L) -> (N, C, H, W) or (C, H, W). Raises: RuntimeError for sizes that do not fit.

    >>> import tenfold
    >>> tenfold.op.fold(tenfold.ones(1, 2, 2), (2, 2), (1, 2)).shape
    tenfold.Size([1, 1, 2, 2])
    """
    require_floating("fold", input, also="cb")
    out = per_dim(output_size, 2, "fold: output_size")
    sizes = _steps("fold", kernel_size, dilation, padding, stride)
    kernel, gaps, pads, steps = sizes
    if input.dim() not in (2, 3) or 0 in input.shape[-2:] or input.shape[-2] % prod(kernel):
        raise RuntimeError(
            f"fold: Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input "
            f"{list(input.shape)} for (N, C, L) or (C, L), and kernel_size={kernel}"
        )
    window = window_over(out, kernel, steps, pads, gaps)
    if min(window.outputs) < 1:
        raise RuntimeError(
            f"fold: Given output_size={out}, kernel_size={kernel}, dilation={gaps}, padding={pads}, stride={steps}, "
            f"calculated shape of the array of sliding blocks as {window.outputs}, which is too small (non-positive)"
        )
    if window.positions != input.shape[-1]:
        raise RuntimeError(
            f"fold: Given output_size={out}, kernel_size={kernel}, dilation={gaps}, padding={pads}, stride={steps}, "
            f"expected size of input's dimension 2 to match the calculated number of sliding blocks "
            f"{' * '.join(map(str, window.outputs))} = {window.positions}, but got input.size(2)={input.shape[-1]}."
        )
    return col2im(input, out, *sizes) if input.dim() == 3 else col2im(input.unsqueeze(0), out, *sizes).squeeze(0)
