"""Reductions, scans, sorting and selection by the array module; half precision is computed in float32 and rounded once.

What is rare, or has no counterpart in CuPy, runs on the host: the table at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.array_kernels import cast, refusing, wide
from tenfold.cuda.kernels.host import through_host
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import op
from tenfold.ops.reduction.statistics import spread_arguments


def axes(dim: Any, ndim: int) -> Any:
    """The axis argument; an empty sequence means all dimensions, as in PyTorch."""
    if dim is None or isinstance(dim, int):
        return None if ndim == 0 and dim in (0, -1) else dim
    return tuple(dim) if len(dim) and ndim else None


def _sums(name: str) -> Callable[..., Any]:
    """sum or prod: integers and bool in int64."""

    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        dtype = np.dtype(np.int64) if input.dtype.kind in "biu" else None
        result = getattr(xp, name)(wide(input), axis=axes(dim, input.ndim), dtype=dtype, keepdims=keepdim)
        return cast(xp.asarray(result), dtype or input.dtype)

    return run


kernel(op.sum, device="cuda")(_sums("sum"))
kernel(op.prod, device="cuda")(_sums("prod"))


@kernel(op.mean, device="cuda")
def mean(input: Any, dim: Any, keepdim: bool) -> Any:
    if input.dtype.kind not in "fcV" or not input.size:
        return NotImplemented  # the body has the words of the error
    return cast(xp.asarray(xp.mean(wide(input), axis=axes(dim, input.ndim), keepdims=keepdim)), input.dtype)


def _ordered(input: Any, name: str) -> Any:
    """The array where the array module can order its elements: half precision as float32, bool as uint8."""
    if input.dtype.kind == "c":
        raise TypeError(f"{name}: complex numbers have no order")
    return cast(input, np.uint8) if input.dtype.kind == "b" else wide(input)


def _extreme(name: str) -> Callable[..., Any]:
    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        result = getattr(xp, name)(_ordered(input, name), axis=axes(dim, input.ndim), keepdims=keepdim)
        return cast(xp.asarray(result), input.dtype)

    return run


kernel(op.amax, device="cuda")(_extreme("amax"))
kernel(op.amin, device="cuda")(_extreme("amin"))


def _position(name: str) -> Callable[..., Any]:
    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        positions = getattr(xp, name)(_ordered(input, name), axis=axes(dim, input.ndim), keepdims=keepdim)
        return cast(xp.asarray(positions), np.int64)

    return run


kernel(op.argmax, device="cuda")(refusing(op.argmax, _position("argmax")))
kernel(op.argmin, device="cuda")(refusing(op.argmin, _position("argmin")))


def _scalar_with_position(input: Any, dim: int) -> tuple[Any, Any]:
    """What selection along a dimension gives for a 0-d array, whose dimension may be called 0 or -1."""
    if dim not in (0, -1):
        raise IndexError(dim)
    return input.copy(), xp.zeros((), np.int64)


def _taken(input: Any, positions: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """(values, positions) for positions along a dimension, which they keep with size 1."""
    values = cast(xp.take_along_axis(_ordered(input, "take"), positions, dim), input.dtype)
    return (values, positions) if keepdim else (values.squeeze(dim), positions.squeeze(dim))


def _located(name: str) -> Callable[..., Any]:
    def run(input: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
        if not input.ndim:
            return _scalar_with_position(input, dim)
        positions = xp.expand_dims(getattr(xp, name)(_ordered(input, name), axis=dim), dim)
        return _taken(input, cast(positions, np.int64), dim, keepdim)

    return run


kernel(op.max_dim, device="cuda")(refusing(op.max_dim, _located("argmax")))
kernel(op.min_dim, device="cuda")(refusing(op.min_dim, _located("argmin")))


def _logical(name: str) -> Callable[..., Any]:
    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        truth = wide(input) != 0
        if dim not in ((), []):
            truth = xp.asarray(getattr(xp, name)(truth, axis=axes(dim, input.ndim), keepdims=keepdim))
        return cast(truth, np.uint8) if input.dtype == np.uint8 else truth

    return run


kernel(op.all, device="cuda")(_logical("all"))
kernel(op.any, device="cuda")(_logical("any"))


@kernel(op.count_nonzero, device="cuda")
def count_nonzero(input: Any, dim: Any) -> Any:
    return xp.asarray(xp.sum(wide(input) != 0, axis=axes(dim, input.ndim), dtype=np.int64))


def _variance(input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
    dim, correction = spread_arguments(dim, unbiased, correction)
    axis = axes(dim, input.ndim)
    if input.dtype.kind not in "fV" or not input.size:
        return NotImplemented
    x = wide(input)
    average = xp.mean(x, axis=axis, keepdims=True)
    count = x.size // average.size - correction
    return NotImplemented if count <= 0 else xp.asarray(xp.sum(xp.square(x - average), axis=axis, keepdims=keepdim) / count)


@kernel(op.var, device="cuda")
def var(input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
    result = _variance(input, dim, unbiased, keepdim, correction)
    return result if result is NotImplemented else cast(result, input.dtype)


@kernel(op.std, device="cuda")
def std(input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
    result = _variance(input, dim, unbiased, keepdim, correction)
    return result if result is NotImplemented else cast(xp.asarray(xp.sqrt(result)), input.dtype)


# Scans


def _scan(name: str) -> Callable[..., Any]:
    """Accumulated in float64 for floats, in int64 for integers."""

    def run(input: Any, dim: int) -> Any:
        kind = input.dtype.kind
        accumulator = np.int64 if kind in "biu" else np.complex128 if kind == "c" else np.float64
        if not input.ndim:
            value, _ = _scalar_with_position(input, dim)
            return cast(value, np.int64) if kind in "biu" else value
        with np.errstate(all="ignore"):
            return cast(getattr(xp, name)(cast(input, accumulator), dim), np.int64 if kind in "biu" else input.dtype)

    return run


kernel(op.cumsum, device="cuda")(_scan("cumsum"))
kernel(op.cumprod, device="cuda")(_scan("cumprod"))


# Sorting


def _order(x: Any, dim: int, descending: bool) -> Any:
    """The positions that sort, equal elements in their order, NaN as the greatest."""
    if not descending:
        return xp.argsort(x, dim, kind="stable")
    backwards = xp.argsort(xp.flip(x, dim), dim, kind="stable")
    return xp.ascontiguousarray(xp.flip(x.shape[dim] - 1 - backwards, dim))


@kernel(op.sort_pair, device="cuda")
def sort_pair(input: Any, dim: int, descending: bool) -> tuple[Any, Any]:
    if not input.ndim:
        return _scalar_with_position(input, dim)
    return _taken(input, cast(_order(_ordered(input, "sort"), dim, descending), np.int64), dim, True)


@kernel(op.topk_pair, device="cuda")
@partial(refusing, op.topk_pair)
def topk_pair(input: Any, k: int, dim: int, largest: bool, sorted: bool) -> tuple[Any, Any]:
    if not input.ndim:
        if k == 1:
            return _scalar_with_position(input, dim)
        return input.reshape(1)[:0], xp.zeros(0, np.int64)
    if not 0 <= k <= input.shape[dim]:
        raise ValueError("k is out of range")
    positions = xp.take(_order(_ordered(input, "topk"), dim, largest), xp.arange(k), dim)
    return _taken(input, cast(positions, np.int64), dim, True)


@kernel(op.kthvalue_pair, device="cuda")
@partial(refusing, op.kthvalue_pair)
def kthvalue_pair(input: Any, k: int, dim: int, keepdim: bool) -> tuple[Any, Any]:
    if not input.ndim:
        if k != 1:
            raise ValueError("k is out of range")
        return _scalar_with_position(input, dim)
    if not 1 <= k <= input.shape[dim]:
        raise ValueError("k is out of range")
    positions = xp.take(_order(_ordered(input, "kthvalue"), dim, False), xp.arange(k - 1, k), dim)
    return _taken(input, cast(positions, np.int64), dim, keepdim)


@kernel(op.vector_norm, device="cuda")
@partial(refusing, op.vector_norm)
def vector_norm(input: Any, ord: Any, dim: Any, keepdim: bool) -> Any:
    """The p-norm; of one number it is its size, which no power takes out of range."""
    axis = axes(dim, input.ndim)
    dtype = np.dtype(f"f{input.dtype.itemsize // 2}") if input.dtype.kind == "c" else input.dtype
    x = xp.abs(wide(input))
    along = range(x.ndim) if axis is None else (axis,) if type(axis) is int else axis
    if ord and all(x.shape[a] == 1 for a in along):
        ord = float("inf")
    with np.errstate(all="ignore"):
        return cast(xp.asarray(_power_sum(x, ord, axis, keepdim)), dtype)


def _power_sum(x: Any, p: Any, axis: Any, keepdim: bool) -> Any:
    """The p-norm along axes, of sizes that are not negative."""
    if p == 2:
        return xp.sqrt(xp.sum(x * x, axis=axis, keepdims=keepdim))
    if p == 1:
        return xp.sum(x, axis=axis, keepdims=keepdim)
    if p in (float("inf"), -float("inf")):
        return (xp.amax if p > 0 else xp.amin)(x, axis=axis, keepdims=keepdim)
    if p == 0:
        return xp.sum(x != 0, axis=axis, dtype=x.dtype, keepdims=keepdim)
    total = xp.sum(xp.power(x, x.dtype.type(p)), axis=axis, keepdims=keepdim)
    return xp.power(total, x.dtype.type(1 / p))


@kernel(op.bincount, device="cuda")
def bincount(input: Any, weights: Any, minlength: int) -> Any:
    if weights is not None or not input.size:
        return _bincount_on_host(input, weights, minlength)
    if input.ndim != 1 or input.dtype.kind not in "iu" or minlength < 0 or int(input.min()) < 0:
        return _bincount_on_host(input, weights, minlength)
    return cast(xp.bincount(cast(input, np.int64), minlength=minlength), np.int64)


_bincount_on_host = through_host("bincount")

ON_HOST = ("unique_parts", "search_positions")
for _name in ON_HOST:
    kernel(getattr(op, _name), device="cuda", note="computed on the host")(through_host(_name))
