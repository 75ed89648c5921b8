"""Resampling to another size.

Every kind of interpolation is separable: along one dimension each output is a weighted sum of a few inputs. A table of
their places and weights is all that the kinds differ in.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from math import floor
from typing import Any

import numpy as np

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.ops.pool.adaptive import adaptive_avg_pool
from tenfold.tensor.tensor import Tensor

Table = tuple[Any, Any]  # places and weights, (taps, outputs)


def _positions(size: int, out: int, scale: float | None, align_corners: bool) -> Any:
    """Where each output's centre lies among the inputs."""
    at = np.arange(out, dtype=np.float64)
    if align_corners:
        return at * ((size - 1) / (out - 1) if out > 1 else 0.0)
    return (at + 0.5) * _step(size, out, scale) - 0.5


def _step(size: int, out: int, scale: float | None) -> float:
    return 1 / scale if scale is not None and scale > 0 else size / out


@lru_cache(maxsize=64)
def _nearest(size: int, out: int, scale: float | None, exact: bool) -> Any:
    # PyTorch multiplies in float32, which decides where a position is almost whole.
    step = np.float32(_step(size, out, scale))
    at = np.floor((np.arange(out, dtype=np.float32) + np.float32(0.5 if exact else 0)) * step)
    return np.minimum(at.astype(np.int64), size - 1)


@lru_cache(maxsize=64)
def _linear(size: int, out: int, scale: float | None, align_corners: bool) -> Table:
    at = np.maximum(_positions(size, out, scale, align_corners), 0.0)
    low = np.minimum(at.astype(np.int64), size - 1)
    high = np.minimum(low + 1, size - 1)
    share = np.minimum(at - low, 1.0)
    return np.stack([low, high]), np.stack([1 - share, share])


def cubic_weight(distance: Any, a: float) -> Any:
    """Keys's cubic convolution kernel (1981, equation 4) at a distance of up to 2."""
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((d - 5) * d + 8) * d * a - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


@lru_cache(maxsize=64)
def _cubic(size: int, out: int, scale: float | None, align_corners: bool) -> Table:
    at = _positions(size, out, scale, align_corners)
    base = np.floor(at)
    taps = base[None] + np.arange(-1, 3)[:, None]
    return np.clip(taps, 0, size - 1).astype(np.int64), cubic_weight(at - taps, -0.75)


@lru_cache(maxsize=64)
def _antialiased(size: int, out: int, scale: float | None, align_corners: bool, cubic: bool) -> Table:
    """The kernel stretched over all inputs that an output covers, its weights made to sum to one."""
    step = ((size - 1) / (out - 1) if out > 1 else 0.0) if align_corners else _step(size, out, scale)
    stretch = max(step, 1.0)
    support = (2.0 if cubic else 1.0) * stretch
    places, weights = [], []
    for i in range(out):
        center = step * (i + 0.5)
        first, last = max(floor(center - support + 0.5), 0), min(floor(center + support + 0.5), size)
        at = np.arange(first, last)
        d = (at - center + 0.5) / stretch
        w = cubic_weight(d, -0.5) if cubic else np.maximum(1 - np.abs(d), 0)
        places.append(at)
        weights.append(w / w.sum() if w.sum() else w)
    taps = max(len(p) for p in places)
    index, factor = np.zeros((taps, out), np.int64), np.zeros((taps, out))
    for i, (p, w) in enumerate(zip(places, weights, strict=True)):
        index[: len(p), i], index[len(p) :, i] = p, p[-1]
        factor[: len(w), i] = w
    return index, factor


def _resample(x: Tensor, dim: int, table: Table) -> Tensor:
    """Weighted sums of a dimension's elements."""
    total: Any = None
    shape = (-1, *[1] * (x.dim() - dim - 1))
    for places, weights in zip(*table, strict=True):
        index = tf.tensor(places.tolist(), dtype=tf.int64, device=x.device)
        factors = tf.tensor(weights.tolist(), dtype=x.dtype, device=x.device).view(shape)
        term = tf.index_select(x, dim, index) * factors
        total = term if total is None else total + term
    return total


MODES = {
    "nearest": (3, 4, 5),
    "nearest-exact": (3, 4, 5),
    "area": (3, 4, 5),
    "linear": (3,),
    "bilinear": (4,),
    "bicubic": (4,),
    "trilinear": (5,),
}


