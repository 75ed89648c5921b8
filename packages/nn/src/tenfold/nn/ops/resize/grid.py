"""Sampling images and volumes at given places."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import prod
from typing import Any

import tenfold as tf
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import has_kernel, require_floating
from tenfold.nn.ops.resize.sampling import fused_grid_sample, sampled
from tenfold.tensor.tensor import Tensor


@composite("resize", method=None)
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The places (x, y) or (x, y, z), from -1 to 1, that affine maps send a regular grid to.

    Shape: theta (N, 2, 3), size (N, C, H, W) -> (N, H, W, 2); theta (N, 3, 4), size (N, C, D, H, W) -> (N, D, H, W, 3).

    >>> import tenfold
    >>> tenfold.op.affine_grid(tenfold.eye(2, 3).unsqueeze(0), (1, 1, 1, 2), align_corners=False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    align_corners = _given("affine_grid", align_corners)
    size = tuple(size)
    n = len(size) - 2
    if align_corners and 1 in size[2:]:
        warnings.warn(
            "affine_grid: with align_corners=True a dimension of size 1 spans nothing, and its place is 0. "
            "See the documentation of affine_grid for details.",
            stacklevel=3,
        )
    if not theta.is_floating_point():
        raise ValueError(f"affine_grid: Expected theta to have floating point type, but got {theta.dtype}")
    if n not in (2, 3):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, (N, C, H, W) and (N, C, D, H, W), for 2D and 3D maps; got {list(size)}"
        )
    _check_maps(theta, size)
    return affine_grid_generator(theta, size, align_corners)


def _check_maps(theta: Any, size: Sequence[int]) -> None:
    n = len(size) - 2
    if tuple(theta.shape) != (size[0], n, n + 1):
        raise ValueError(
            f"affine_grid: Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {list(size)}, which is "
            f"(N, C, H, W) or (N, C, D, H, W); got theta {list(theta.shape)}"
        )
    if min(size) <= 0:
        raise ValueError(f"affine_grid: Expected non-zero, positive output size. Got {list(size)}")


@composite("resize", method=None)
def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """`affine_grid`, told what -1 and 1 are.

    >>> import tenfold
    >>> tenfold.affine_grid_generator(tenfold.eye(2, 3).unsqueeze(0), (1, 1, 1, 2), False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    _check_maps(theta, size)
    places = regular_places(size, align_corners, theta)
    return tf.matmul(places, theta.transpose(1, 2)).view(size[0], *size[2:], len(size) - 2)


@affine_grid_generator.rule
def _(theta: Any, size: Sequence[int], align_corners: bool) -> Meta:
    _check_maps(theta, size)
    return Meta((size[0], *size[2:], len(size) - 2), theta.dtype)


def regular_places(size: Sequence[int], align_corners: bool, like: Tensor) -> Tensor:
    """(x, y, 1) or (x, y, z, 1) of each place of the regular grid: (N, prod(*S), n + 1), the same for the whole batch."""
    spatial = tuple(size[2:])
    n, axes = len(spatial), []
    for axis in range(n - 1, -1, -1):  # x runs along the last dimension
        steps = _regular(spatial[axis], align_corners, like)
        axes.append(steps.view(*[-1 if i == axis else 1 for i in range(n)]).expand(*spatial))
    places = tf.stack([*axes, tf.ones_like(axes[0])], -1).reshape(1, prod(spatial), n + 1)
    return places.expand(size[0], prod(spatial), n + 1)


def _given(name: str, align_corners: bool | None) -> bool:
    if align_corners is None:
        warnings.warn(
            f"{name}: align_corners was not given. Default grid_sample and affine_grid behavior is align_corners=False "
            "(True before PyTorch 1.3); say which one you want",
            stacklevel=4,
        )
    return bool(align_corners)


def _regular(count: int, align_corners: bool, like: Tensor) -> Tensor:
    if count <= 1:
        return tf.zeros(count, dtype=like.dtype, device=like.device)
    steps = tf.arange(count, device=like.device).to(like.dtype) * (2 / (count - 1)) - 1
    return steps if align_corners else steps * ((count - 1) / count)


@composite("resize", accepts={"input": "floating complex"}, method=None)
def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """The input's values at places (x, y) or (x, y, z) between -1 and 1, interpolated.

    Shape: (N, C, H, W), (N, P, Q, 2) -> (N, C, P, Q), or one dimension more. Modes: "bilinear", "nearest", "bicubic"
    (4-D only); padding "zeros", "border" or "reflection". Raises: ValueError, RuntimeError for what does not fit.
    Source: Jaderberg et al., "Spatial Transformer Networks", 2015, equation 5.

    >>> import tenfold
    >>> x = tenfold.arange(4.0).view(1, 1, 2, 2)
    >>> tenfold.op.grid_sample(x, tenfold.zeros(1, 1, 1, 2), align_corners=True)
    tensor([[[[1.5000]]]])
    """
    _check(input.dim() - 2, input, grid, mode, padding_mode)
    align = _given("grid_sample", align_corners)
    plain = input.dtype is grid.dtype and input.is_floating_point()
    if plain and (getattr(input.device.backend, "samples_places", False) or has_kernel("fused_grid_sample", input, grid)):
        return fused_grid_sample(input, grid, mode, padding_mode, align)
    return sampled(input, grid, mode, padding_mode, align)


def _check(n: int, input: Tensor, grid: Tensor, mode: str, padding_mode: str) -> None:
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(f"grid_sample: expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            f"grid_sample: expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'"
        )
    given = f"but got input {list(input.shape)} and grid {list(grid.shape)}"
    if grid.shape[:1] != input.shape[:1]:
        raise RuntimeError(f"grid_sample(): expected grid and input to have same batch size, {given}")
    if grid.dim() < 1 or grid.shape[-1] != n:
        raise RuntimeError(f"grid_sample(): expected grid to have size {n} in last dimension, {given}")
    if n not in (2, 3) or grid.dim() != n + 2:
        raise RuntimeError(f"grid_sample(): expected 4D or 5D input and grid with same number of dimensions, {given}")
    require_floating("grid_sample", input)
    if mode == "bicubic" and n != 2:
        raise RuntimeError("grid_sample(): bicubic interpolation only supports 4D input")
    if 0 in input.shape[2:]:
        raise RuntimeError(f"grid_sample(): expected input to have non-empty spatial dimensions, but got {list(input.shape)}")
