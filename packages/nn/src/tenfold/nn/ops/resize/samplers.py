"""Sampling at places under PyTorch's names for programs that go below `nn.functional`: the modes are numbers."""

from __future__ import annotations

from tenfold.dispatch.operators import composite
from tenfold.nn.ops.resize.grid import grid_sample
from tenfold.tensor.tensor import Tensor

_MODES = {0: "bilinear", 1: "nearest", 2: "bicubic"}
_PADDINGS = {0: "zeros", 1: "border", 2: "reflection"}


def _sampled(
    name: str, ndim: int | None, input: Tensor, grid: Tensor, interpolation: int, padding: int, align_corners: bool
) -> Tensor:
    if ndim is not None and input.dim() != ndim:
        raise RuntimeError(f"{name}(): expected {ndim}D input, but got input with sizes {list(input.shape)}")
    for what, given, known in (("interpolation_mode", interpolation, _MODES), ("padding_mode", padding, _PADDINGS)):
        if given not in known:
            raise RuntimeError(f"{name}(): {what} {given} is none of {known}")
    return grid_sample(input, grid, _MODES[interpolation], _PADDINGS[padding], bool(align_corners))


@composite("resize", accepts={"input": "floating complex"}, method=None)
def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """`grid_sample` by numbers: interpolation 0 bilinear, 1 nearest, 2 bicubic; padding 0 zeros, 1 border, 2 reflection.

    >>> import tenfold
    >>> tenfold.grid_sampler(tenfold.arange(4.0).view(1, 1, 2, 2), tenfold.zeros(1, 1, 1, 2), 0, 0, True)
    tensor([[[[1.5000]]]])
    """
    return _sampled("grid_sampler", None, input, grid, interpolation_mode, padding_mode, align_corners)


@composite("resize", accepts={"input": "floating complex"}, method=None)
def grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """`grid_sampler` of images (N, C, H, W).

    >>> import tenfold
    >>> tenfold.grid_sampler_2d(tenfold.arange(4.0).view(1, 1, 2, 2), tenfold.zeros(1, 1, 1, 2), 1, 0, True)
    tensor([[[[0.]]]])
    """
    return _sampled("grid_sampler_2d", 4, input, grid, interpolation_mode, padding_mode, align_corners)


@composite("resize", accepts={"input": "floating complex"}, method=None)
def grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """`grid_sampler` of volumes (N, C, D, H, W).

    >>> import tenfold
    >>> tenfold.grid_sampler_3d(tenfold.arange(8.0).view(1, 1, 2, 2, 2), tenfold.zeros(1, 1, 1, 1, 3), 0, 0, True)
    tensor([[[[[3.5000]]]]])
    """
    return _sampled("grid_sampler_3d", 5, input, grid, interpolation_mode, padding_mode, align_corners)
