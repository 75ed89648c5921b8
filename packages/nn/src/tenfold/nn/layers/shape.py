"""Rearranging and resizing: flatten, shuffle, upsample, fold."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.module import Module


class Flatten(Module):
    """Makes one dimension of those from `start_dim` to `end_dim`. Shape: (N, *) -> (N, product of *).

    >>> import tenfold
    >>> list(Flatten()(tenfold.ones(2, 3, 4)).shape)
    [2, 12]
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits dimension `dim` into `unflattened_size`, one of which may be -1. Shape: (..., U, ...) -> (..., *size,
    ...).

    Raises TypeError for a size that is not a tuple or list of integers.

    >>> import tenfold
    >>> list(Unflatten(1, (2, 3))(tenfold.ones(5, 6)).shape)
    [5, 2, 3]
    """

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError(f"Unflatten: dim must be an int, got {type(dim).__name__}; named dimensions are not supported")
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                f"Unflatten: unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}"
            )
        for position, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "Unflatten: unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {position}"
                )
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class PixelShuffle(Module):
    """Moves channels into space. Shape: (..., C r^2, H, W) -> (..., C, H r, W r), r = upscale_factor. Source: Shi et
    al. 2016.

    >>> import tenfold
    >>> PixelShuffle(2)(tenfold.arange(4.0).reshape(4, 1, 1)).tolist()
    [[[0.0, 1.0], [2.0, 3.0]]]
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Moves space into channels, the inverse of `PixelShuffle`. Shape: (..., C, H r, W r) -> (..., C r^2, H, W).

    >>> import tenfold
    >>> PixelUnshuffle(2)(tenfold.arange(4.0).reshape(1, 2, 2)).flatten().tolist()
    [0.0, 1.0, 2.0, 3.0]
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Interleaves the channels of `groups` groups. Shape: (N, C, ...), kept. Source: Zhang et al. 2017 (ShuffleNet).

    >>> import tenfold
    >>> ChannelShuffle(2)(tenfold.arange(4.0).reshape(1, 4, 1)).flatten().tolist()
    [0.0, 2.0, 1.0, 3.0]
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"


class Upsample(Module):
    """Resizes sequences, images or volumes. Shape: (N, C, [D,] [H,] W) -> (N, C, [D',] [H',] W').

    Args: size or scale_factor; mode nearest, linear, bilinear, bicubic or trilinear; align_corners for all but nearest.

    >>> import tenfold
    >>> Upsample(scale_factor=2)(tenfold.tensor([[[1.0, 2.0]]])).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners = mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        to = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{to}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resizes images by repeating the nearest pixel. Shape: (N, C, H, W) -> (N, C, H', W').

    >>> import tenfold
    >>> UpsamplingNearest2d(scale_factor=2)(tenfold.tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resizes images bilinearly, corners aligned. Shape: (N, C, H, W) -> (N, C, H', W').

    >>> import tenfold
    >>> UpsamplingBilinear2d(size=(1, 3))(tenfold.tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[1.0, 1.5, 2.0]]]]
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class Unfold(Module):
    """The windows of an image as columns. Shape: (N, C, H, W) or (C, H, W) -> (N, C K, L) or (C K, L), K the window's size.

    Arguments are one number or one per spatial dimension.

    >>> import tenfold
    >>> list(Unfold(2)(tenfold.ones(1, 3, 4, 5)).shape)
    [1, 12, 12]
    """

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Fold(Module):
    """Sums columns back to an image, the transpose of `Unfold`. Shape: (N, C K, L) or (C K, L) -> (N, C, H, W) or (C, H, W).

    >>> import tenfold
    >>> Fold((2, 3), 2)(tenfold.ones(1, 4, 2)).tolist()
    [[[[1.0, 2.0, 1.0], [1.0, 2.0, 1.0]]]]
    """

    def __init__(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )
