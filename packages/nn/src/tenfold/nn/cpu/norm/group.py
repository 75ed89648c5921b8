"""Group normalization and its gradient: rows are the groups of each sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.blocks import row_blocks
from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.cpu.norm.batch import affine, channels, combine
from tenfold.nn.cpu.norm.layer import center
from tenfold.nn.cpu.norm.sums import row_dots, row_sums
from tenfold.nn.ops.norm import group as ops

Array = np.ndarray[Any, Any]

SMALL_BYTES = 1 << 14


@array_kernel(laid_out=1)
def fused_group_norm(
    input: Array, num_groups: int, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """Normalize each sample of (N, C, *S) over groups of channels and S; also mean and 1 / sqrt(var + eps), (N, G)."""
    x = channels(input)
    (N, C), G = x.shape[:2], num_groups
    rows = x.reshape(N * G, C // G * x.shape[2])
    mean, rstd = np.empty((2, N * G), x.dtype)
    for part in row_blocks(len(rows), rows.shape[1] * x.itemsize):
        mean[part], rstd[part] = center(rows[part], np.empty(rows[part].shape, x.dtype), eps)
    centers, scales = (v.reshape(N, G).repeat(C // G, 1) for v in (mean, rstd))
    out = np.empty(x.shape, x.dtype)
    affine(x, centers, scales, scales if weight is None else scales * weight, bias, out)
    return out.reshape(input.shape), mean.reshape(N, G), rstd.reshape(N, G)


@array_kernel(laid_out=1)
def fused_group_norm_grad(
    grad: Array, input: Array, mean: Array, rstd: Array, num_groups: int, weight: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """The gradients of `fused_group_norm` for input, weight and bias, from the statistics it returned."""
    g3, x = channels(grad), channels(input)
    (N, C, L), G = x.shape, num_groups
    centers, scales = (v.reshape(N, G).repeat(C // G, 1) for v in (mean, rstd))
    sums = row_sums(g3)  # (N, C)
    dots = np.empty((N, C), grad.dtype)
    for part in row_blocks(N, C * L * grad.itemsize):
        dots[part] = row_dots(g3[part], x[part] - centers[part, :, None])
    dots *= scales
    g_weight, g_bias = (v.sum(0, dtype=np.float64).astype(grad.dtype) for v in (dots, sums))
    if weight is not None:
        sums, dots = sums * weight, dots * weight
    count = max(1, C // G * L)
    along, level = (v.reshape(N, G, C // G).sum(2).repeat(C // G, 1) / grad.dtype.type(count) for v in (dots, sums))
    slope = -along * scales * scales
    out = np.empty(x.shape, grad.dtype)
    combine(g3, x, scales if weight is None else scales * weight, slope, -level * scales - slope * centers, out)
    return out.reshape(input.shape), g_weight, g_bias


for _function in (fused_group_norm, fused_group_norm_grad):
    kernel(getattr(ops, _function.__name__), device="cpu")(_function)
