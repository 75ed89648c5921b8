"""Softmax and log-softmax along one dimension and their gradients, row block by row block."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.blocks import row_blocks
from tenfold.nn.cpu.array_kernel import array_kernel

Array = np.ndarray[Any, Any]


def _by_rows(body: Callable[..., None], dim: int, *arrays: Array) -> Array:
    """A new array filled by `body(out, *rows)` on blocks (A, D, B) of arrays, D being the dimension `dim`.

    B is 1 when `dim` is the last dimension; such blocks come as (A, D), where sums are matrix-vector products.
    """
    shape = arrays[0].shape
    out = np.empty(shape, arrays[0].dtype)
    if out.size == 0:
        return out
    if out.ndim == 0:
        body(out.reshape(1, 1), *[a.reshape(1, 1) for a in arrays])
        return out
    dim %= len(shape)
    inner = prod(shape[dim + 1 :])
    rows = (-1, shape[dim]) if inner == 1 else (-1, shape[dim], inner)
    results, views = out.reshape(rows), [a.reshape(rows) for a in arrays]
    for part in row_blocks(len(results), results[0].nbytes):
        body(results[part], *[v[part] for v in views])
    return out


def row_sums(x: Array) -> Array:
    """Sum (A, D) or (A, D, B) over D, keeping the dimension."""
    if x.ndim == 2:
        return (x @ np.ones(x.shape[1], x.dtype))[:, None]
    return np.add.reduce(x, 1, keepdims=True)


def row_dots(x: Array, y: Array) -> Array:
    """Sum x y over D, keeping the dimension."""
    if x.ndim == 2:
        dots: Array = np.vecdot(x, y)
    else:
        dots = np.einsum("adb,adb->ab", x, y)
    return dots[:, None]


def subtract_maximum(out: Array, x: Array) -> Array:
    """Write x - max(x) along dimension 1 to `out` and return the maxima; rows of -inf only become NaN."""
    top = np.maximum.reduce(x, 1, keepdims=True)
    np.subtract(x, top, out=out)
    return top


@array_kernel()
def softmax(input: Array, dim: int) -> Array:
    """exp(x) / sum(exp(x)) along `dim`."""
    return _by_rows(_softmax, dim, input)


def _softmax(out: Array, x: Array) -> None:
    subtract_maximum(out, x)
    np.exp(out, out=out)
    out *= 1 / row_sums(out)


@array_kernel()
def softmax_grad(g: Array, out: Array, dim: int) -> Array:
    """out (g - sum(g out)) along `dim`."""
    return _by_rows(_softmax_grad, dim, g, out)


def _softmax_grad(result: Array, g: Array, out: Array) -> None:
    np.subtract(g, row_dots(g, out), out=result)
    result *= out


@array_kernel()
def log_softmax(input: Array, dim: int) -> Array:
    """x - log(sum(exp(x))) along `dim`."""
    return _by_rows(_log_softmax, dim, input)


def _log_softmax(out: Array, x: Array) -> None:
    subtract_maximum(out, x)
    out -= np.log(row_sums(np.exp(out)))


@array_kernel()
def log_softmax_grad(g: Array, out: Array, dim: int) -> Array:
    """g - exp(out) sum(g) along `dim`, where `out` is the forward result."""
    return _by_rows(_log_softmax_grad, dim, g, out)


def _log_softmax_grad(result: Array, g: Array, out: Array) -> None:
    np.exp(out, out=result)
    result *= row_sums(g)
    np.subtract(g, result, out=result)