@composite("resize", method=None)
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resample to another size: "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear" or "area".

    Shape: (N, C, *S) -> (N, C, *size). Raises: ValueError for a size and a scale factor together, or neither, or
    numbers of them that do not fit; NotImplementedError for a mode that this number of dimensions lacks.
    Source: Keys, "Cubic Convolution Interpolation for Digital Image Processing", 1981 (bicubic, a = -0.75).

    >>> import tenfold
    >>> tenfold.op.interpolate(tenfold.tensor([[[0.0, 1.0]]]), size=4, mode="linear", align_corners=False)
    tensor([[[0.0000, 0.2500, 0.7500, 1.0000]]])
    """
    _check_mode(input, mode, align_corners, antialias)
    sizes, scales = _sizes(input, size, scale_factor, recompute_scale_factor)
    if mode == "area":
        return adaptive_avg_pool(input, sizes)
    x = input if mode.startswith("nearest") or input.dtype.itemsize != 2 else input.to(tf.float32)
    for dim, (out, scale) in enumerate(zip(sizes, scales, strict=True), 2):
        have = x.shape[dim]
        if mode.startswith("nearest"):
            index = _nearest(have, out, scale, mode == "nearest-exact")
            x = tf.index_select(x, dim, tf.tensor(index.tolist(), dtype=tf.int64, device=x.device))
        elif antialias:
            x = _resample(x, dim, _antialiased(have, out, scale, bool(align_corners), mode == "bicubic"))
        else:
            x = _resample(x, dim, (_cubic if mode == "bicubic" else _linear)(have, out, scale, bool(align_corners)))
    if not input.is_floating_point() and not mode.startswith("nearest"):
        x = x.round()
    return x.to(input.dtype)


def _check_mode(input: Tensor, mode: str, align_corners: bool | None, antialias: bool) -> None:
    if mode not in MODES or input.dim() not in MODES[mode]:
        raise NotImplementedError(
            f"interpolate: got {input.dim()}D input with mode {mode!r}; accepted: "
            + ", ".join(f"{m} ({', '.join(f'{d}D' for d in dims)})" for m, dims in MODES.items())
        )
    if align_corners is not None and (mode.startswith("nearest") or mode == "area"):
        raise ValueError(
            "interpolate: align_corners option can only be set with the interpolating modes: linear | bilinear | "
            "bicubic | trilinear"
        )
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(
            f"interpolate: Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D "
            f"tensor as input, got {mode!r}"
        )


def _sizes(input: Tensor, size: Any, scale_factor: Any, recompute: bool | None) -> tuple[tuple[int, ...], Any]:
    """The output sizes, and the scale factors that were given (None where the sizes decide)."""
    n = input.dim() - 2
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: only one of size or scale_factor should be defined, and one must be")
    if size is not None:
        if recompute:
            raise ValueError("interpolate: recompute_scale_factor is not meaningful with an explicit size.")
        sizes = tuple(int(s) for s in size) if isinstance(size, (tuple, list)) else (int(size),) * n
        if len(sizes) != n:
            raise ValueError(
                f"interpolate: Input and output must have the same number of spatial dimensions, but got input "
                f"{list(input.shape)} and output size {size}"
            )
        scales: Any = (None,) * n
    else:
        scales = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (float(scale_factor),) * n
        if len(scales) != n:
            raise ValueError(
                f"interpolate: Input and scale_factor must have the same number of spatial dimensions, but got "
                f"input {list(input.shape)} and scale_factor {scale_factor}"
            )
        sizes = tuple(floor(s * f) for s, f in zip(input.shape[2:], scales, strict=True))
        if recompute:
            scales = (None,) * n
    if min(sizes) < 1 or 0 in input.shape[1:]:
        raise RuntimeError(
            f"interpolate: Input and output sizes should be greater than 0, but got input {list(input.shape)} and "
            f"output {list(sizes)}"
        )
    return sizes, scales


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """The deprecated name of `interpolate`."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The deprecated name of `interpolate` with mode "nearest"."""
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The deprecated name of `interpolate` with mode "bilinear" (for 5-D input "trilinear") and aligned corners."""
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
