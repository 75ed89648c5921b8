"""Gradients of resampling: it is linear, and its transpose's transpose is itself."""

from __future__ import annotations

from typing import Any

from tenfold import cat, eye
from tenfold.autograd.gradients import gradient, gradients
from tenfold.nn.ops.resize.grid import affine_grid_generator
from tenfold.nn.ops.resize.interpolate import resample, resample_grad
from tenfold.nn.ops.resize.sampling import fused_grid_sample, fused_grid_sample_grid_grad, fused_grid_sample_input_grad
from tenfold.nn.ops.resize.shuffle import pixel_shuffle, pixel_unshuffle

gradient(
    resample,
    input=lambda g, input_shape, output_size, scales, mode, align_corners, antialias: resample_grad(
        g, tuple(input_shape[len(input_shape) - len(output_size) :]), scales, mode, align_corners, antialias
    ),
)
gradient(
    resample_grad,
    grad=lambda g, grad_shape, input_size, scales, mode, align_corners, antialias: resample(
        g, tuple(grad_shape[len(grad_shape) - len(input_size) :]), scales, mode, align_corners, antialias
    ),
)


def _unshuffled(g: Any, upscale_factor: int) -> Any:
    return pixel_unshuffle(g, upscale_factor)


def _shuffled(g: Any, downscale_factor: int) -> Any:
    return pixel_shuffle(g, downscale_factor)


gradient(pixel_shuffle, input=_unshuffled)
gradient(pixel_unshuffle, input=_shuffled)


def _maps(g: Any, size: Any, align_corners: bool) -> Any:
    """Places are linear in the maps, so nothing needs to be kept: (N, *S, n) -> (N, n, n + 1)."""
    n = g.shape[-1]
    same = eye(n, n + 1, dtype=g.dtype, device=g.device).unsqueeze(0)
    places = affine_grid_generator(same, (1, *size[1:]), align_corners).reshape(1, -1, n)
    flat = g.reshape(g.shape[0], -1, n)
    return cat([flat.transpose(1, 2).matmul(places), flat.sum(1).unsqueeze(-1)], -1)


gradient(affine_grid_generator, theta=_maps)


@gradients(fused_grid_sample, "input", "grid")
def _grid_sample(g: Any, input: Any, grid: Any, mode: str, padding_mode: str, align_corners: bool, needs: Any) -> Any:
    how = (mode, padding_mode, align_corners)
    return (
        fused_grid_sample_input_grad(g, grid, tuple(input.shape), *how) if needs[0] else None,
        fused_grid_sample_grid_grad(g, input, grid, *how) if needs[1] else None,
    )
