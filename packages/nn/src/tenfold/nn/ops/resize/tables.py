"""Where each output of a resampling reads, and with what weights: tables of places and weights, one column for an output."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

Table = tuple[Any, Any]  # places and weights, (taps, outputs)

KEYS = -0.75  # a of Keys's kernel where it interpolates
KEYS_ANTIALIASED = -0.5


def step(size: int, out: int, scale: float | None) -> float:
    """How far apart two outputs' centres are among the inputs; a scale factor that was given counts, not the sizes."""
    return 1 / scale if scale is not None and scale > 0 else size / out


def is_identity(size: int, out: int, scale: float | None) -> bool:
    """Whether a dimension stays as it is, NaN and infinities included."""
    return size == out and scale is None


def _aligned_step(size: int, out: int) -> float:
    return (size - 1) / (out - 1) if out > 1 else 0.0


def _positions(size: int, out: int, scale: float | None, align_corners: bool) -> Any:
    """Where each output's centre lies among the inputs."""
    at = np.arange(out, dtype=np.float64)
    return at * _aligned_step(size, out) if align_corners else (at + 0.5) * step(size, out, scale) - 0.5


@lru_cache(maxsize=64)
def nearest(size: int, out: int, scale: float | None, exact: bool) -> Any:
    """The one input that each output repeats."""
    # PyTorch multiplies in float32, which decides where a position is almost whole.
    wide = np.float32(step(size, out, scale))
    at = np.floor((np.arange(out, dtype=np.float32) + np.float32(0.5 if exact else 0)) * wide)
    return np.minimum(at, size - 1).astype(np.int64)


@lru_cache(maxsize=64)
def weighted(size: int, out: int, scale: float | None, align_corners: bool, kind: str, antialias: bool) -> Table:
    """The places and weights of an interpolation, with `antialias` over all inputs that an output covers.

    Kinds: "linear", "cubic", and with `antialias` "lanczos".
    """
    if antialias:
        return _antialiased(size, out, scale, align_corners, kind)
    at = _positions(size, out, scale, align_corners)
    if kind == "cubic":
        taps = np.floor(at)[None] + np.arange(-1, 3)[:, None]
        return np.clip(taps, 0, size - 1).astype(np.int64), cubic_weight(at - taps, KEYS)
    at = np.maximum(at, 0.0)
    low = np.minimum(at.astype(np.int64), size - 1)
    share = np.minimum(at - low, 1.0)
    return np.stack([low, np.minimum(low + 1, size - 1)]), np.stack([1 - share, share])


def cubic_weight(distance: Any, a: float) -> Any:
    """Keys's cubic convolution kernel (1981, equation 4) at a distance of up to 2."""
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((d - 5) * d + 8) * d * a - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def lanczos_weight(distance: Any) -> Any:
    """Lanczos's kernel of three lobes, sinc(d) sinc(d / 3) at a distance of up to 3."""
    return np.where(np.abs(distance) < 3, np.sinc(distance) * np.sinc(distance / 3), 0.0)


# Of each kind: how far its kernel reaches, and the kernel.
KERNELS: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "linear": (1.0, lambda d: np.maximum(1 - np.abs(d), 0)),
    "cubic": (2.0, lambda d: cubic_weight(d, KEYS_ANTIALIASED)),
    "lanczos": (3.0, lanczos_weight),
}


def _antialiased(size: int, out: int, scale: float | None, align_corners: bool, kind: str) -> Table:
    """The kernel stretched over all inputs that an output covers, its weights made to sum to one."""
    wide = _aligned_step(size, out) if align_corners else step(size, out, scale)
    stretch = max(wide, 1.0)
    reach, kernel = KERNELS[kind]
    support = reach * stretch
    centers = wide * (np.arange(out) + 0.5)
    first = np.maximum((centers - support + 0.5).astype(np.int64), 0)
    last = np.minimum((centers + support + 0.5).astype(np.int64), size)
    at = first + np.arange((last - first).max(initial=1))[:, None]
    d = (at - centers + 0.5) / stretch
    weights = np.where(at < last, kernel(d), 0.0)
    total = weights.sum(0)
    return np.minimum(at, last - 1), weights / np.where(total == 0, 1, total)


@lru_cache(maxsize=64)
def whole_numbers(
    size: int, out: int, scale: float | None, align_corners: bool, kind: str, antialias: bool
) -> tuple[Any, Any, int]:
    """Places, and weights as integers of 15 bits, with the number of their bits behind the point: what bytes are resampled with.

    Taps that the edge holds at one place count as one, so that their weights are rounded together.
    """
    places, given = weighted(size, out, scale, align_corners, kind, antialias)
    weights = given.copy()
    for tap in range(len(places) - 1, 0, -1):
        same = places[tap] == places[tap - 1]
        weights[tap - 1] += np.where(same, weights[tap], 0)
        weights[tap][same] = 0
    bits = next((p for p in range(22) if int(0.5 + weights.max() * (1 << (p + 1))) >= 1 << 15), 22)
    scaled = weights * (1 << bits)
    return places, np.trunc(scaled + np.where(scaled < 0, -0.5, 0.5)).astype(np.int32), bits
