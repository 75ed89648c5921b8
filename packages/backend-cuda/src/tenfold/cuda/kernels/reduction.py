"""Reductions and scans by one kernel each (folds.py, scanning.py); empty arrays by the array module.

Half precision is computed in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels import adjoints, counts, reduction_slopes, runs  # noqa: F401 - they attach kernels of this family too
from tenfold.cuda.kernels.array_kernels import cast, refusing, wide
from tenfold.cuda.kernels.folds import Fold
from tenfold.cuda.kernels.reducing import both_extremes, counting, logical, normed, reduction, spreading, to_the_body
from tenfold.cuda.kernels.scanning import Scan, scanning
from tenfold.cuda.runtime import xp
from tenfold.dispatch.operators import Operator, op


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


kernel(op.sum, device="cuda")(reduction(Fold("sum", result="whole"), _sums("sum")))
kernel(op.prod, device="cuda")(reduction(Fold("product", result="whole"), _sums("prod")))


def _mean(input: Any, dim: Any, keepdim: bool) -> Any:
    if input.dtype.kind not in "fcV" or not input.size:
        return NotImplemented  # the body has the words of the error
    return cast(xp.asarray(xp.mean(wide(input), axis=axes(dim, input.ndim), keepdims=keepdim)), input.dtype)


kernel(op.mean, device="cuda")(reduction(Fold("sum", end="mean"), _mean))


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


kernel(op.amax, device="cuda")(reduction(Fold("top"), _extreme("amax")))
kernel(op.amin, device="cuda")(reduction(Fold("top", least=1), _extreme("amin")))
kernel(op.aminmax, device="cuda")(both_extremes)


def _position(name: str) -> Callable[..., Any]:
    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        positions = getattr(xp, name)(_ordered(input, name), axis=axes(dim, input.ndim), keepdims=keepdim)
        return cast(xp.asarray(positions), np.int64)

    return run


def _located_by(operator: Operator, otherwise: Callable[..., Any], end: str, least: int) -> None:
    checked = refusing(operator, otherwise)
    kernel(operator, device="cuda")(reduction(Fold("top", end=end, least=least, at=1), checked, operator.shape_rule))


_located_by(op.argmax, _position("argmax"), "", 0)
_located_by(op.argmin, _position("argmin"), "", 1)


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


_located_by(op.max_dim, _located("argmax"), "value", 0)
_located_by(op.min_dim, _located("argmin"), "value", 1)


def _logical(name: str) -> Callable[..., Any]:
    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        truth = wide(input) != 0
        if dim not in ((), []):
            truth = xp.asarray(getattr(xp, name)(truth, axis=axes(dim, input.ndim), keepdims=keepdim))
        return cast(truth, np.uint8) if input.dtype == np.uint8 else truth

    return run


kernel(op.all, device="cuda")(logical(1, _logical("all")))
kernel(op.any, device="cuda")(logical(0, _logical("any")))


def _count(input: Any, dim: Any, keepdim: bool) -> Any:
    return xp.asarray(xp.sum(wide(input) != 0, axis=axes(dim, input.ndim), dtype=np.int64))


kernel(op.count_nonzero, device="cuda")(counting(_count))
kernel(op.var, device="cuda")(spreading("variance"))
kernel(op.std, device="cuda")(spreading("deviation"))
kernel(op.logsumexp, device="cuda")(reduction(Fold("powers"), to_the_body))


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


cumsum = kernel(op.cumsum, device="cuda")(scanning(Scan("sum", "biufVc"), _scan("cumsum")))
kernel(op.cumprod, device="cuda")(scanning(Scan("product", "biufVc"), _scan("cumprod")))


def _vector_norm(input: Any, ord: Any, dim: Any, keepdim: bool) -> Any:
    """The p-norm; of one number it is its size, which no power takes out of range."""
    axis = axes(dim, input.ndim)
    dtype = np.dtype(f"f{input.dtype.itemsize // 2}") if input.dtype.kind == "c" else input.dtype
    x = xp.abs(wide(input))
    along = range(x.ndim) if axis is None else (axis,) if type(axis) is int else axis
    if ord and all(x.shape[a] == 1 for a in along):
        ord = float("inf")
    with np.errstate(all="ignore"):
        return cast(xp.asarray(_power_sum(x, ord, axis, keepdim)), dtype)


kernel(op.vector_norm, device="cuda")(normed(refusing(op.vector_norm, _vector_norm)))


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
