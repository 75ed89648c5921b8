"""Convolutions over 1, 2 and 3 dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F, init
from tenfold.nn.layers.sizes import as_tuple, twice_reversed
from tenfold.nn.module import Module
from tenfold.nn.parameter import Parameter

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """Parameters, checks and repr of all convolutions; `ndim` counts the spatial dimensions."""

    ndim: ClassVar[int]
    convolve: ClassVar[str]  # of nn.functional, looked up in each call: programs put their own there
    weight: Tensor

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: Any,
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check(type(self).__name__, in_channels, out_channels, groups, padding, padding_mode, stride)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.padding, self.dilation = kernel_size, stride, padding, dilation
        self.transposed, self.output_padding = transposed, output_padding
        self.groups, self.padding_mode = groups, padding_mode
        channels = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(tenfold.empty((*channels, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(tenfold.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _torch_state(self) -> dict[str, Any]:
        return {"_reversed_padding_repeated_twice": self._reversed_padding_repeated_twice}

    @property
    def _reversed_padding_repeated_twice(self) -> list[int]:
        """What `F.pad` adds for padding modes other than zeros."""
        if not isinstance(self.padding, str):
            return twice_reversed(self.padding)
        amounts: list[int] = []
        for dilation, kernel in zip(reversed(self.dilation), reversed(self.kernel_size), strict=True):
            total = dilation * (kernel - 1) if self.padding == "same" else 0
            amounts += [total // 2, total - total // 2]
        return amounts

    def reset_parameters(self) -> None:
        """Draws weight and bias anew from U(-k, k), k = 1 / sqrt(inputs of one output)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def extra_repr(self) -> str:
        parts = [str(self.in_channels), str(self.out_channels)]
        parts += [f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        if isinstance(self.padding, str) or any(self.padding):
            parts.append(f"padding={self.padding}")
        if any(size != 1 for size in self.dilation):
            parts.append(f"dilation={self.dilation}")
        if any(self.output_padding):
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


def _check(name: str, in_channels: int, out_channels: int, groups: int, padding: Any, padding_mode: str, stride: Any) -> None:
    if groups <= 0:
        raise ValueError(f"{name}: groups must be a positive integer, got {groups}")
    for what, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
        if channels % groups:
            raise ValueError(f"{name}: {what} must be divisible by groups, got {channels} and {groups}")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"{name}: Invalid padding string {padding!r}, should be one of same, valid")
        if padding == "same" and any(size != 1 for size in stride):
            raise ValueError(f"{name}: padding='same' is not supported for strided convolutions, got stride {stride}")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(f"{name}: padding_mode must be one of {_PADDING_MODES}, but got padding_mode='{padding_mode}'")


