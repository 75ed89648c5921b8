"""Convolutions that take the number of input channels from their first input."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn.layers.conv import layers as conv
from tenfold.nn.lazy import LazyModuleMixin
from tenfold.nn.parameter import UninitializedParameter


class _LazyConv(LazyModuleMixin):
    """What a lazy convolution adds to the convolution it becomes."""

    def _make_lazy(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        """Gives the still empty convolution its number of outputs and its uninitialized parameters."""
        this: Any = self
        this.out_channels = out_channels
        this.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            this.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draws weight and bias anew, once they have a shape."""
        if not self.has_uninitialized_params() and self.in_channels != 0:  # type: ignore[attr-defined]
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Takes in_channels from `input`, batched or not."""
        this: Any = self
        if not self.has_uninitialized_params():
            return
        if input.dim() not in (this.ndim + 1, this.ndim + 2):
            raise RuntimeError(
                f"Expected {this.ndim + 1}D (unbatched) or {this.ndim + 2}D (batched) input to {type(self).__name__}, "
                f"but got input of size: {input.shape}"
            )
        this.in_channels = input.size(-this.ndim - 1)
        if this.in_channels % this.groups:
            raise ValueError(
                f"{type(self).__name__}: in_channels must be divisible by groups, got {this.in_channels} and {this.groups}"
            )
        inputs, outputs = this.in_channels, this.out_channels
        channels = (inputs, outputs // this.groups) if this.transposed else (outputs, inputs // this.groups)
        with tenfold.no_grad():
            this.weight.materialize((*channels, *this.kernel_size))
            if this.bias is not None:
                this.bias.materialize((outputs,))
            self.reset_parameters()


class _LazyConvForward(_LazyConv, conv._Conv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._make_lazy(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConv, conv._ConvTransposeNd):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, device, dtype)
        self._make_lazy(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConvForward, conv.Conv1d):
    """A `Conv1d` that takes `in_channels` from its first input.

    >>> layer = LazyConv1d(8, 3)
    >>> list(layer(tenfold.ones(2, 3, 5)).shape), layer.in_channels
    ([2, 8, 3], 3)
    """

    cls_to_become = conv.Conv1d


class LazyConv2d(_LazyConvForward, conv.Conv2d):
    """A `Conv2d` that takes `in_channels` from its first input.

    >>> layer = LazyConv2d(8, 3)
    >>> list(layer(tenfold.ones(2, 3, 5, 5)).shape), layer.in_channels
    ([2, 8, 3, 3], 3)
    """

    cls_to_become = conv.Conv2d


class LazyConv3d(_LazyConvForward, conv.Conv3d):
    """A `Conv3d` that takes `in_channels` from its first input.

    >>> layer = LazyConv3d(8, 3)
    >>> list(layer(tenfold.ones(2, 3, 5, 5, 5)).shape), layer.in_channels
    ([2, 8, 3, 3, 3], 3)
    """

    cls_to_become = conv.Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, conv.ConvTranspose1d):
    """A `ConvTranspose1d` that takes `in_channels` from its first input.

    >>> layer = LazyConvTranspose1d(8, 2, stride=2)
    >>> list(layer(tenfold.ones(2, 3, 5)).shape), layer.in_channels
    ([2, 8, 10], 3)
    """

    cls_to_become = conv.ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, conv.ConvTranspose2d):
    """A `ConvTranspose2d` that takes `in_channels` from its first input.

    >>> layer = LazyConvTranspose2d(8, 2, stride=2)
    >>> list(layer(tenfold.ones(2, 3, 5, 5)).shape), layer.in_channels
    ([2, 8, 10, 10], 3)
    """

    cls_to_become = conv.ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, conv.ConvTranspose3d):
    """A `ConvTranspose3d` that takes `in_channels` from its first input.

    >>> layer = LazyConvTranspose3d(8, 2, stride=2)
    >>> list(layer(tenfold.ones(2, 3, 5, 5, 5)).shape), layer.in_channels
    ([2, 8, 10, 10, 10], 3)
    """

    cls_to_become = conv.ConvTranspose3d
