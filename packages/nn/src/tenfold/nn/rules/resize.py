"""Gradients of resampling: it is linear, and its transpose's transpose is itself."""

from __future__ import annotations

from tenfold.autograd.gradients import gradient
from tenfold.nn.ops.resize.interpolate import resample, resample_grad

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
