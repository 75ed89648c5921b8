"""Cutting large arrays into blocks that stay in the cache while a kernel makes its several passes over them."""

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from tenfold.cpu.reduction.sums import total

Array = np.ndarray[Any, Any]

# Two or three temporaries of this size stay in a core's second-level cache; half of it costs 5 % more in calls.
BLOCK_BYTES = 1 << 18


def row_blocks(rows: int, row_bytes: int, block_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Slices that cover range(rows), each about `block_bytes` of rows and at least one row."""
    step = max(1, block_bytes // max(1, row_bytes))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def blockwise(body: Callable[..., None], *arrays: Array) -> Array:
    """A new array filled by `body(out, *inputs)`, called block by block on flat pieces when the inputs are large.

    The inputs have one shape and one dtype; `body` computes elementwise and writes only its first argument. The result lies
    in memory as the first input does.
    """
    first = arrays[0]
    out = np.empty_like(first)
    if first.ndim == 0:  # arithmetic on 0-d arrays yields scalars, which `body` could not write to
        body(out.reshape(1), *[a.reshape(1) for a in arrays])
        return out
    if first.nbytes <= BLOCK_BYTES:
        body(out, *arrays)
        return out
    if out.flags.c_contiguous:
        flat_out, *flat = (a.reshape(-1) for a in (out, *arrays))
    else:
        order = sorted(range(out.ndim), key=lambda axis: -out.strides[axis])
        flat_out, *flat = (a.transpose(order).reshape(-1) for a in (out, *arrays))
    for part in row_blocks(flat_out.size, first.itemsize):
        body(flat_out[part], *[a[part] for a in flat])
    return out


def by_rows(body: Any, dim: int, *arrays: Array) -> Array:
    """A new array filled by `body(out, *rows)` on blocks (A, D, B) of arrays, D being the dimension `dim`."""
    shape = arrays[0].shape
    if not -max(len(shape), 1) <= dim < max(len(shape), 1):
        raise IndexError(f"dimension {dim}")
    out = np.empty(shape, arrays[0].dtype)
    if out.size == 0:
        return out
    dim = dim % len(shape) if shape else 0
    inner = prod(shape[dim + 1 :])
    rows = (-1, shape[dim] if shape else 1) if inner == 1 else (-1, shape[dim], inner)
    results, views = out.reshape(rows), [a.reshape(rows) for a in arrays]
    if out.nbytes <= BLOCK_BYTES:
        body(results, *views)
        return out
    for part in row_blocks(len(results), results[0].nbytes):
        body(results[part], *[v[part] for v in views])
    return out


def row_sums(x: Array) -> Array:
    """Sum (A, D) or (A, D, B) over D, keeping the dimension; a product with ones is the fastest for large blocks."""
    if x.ndim == 2 and x.size > 1024:
        return (x @ np.ones(x.shape[1], x.dtype))[:, None]
    return total(x, 1, True)


def row_dots(x: Array, y: Array) -> Array:
    """Sum x y over D, keeping the dimension."""
    if x.ndim == 2:
        return (x[:, None, :] @ y[:, :, None])[:, :, 0]
    return total(x * y, 1, True)


def subtract_maximum(out: Array, x: Array) -> Array:
    """Write x - max(x) along dimension 1 to `out` and return the maxima; rows of -inf only become NaN."""
    top = np.maximum.reduce(x, 1, keepdims=True)
    np.subtract(x, top, out=out)
    return top
