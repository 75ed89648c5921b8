"""Interpolation, adaptive means and their gradients, one dimension after the other: the operators of tenfold-nn."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from tenfold.llvm.formats import channels_first, channels_last, in_one_piece, order_of, ordered
from tenfold.llvm.kernels.attaching import chosen
from tenfold.llvm.spans import Spans, along, spans
from tenfold.llvm.storage import FLOAT32, FLOAT64

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]
Scales = tuple[float | None, ...]
Steps = tuple[int, int, float | None]

tables: Any = import_module("tenfold.nn.ops.resize.tables")  # tenfold-nn is there where somebody asks for its operators' kernels
LEAST = 1  # elements
NOTE = "float32 and float64"


def _served(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype in (FLOAT32.dtype, FLOAT64.dtype) and x.size >= LEAST


def _each(x: Array, found: list[tuple[int, Spans]]) -> Any:
    """Sums along dimensions, counted from the last one, -1; channels last where they are so in memory."""
    order = None if x.flags.carray and x.shape[1] > 1 else order_of(x)
    moved = channels_last(x) if order is not None else None
    lies_last = moved is not None
    value: Array | None = in_one_piece(x) if moved is None else moved
    for axis, table in found:
        value = along(value, x.ndim + axis - int(lies_last), table) if value is not None else None
    if value is None or not found:
        return NotImplemented
    return channels_first(value) if lies_last else ordered(value, order)


@lru_cache(maxsize=256)
def _terms(steps: Steps, mode: str, align_corners: bool, antialias: bool) -> tuple[Array, Array, Array]:
    """Of each term of an interpolation the input's place, the output and the weight; tap by tap."""
    if mode.startswith("nearest"):
        places = tables.nearest(*steps, mode == "nearest-exact")[None]
        weights = np.ones(places.shape)
    else:
        places, weights = tables.weighted(*steps, align_corners, mode, antialias)
    outputs = np.broadcast_to(np.arange(places.shape[1]), places.shape)
    return places.reshape(-1), outputs.reshape(-1), weights.reshape(-1)


@lru_cache(maxsize=256)
def _resampled(dtype: Any, back: bool, steps: Steps, *options: Any) -> Spans:
    places, outputs, weights = _terms(steps, *options)
    if back:
        return spans(places, outputs, weights, steps[0], dtype)
    return spans(outputs, places, weights, steps[1], dtype)


def _resample(input: Array, output_size: Sizes, scales: Scales, mode: str, align_corners: bool, antialias: bool) -> Any:
    n = len(output_size)
    if mode.startswith("nearest") and input.ndim == n + 2 and min(output_size) > 0:
        moved = channels_last(input)
        return NotImplemented if moved is None else channels_first(_nearest(moved, output_size, scales, mode))
    if mode.startswith("nearest") or not _served(input) or input.ndim < n + 2 or min(output_size) < 1:
        return NotImplemented  # whole rows are gathered by NumPy
    found = []
    for axis in range(-1, -n - 1, -1):
        steps = (input.shape[axis], output_size[axis], scales[axis])
        if not tables.is_identity(*steps):
            found.append((axis, _resampled(input.dtype, False, steps, mode, align_corners, antialias)))
    return _each(input, found)


def _nearest(last: Array, output_size: Sizes, scales: Scales, mode: str) -> Array:
    """Pixels that lie channels last, each copied in one run to where it is nearest: along the last dimension first."""
    for axis in range(len(output_size), 0, -1):
        steps = (last.shape[axis], output_size[axis - 1], scales[axis - 1])
        if not tables.is_identity(*steps):
            last = last.take(tables.nearest(*steps, mode == "nearest-exact"), axis)
    return last


def _resample_grad(grad: Array, input_size: Sizes, scales: Scales, mode: str, align_corners: bool, antialias: bool) -> Any:
    n = len(input_size)
    if not _served(grad) or grad.ndim < n + 2 or min(input_size) < 1:
        return NotImplemented
    found = []
    for axis in range(-n, 0):  # the last dimension last: its sums are single numbers
        steps = (input_size[axis], grad.shape[axis], scales[axis])
        if not tables.is_identity(*steps):
            found.append((axis, _resampled(grad.dtype, True, steps, mode, align_corners, antialias)))
    return _each(grad, found)


@lru_cache(maxsize=256)
def _windows(dtype: Any, back: bool, size: int, out: int) -> Spans:
    """Window i reads from floor(i size / out) to ceil((i + 1) size / out)."""
    steps = np.arange(out)
    starts, ends = steps * size // out, -(-(steps + 1) * size // out)
    lengths = ends - starts
    outputs = np.repeat(steps, lengths)
    places = np.arange(len(outputs)) - np.repeat(np.cumsum(lengths) - lengths - starts, lengths)
    if back:
        return spans(places, outputs, (1 / lengths)[outputs], size, dtype)
    return spans(outputs, places, np.ones(len(outputs)), out, dtype, 1 / lengths)


def _uneven(inputs: Sizes, outputs: Sizes) -> bool:
    """Whether windows differ: means of those that do not are made otherwise."""
    return min(outputs) > 0 and min(inputs) > 0 and any(i % o for i, o in zip(inputs, outputs, strict=True))


def _adaptive(input: Array, output_size: Sizes) -> Any:
    n = len(output_size)
    if not _served(input) or input.ndim < n + 1 or not _uneven(input.shape[-n:], output_size):
        return NotImplemented
    axes = range(-n, 0)
    return _each(input, [(axis, _windows(input.dtype, False, input.shape[axis], output_size[axis])) for axis in axes])


def _adaptive_grad(grad: Array, input_shape: Sizes, ndim: int) -> Any:
    if not _served(grad) or prod(grad.shape[-ndim:]) == 1 or min(input_shape) < 1 or grad.ndim != len(input_shape):
        return NotImplemented
    axes = range(-1, -ndim - 1, -1)
    return _each(grad, [(axis, _windows(grad.dtype, True, input_shape[axis], grad.shape[axis])) for axis in axes])


chosen("resample", _resample, 6, f"{NOTE}, kinds with weights", halves=1)
chosen("resample_grad", _resample_grad, 6, NOTE, halves=1)
chosen("adaptive_avg_pool", _adaptive, 2, f"{NOTE}, windows of different lengths", halves=1)
chosen("adaptive_avg_pool_grad", _adaptive_grad, 3, NOTE, halves=1)