class _Conv(_ConvNd):
    """An ordinary convolution."""

    def __init__(
        self,
        in_channels: int,
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
        n = self.ndim
        super().__init__(
            in_channels,
            out_channels,
            as_tuple(kernel_size, n),
            as_tuple(stride, n),
            padding if isinstance(padding, str) else as_tuple(padding, n),
            as_tuple(dilation, n),
            False,
            (0,) * n,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        convolve: Callable[..., Tensor] = getattr(F, self.convolve)
        if self.padding_mode == "zeros":
            return convolve(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return convolve(padded, weight, bias, self.stride, (0,) * self.ndim, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """Convolution (cross-correlation) over a sequence. Shape: (N, C_in, L) or (C_in, L) -> (N, C_out, L') or (C_out, L').

    L' = floor((L + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1. `weight` is (C_out, C_in / groups, K).

    >>> list(Conv1d(3, 8, 3, padding=1)(tenfold.ones(2, 3, 5)).shape)
    [2, 8, 5]
    """

    ndim = 1
    convolve = "conv1d"


class Conv2d(_Conv):
    """Convolution (cross-correlation) over an image. Shape: (N, C_in, H, W) or (C_in, H, W) -> (N, C_out, H', W').

    H' = floor((H + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1. `weight` is (C_out, C_in / groups, KH, KW).
    `padding` is a size, one per dimension, "same" or "valid"; `padding_mode` zeros, reflect, replicate or circular.

    Raises ValueError for channels that `groups` does not divide and for unknown padding strings or modes.

    >>> list(Conv2d(3, 8, 3, padding=1)(tenfold.ones(2, 3, 5, 5)).shape)
    [2, 8, 5, 5]
    """

    ndim = 2
    convolve = "conv2d"


class Conv3d(_Conv):
    """Convolution (cross-correlation) over a volume. Shape: (N, C_in, D, H, W) -> (N, C_out, D', H', W').

    Sizes as for `Conv2d`. `weight` is (C_out, C_in / groups, KD, KH, KW).

    >>> list(Conv3d(3, 8, 3)(tenfold.ones(2, 3, 5, 5, 5)).shape)
    [2, 8, 3, 3, 3]
    """

    ndim = 3
    convolve = "conv3d"


class _ConvTransposeNd(_ConvNd):
    """The gradient of a convolution with respect to its input, as a layer of its own."""

    def __init__(
        self,
        in_channels: int,
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
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}, got {padding_mode!r}')
        n = self.ndim
        super().__init__(
            in_channels,
            out_channels,
            as_tuple(kernel_size, n),
            as_tuple(stride, n),
            as_tuple(padding, n),
            as_tuple(dilation, n),
            True,
            as_tuple(output_padding, n),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        output_padding = self._output_padding(input, output_size)
        convolve: Callable[..., Tensor] = getattr(F, self.convolve)
        return convolve(input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation)

    def _output_padding(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """What has to be added on one side to reach `output_size`; raises ValueError where that cannot be reached."""
        if output_size is None:
            return self.output_padding
        n = self.ndim
        wanted = list(output_size)
        if len(wanted) == input.dim():
            wanted = wanted[-n:]
        if len(wanted) != n:
            raise ValueError(
                f"{type(self).__name__}: for an input of {input.dim()} dimensions output_size must have {n} or "
                f"{input.dim()} elements, got {len(output_size)}"
            )
        smallest = [
            (input.size(d - n) - 1) * self.stride[d] - 2 * self.padding[d] + self.dilation[d] * (self.kernel_size[d] - 1) + 1
            for d in range(n)
        ]
        largest = [low + stride - 1 for low, stride in zip(smallest, self.stride, strict=True)]
        if not all(low <= size <= high for low, size, high in zip(smallest, wanted, largest, strict=True)):
            raise ValueError(
                f"{type(self).__name__}: requested an output size of {wanted}, but valid sizes range from {smallest} "
                "to "
                f"{largest} (for an input of {input.size()[-n:]})"
            )
        return tuple(size - low for size, low in zip(wanted, smallest, strict=True))


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution over a sequence. Shape: (N, C_in, L) or (C_in, L) -> (N, C_out, L').

    L' = (L - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1. `weight` is (C_in, C_out / groups, K).

    >>> list(ConvTranspose1d(3, 8, 2, stride=2)(tenfold.ones(2, 3, 5)).shape)
    [2, 8, 10]
    """

    ndim = 1
    convolve = "conv_transpose1d"


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution over an image. Shape: (N, C_in, H, W) or (C_in, H, W) -> (N, C_out, H', W').

    H' = (H - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1. `forward(input, output_size)` picks one
    of the sizes that a strided convolution maps to the same input.

    >>> list(ConvTranspose2d(3, 8, 2, stride=2)(tenfold.ones(2, 3, 5, 5)).shape)
    [2, 8, 10, 10]
    """

    ndim = 2
    convolve = "conv_transpose2d"


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution over a volume. Shape: (N, C_in, D, H, W) -> (N, C_out, D', H', W'), sizes as for
    `ConvTranspose2d`.

    >>> list(ConvTranspose3d(3, 8, 2, stride=2)(tenfold.ones(2, 3, 5, 5, 5)).shape)
    [2, 8, 10, 10, 10]
    """

    ndim = 3
    convolve = "conv_transpose3d"
