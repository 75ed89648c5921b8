"""Moving elements between channels and space."""

from __future__ import annotations

from math import prod
from typing import Any

from tenfold.dispatch.operators import composite
from tenfold.tensor.tensor import Tensor
from tenfold.types.memory_format import contiguous_format, suggested_format


@composite("resize", method=None)
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Channels to space: (*, C r^2, H, W) -> (*, C, H r, W r). Source: Shi et al., 2016, equation 4.

    >>> import tenfold
    >>> tenfold.pixel_shuffle(tenfold.arange(4.0).view(4, 1, 1), 2)
    tensor([[[0., 1.],
             [2., 3.]]])
    """
    r, (*lead, C, H, W) = upscale_factor, _at_least_3d("pixel_shuffle", input)
    if r <= 0 or C % (r * r):
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but input.size(-3)={C} is not divisible by {r * r}"
        )
    n = len(lead)
    x = input.reshape(*lead, C // (r * r), r, r, H, W)
    moved = x.permute(*range(n), n, n + 3, n + 1, n + 4, n + 2).clone(memory_format=contiguous_format)  # new, of one too
    return moved.reshape(*lead, C // (r * r), H * r, W * r).contiguous(memory_format=suggested_format(input._array))


@composite("resize", method=None)
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Space to channels: (*, C, H r, W r) -> (*, C r^2, H, W), the inverse of `pixel_shuffle`.

    >>> import tenfold
    >>> tenfold.pixel_unshuffle(tenfold.arange(4.0).view(1, 2, 2), 2).reshape(-1)
    tensor([0., 1., 2., 3.])
    """
    r, (*lead, C, H, W) = downscale_factor, _at_least_3d("pixel_unshuffle", input)
    if r <= 0 or H % r or W % r:
        raise RuntimeError(
            f"pixel_unshuffle expects height and width to be divisible by downscale_factor, but input "
            f"{list(input.shape)} is not by {r}"
        )
    n = len(lead)
    x = input.reshape(*lead, C, H // r, r, W // r, r)
    moved = x.permute(*range(n), n, n + 2, n + 4, n + 1, n + 3).clone(memory_format=contiguous_format)
    return moved.reshape(*lead, C * r * r, H // r, W // r).contiguous(memory_format=suggested_format(input._array))


@composite("resize", method=None)
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Channels of (N, C, *S) dealt out from `groups` groups in turn. Source: Zhang et al., "ShuffleNet", 2018.

    >>> import tenfold
    >>> tenfold.channel_shuffle(tenfold.arange(4.0).view(1, 4, 1), 2).reshape(-1)
    tensor([0., 2., 1., 3.])
    """
    N, C, *S = _at_least_3d("channel_shuffle", input)
    if groups <= 0 or C % groups:
        raise RuntimeError(
            f"channel_shuffle: Number of channels must be divisible by groups. Got {C} channels and {groups} groups."
        )
    shuffled = input.reshape(N, groups, C // groups, prod(S)).transpose(1, 2).reshape(input.shape)
    layout = suggested_format(input._array)
    # Where nothing moves, it is the input's memory until here.
    return shuffled.clone(memory_format=layout) if groups in (1, C) else shuffled.contiguous(memory_format=layout)


@composite("resize", method=None)
def native_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Another of PyTorch's names of `channel_shuffle`.

    >>> import tenfold
    >>> tenfold.native_channel_shuffle(tenfold.arange(4.0).view(1, 4, 1), 2).reshape(-1)
    tensor([0., 2., 1., 3.])
    """
    return channel_shuffle(input, groups)


def _at_least_3d(name: str, input: Tensor) -> Any:
    if input.dim() < 3:
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)")
    return input.shape
