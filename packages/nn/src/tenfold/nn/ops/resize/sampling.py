"""What sampling at places is made of, and `grid_sample` as operators with gradients, for devices that have kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import widened
from tenfold.tensor.tensor import Tensor


def sampled(input: Tensor, grid: Tensor, mode: str, padding_mode: str, align: bool) -> Tensor:
    """`grid_sample` of what has been checked."""
    n, sizes = input.dim() - 2, tuple(input.shape[2:])
    at = [_placed(grid[..., n - 1 - axis], sizes, axis, mode, padding_mode, align) for axis in range(n)]
    taps = [_taps(a, mode) for a in at]
    total: Any = None
    for chosen in product(*taps):
        places = [place for place, _ in chosen]
        if mode == "bicubic":
            places = [_inside(p, s, padding_mode, align) for p, s in zip(places, sizes, strict=True)]
        value = _values_at(input, places, sizes)
        for _, weight in chosen:
            value = value if weight is None else value * weight.unsqueeze(1)
        total = value if total is None else total + value
    return total


@composite("resize", method=None)
def fused_grid_sample(input: Tensor, grid: Tensor, mode: str, padding_mode: str, align_corners: bool) -> Tensor:
    """`grid_sample` of what has been checked.

    >>> import tenfold
    >>> x = tenfold.arange(4.0).view(1, 1, 2, 2)
    >>> tenfold.op.fused_grid_sample(x, tenfold.zeros(1, 1, 1, 2), "bilinear", "zeros", True)
    tensor([[[[1.5000]]]])
    """
    return sampled(widened(input), widened(grid), mode, padding_mode, align_corners).to(input.dtype)


@composite("resize", method=None)
def fused_grid_sample_input_grad(
    grad: Tensor, grid: Tensor, input_shape: Sequence[int], mode: str, padding_mode: str, align_corners: bool
) -> Tensor:
    """The gradient of `fused_grid_sample` for the input: every element of `grad` goes back to the places it was made of.

    >>> import tenfold
    >>> args = tenfold.ones(1, 1, 1, 1), tenfold.zeros(1, 1, 1, 2), (1, 1, 2, 2), "bilinear", "zeros", True
    >>> tenfold.op.fused_grid_sample_input_grad(*args)
    tensor([[[[0.2500, 0.2500],
              [0.2500, 0.2500]]]])
    """
    g, sizes, (N, C) = widened(grad), tuple(input_shape[2:]), input_shape[:2]
    out = tf.zeros(N, C, prod(sizes), dtype=g.dtype, device=g.device)
    for places, weights, _ in _terms(widened(grid), sizes, mode, padding_mode, align_corners):
        within, flat = _flat(places, sizes)
        share = g
        for weight in weights:
            share = share * weight.unsqueeze(1)
        count = prod(flat.shape[1:])
        share = tf.where(within.unsqueeze(1), share, 0.0).reshape(N, C, count)
        out = out.scatter_add(2, flat.reshape(N, 1, count).expand(N, C, count), share)
    return out.view(*input_shape).to(grad.dtype)


@composite("resize", method=None)
def fused_grid_sample_grid_grad(
    grad: Tensor, input: Tensor, grid: Tensor, mode: str, padding_mode: str, align_corners: bool
) -> Tensor:
    """The gradient of `fused_grid_sample` for the grid.

    >>> import tenfold
    >>> g, x, grid = tenfold.ones(1, 1, 1, 1), tenfold.arange(4.0).view(1, 1, 2, 2), tenfold.zeros(1, 1, 1, 2)
    >>> tenfold.op.fused_grid_sample_grid_grad(g, x, grid, "bilinear", "zeros", True)
    tensor([[[[0.5000, 1.0000]]]])
    """
    g, x, wide, sizes = widened(grad), widened(input), widened(grid), tuple(input.shape[2:])
    n, totals = len(sizes), [tf.zeros_like(wide[..., 0]) for _ in sizes]
    for places, weights, changes in _terms(wide, sizes, mode, padding_mode, align_corners):
        change = (_values_at(x, places, sizes) * g).sum(1)
        for axis in range(n):
            factors = [changes[d] if d == axis else weights[d] for d in range(n)]
            totals[axis] = totals[axis] + change * prod(factors[1:], start=factors[0])
    for axis, size in enumerate(sizes):
        slope = (size - 1) / 2 if align_corners else size / 2
        if mode != "bicubic":
            at = _unnormalized(wide[..., n - 1 - axis], size, align_corners)
            slope = slope * _slope_inside(at, size, padding_mode, align_corners)
        totals[axis] = totals[axis] * slope
    return tf.stack(totals[::-1], -1).to(grid.dtype)


def _terms(
    grid: Tensor, sizes: tuple[int, ...], mode: str, padding_mode: str, align: bool
) -> Iterator[tuple[list[Tensor], list[Tensor], list[Tensor]]]:
    """For each element that a place is made of: where it is, its weight along each dimension, and how that changes."""
    n, taps = len(sizes), []
    for axis, size in enumerate(sizes):
        at = _placed(grid[..., n - 1 - axis], sizes, axis, mode, padding_mode, align)
        found = []
        for tap, (place, weight) in enumerate(_taps(at, mode)):
            if mode == "bicubic":
                found.append((_inside(place, size, padding_mode, align), weight, _cubic_slope(at - place)))
            else:
                change = 0.0 if mode == "nearest" else 2.0 * tap - 1.0
                found.append((place, tf.ones_like(at) if mode == "nearest" else weight, tf.full_like(at, change)))
        taps.append(found)
    for chosen in product(*taps):
        yield [c[0] for c in chosen], [c[1] for c in chosen], [c[2] for c in chosen]


def _slope_inside(x: Tensor, size: int, padding_mode: str, align: bool) -> Any:
    """The derivative of `_inside`."""
    if padding_mode == "zeros":
        return 1.0
    sign = tf.ones_like(x)
    if padding_mode == "reflection":
        low, span = (0.0, size - 1.0) if align else (-0.5, float(size))
        if not span:
            return 0.0
        even = ((x - low).abs() / span).floor() % 2 == 0
        sign = tf.where(even, 1.0, -1.0).to(x.dtype) * tf.where(x < low, -1.0, 1.0).to(x.dtype)
        x = _reflected(x, low, span)
    return tf.where((x > 0) & (x < size - 1), sign, 0.0)


def _cubic_slope(x: Tensor) -> Tensor:
    """The derivative of `_cubic`."""
    d, a = x.abs(), -0.75
    near, far = (3 * (a + 2) * d - 2 * (a + 3)) * d, ((3 * d - 10) * d + 8) * a
    return tf.where(d <= 1, near, tf.where(d >= 2, 0.0, far)) * tf.sign(x)


def _unnormalized(x: Tensor, size: int, align: bool) -> Tensor:
    return (x + 1) * ((size - 1) / 2) if align else ((x + 1) * size - 1) / 2


def _placed(x: Tensor, sizes: tuple[int, ...], axis: int, mode: str, padding_mode: str, align: bool) -> Tensor:
    """Places from -1 to 1 in elements along a dimension, by the padding where a place is what is padded."""
    at = _unnormalized(x, sizes[axis], align)
    if mode == "bicubic":
        return at
    if padding_mode == "zeros" and len(sizes) == 3:  # outside lies what is not finite, as in PyTorch; in planes it is nan
        at = tf.where(at.isfinite(), at, -100.0)
    return _inside(at, sizes[axis], padding_mode, align, volume=len(sizes) == 3)


def _inside(x: Tensor, size: int, padding_mode: str, align: bool, volume: bool = False) -> Tensor:
    """The place that stands for one outside; for NaN, as in PyTorch on a CPU, the first one, of volumes the last one."""
    if padding_mode == "zeros":
        return x
    if padding_mode == "reflection":
        low, span = (0.0, size - 1.0) if align else (-0.5, float(size))
        x = _reflected(x, low, span) if span else tf.where(tf.isnan(x) | True, 0.0, x)
    # PyTorch's gradient is 0 on the border itself.
    with tf.no_grad():
        clipped = tf.where(tf.isnan(x), size - 1.0 if volume else 0.0, x).clamp(0, size - 1)
        free = (x > 0) & (x < size - 1)
    return tf.where(free, x, clipped)


def _reflected(x: Tensor, low: float, span: float) -> Tensor:
    """x folded back and forth between low and low + span."""
    distance = (x - low).abs()
    flips = (distance / span).floor().detach()
    extra = distance - flips * span
    return tf.where(flips % 2 == 0, extra, span - extra) + low


def _taps(x: Tensor, mode: str) -> list[tuple[Tensor, Any]]:
    """The places that contribute along one dimension, with their weights."""
    if mode == "nearest":
        # The weight is 1, with a slope of 0: moving a little changes nothing.
        return [(x.round().detach(), tf.where(tf.isnan(x) | True, 1.0, x) if x.requires_grad else None)]
    base = x.floor().detach()
    t = x - base
    if mode == "bilinear":
        return [(base, 1 - t), (base + 1, t)]
    return [(base + i, _cubic(t - i)) for i in (-1, 0, 1, 2)]


def _cubic(x: Tensor) -> Tensor:
    """Keys's cubic kernel with a = -0.75."""
    d, a = x.abs(), -0.75
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((d - 5) * d + 8) * d * a - 4 * a
    return tf.where(d <= 1, near, tf.where(d >= 2, 0.0, far))  # nan stays


def _values_at(input: Tensor, places: list[Tensor], sizes: tuple[int, ...]) -> Tensor:
    """The input's elements at whole places, 0 outside: (N, C, *P)."""
    (N, C), (within, flat) = input.shape[:2], _flat(places, sizes)
    count = prod(flat.shape[1:])
    rows = input.reshape(N, C, prod(sizes)).gather(2, flat.reshape(N, 1, count).expand(N, C, count))
    values = rows.view(N, C, *flat.shape[1:])
    return tf.where(within.unsqueeze(1), values, 0.0)


def _flat(places: list[Tensor], sizes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """(whether there is an element at whole places, its place in the plane, 0 where there is none)."""
    within: Any = None
    flat: Any = None
    for place, size in zip(places, sizes, strict=True):
        place = place.detach()
        ok = (place >= 0) & (place <= size - 1)
        index = tf.where(ok, place, 0.0).round().to(tf.int64)
        within = ok if within is None else within & ok
        flat = index if flat is None else flat * size + index
    return within, flat
