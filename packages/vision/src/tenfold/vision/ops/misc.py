"""Layers that networks for pictures are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import tenfold
from tenfold import Tensor, nn

__all__ = [
    "MLP",
    "Conv2dNormActivation",
    "Conv3dNormActivation",
    "FrozenBatchNorm2d",
    "Permute",
    "SqueezeExcitation",
]

Layer = Callable[..., nn.Module]


class FrozenBatchNorm2d(nn.Module):
    """Batch normalization whose statistics and affine parameters are fixed buffers.

    y = (x - running_mean) / sqrt(running_var + eps) * weight + bias, of each channel. Shape: (N, C, H, W) in and out.

    >>> FrozenBatchNorm2d(2)
    FrozenBatchNorm2d(2, eps=1e-05)
    """

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.register_buffer("weight", tenfold.ones(num_features))
        self.register_buffer("bias", tenfold.zeros(num_features))
        self.register_buffer("running_mean", tenfold.zeros(num_features))
        self.register_buffer("running_var", tenfold.ones(num_features))

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        # A checkpoint of BatchNorm2d fits, whose count of batches has no meaning here.
        state_dict.pop(prefix + "num_batches_tracked", None)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def forward(self, x: Tensor) -> Tensor:
        shape = (1, -1, 1, 1)
        scale = (self.weight * (self.running_var + self.eps).rsqrt()).reshape(shape)
        result: Tensor = x * scale + (self.bias.reshape(shape) - self.running_mean.reshape(shape) * scale)
        return result

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.weight.shape[0]}, eps={self.eps})"


class ConvNormActivation(nn.Sequential):
    """A convolution that keeps the size at stride 1, a norm and an activation, the last two where wanted.

    ``conv_layer`` is the class of the convolution; see `Conv2dNormActivation`.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...] = 3,
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] | str | None = None,
        groups: int = 1,
        norm_layer: Layer | None = nn.BatchNorm2d,
        activation_layer: Layer | None = nn.ReLU,
        dilation: int | tuple[int, ...] = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
        conv_layer: Layer = nn.Conv2d,
    ) -> None:
        around = _same_padding(kernel_size, dilation) if padding is None else padding
        with_bias = norm_layer is None if bias is None else bias  # the norm has its own
        parts = [
            conv_layer(in_channels, out_channels, kernel_size, stride, around, dilation=dilation, groups=groups, bias=with_bias)
        ]
        if norm_layer is not None:
            parts.append(norm_layer(out_channels))
        if activation_layer is not None:
            parts.append(activation_layer(**({} if inplace is None else {"inplace": inplace})))
        super().__init__(*parts)
        self.out_channels = out_channels


def _same_padding(kernel_size: Any, dilation: Any) -> Any:
    if isinstance(kernel_size, int) and isinstance(dilation, int):
        return (kernel_size - 1) // 2 * dilation
    rank = len(kernel_size) if isinstance(kernel_size, Sequence) else len(dilation)
    kernels = kernel_size if isinstance(kernel_size, Sequence) else (kernel_size,) * rank
    steps = dilation if isinstance(dilation, Sequence) else (dilation,) * rank
    return tuple((kernel - 1) // 2 * step for kernel, step in zip(kernels, steps, strict=True))


class Conv2dNormActivation(ConvNormActivation):
    """A 2-d convolution, a norm and an activation; None leaves one of the latter out.

    Without ``padding`` the size is kept at stride 1; without ``bias`` there is one where there is no norm.

    Shape: (N, in_channels, H, W) -> (N, out_channels, H / stride, W / stride).

    >>> tuple(Conv2dNormActivation(3, 8, stride=2)(tenfold.zeros(1, 3, 4, 4)).shape)
    (1, 8, 2, 2)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int] = 3,
        stride: int | tuple[int, int] = 1,
        padding: int | tuple[int, int] | str | None = None,
        groups: int = 1,
        norm_layer: Layer | None = nn.BatchNorm2d,
        activation_layer: Layer | None = nn.ReLU,
        dilation: int | tuple[int, int] = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
    ) -> None:
        sizes = (in_channels, out_channels, kernel_size, stride, padding, groups)
        super().__init__(*sizes, norm_layer, activation_layer, dilation, inplace, bias, nn.Conv2d)


class Conv3dNormActivation(ConvNormActivation):
    """A 3-d convolution, a norm and an activation, as `Conv2dNormActivation`.

    Shape: (N, in_channels, T, H, W) -> (N, out_channels, T / stride, H / stride, W / stride).
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int, int] = 3,
        stride: int | tuple[int, int, int] = 1,
        padding: int | tuple[int, int, int] | str | None = None,
        groups: int = 1,
        norm_layer: Layer | None = nn.BatchNorm3d,
        activation_layer: Layer | None = nn.ReLU,
        dilation: int | tuple[int, int, int] = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
    ) -> None:
        sizes = (in_channels, out_channels, kernel_size, stride, padding, groups)
        super().__init__(*sizes, norm_layer, activation_layer, dilation, inplace, bias, nn.Conv3d)


class SqueezeExcitation(nn.Module):
    """Scale every channel by a factor that a small network finds from the channels' means.

    Shape: (N, input_channels, H, W) in and out.

    Source: J. Hu, L. Shen, S. Albanie, G. Sun, E. Wu, Squeeze-and-Excitation Networks, arXiv:1709.01507, figure 2.
    """

    def __init__(
        self,
        input_channels: int,
        squeeze_channels: int,
        activation: Layer = nn.ReLU,
        scale_activation: Layer = nn.Sigmoid,
    ) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2d(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def forward(self, input: Tensor) -> Tensor:
        squeezed = self.activation(self.fc1(self.avgpool(input)))  # (N, squeeze_channels, 1, 1)
        result: Tensor = self.scale_activation(self.fc2(squeezed)) * input
        return result


class MLP(nn.Sequential):
    """Linear layers of these widths, with norm (where wanted), activation and dropout after each but the last, which has
    dropout alone.

    Shape: (..., in_channels) -> (..., hidden_channels[-1]).

    >>> len(MLP(4, [8, 2]))
    5
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: Sequence[int],
        norm_layer: Layer | None = None,
        activation_layer: Layer | None = nn.ReLU,
        inplace: bool | None = None,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        options = {} if inplace is None else {"inplace": inplace}
        parts: list[nn.Module] = []
        widths = [in_channels, *hidden_channels]
        for inputs, outputs in pairwise(widths[:-1]):
            parts.append(nn.Linear(inputs, outputs, bias=bias))
            if norm_layer is not None:
                parts.append(norm_layer(outputs))
            if activation_layer is not None:
                parts.append(activation_layer(**options))
            parts.append(nn.Dropout(dropout, **options))
        parts += [nn.Linear(widths[-2], widths[-1], bias=bias), nn.Dropout(dropout, **options)]
        super().__init__(*parts)


class Permute(nn.Module):
    """`Tensor.permute` as a module.

    >>> tuple(Permute([1, 0])(tenfold.zeros(2, 3)).shape)
    (3, 2)
    """

    def __init__(self, dims: Sequence[int]) -> None:
        super().__init__()
        self.dims = list(dims)

    def forward(self, x: Tensor) -> Tensor:
        return x.permute(self.dims)
