"""NumPy kernels of copies and conversions.

Copies into row-major order go by blocks where they transpose, so that what is read is still in the cache when its neighbours
are: NumPy copies along the result's last dimension. Where the source's rows lie a power of two apart, all elements of such a
column fall into a few places of the cache, and each row is read from memory once per element.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.blocks import row_blocks
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.settings.warnings import warn_once
from tenfold.types.dtypes import complex32
from tenfold.types.memory_format import is_dense, preserve_format
from tenfold.types.narrow import castable, narrowed, widened

# Smaller arrays stay in the cache whatever the order.
_LARGE_BYTES = 1 << 16
_TILE, _PANEL_BYTES, _CONFLICT_BYTES = 128, 256, 512
_NARROW, _LONGEST_RUN_BYTES = 4, 256


@kernel(op.clone, device="cpu")
def clone(input: Any, memory_format: Any) -> Any:
    if memory_format is None or memory_format.order is None:
        if input.flags.forc or is_dense(input):
            return input.copy("K")
        memory_format = preserve_format
    elif not memory_format.order:
        return row_major(input)
    order = memory_format.order_for(input)
    return row_major(input.transpose(order)).transpose(np.argsort(order))


@kernel(op.to_dtype, device="cpu")
def to_dtype(input: Any, dtype: Any) -> Any:
    if dtype is complex32:
        return narrowed(input)
    input = widened(input) if input.dtype.names else input
    order = None if input.flags.forc or is_dense(input) else preserve_format.order_for(input)
    with np.errstate(all="ignore"):
        if input.dtype.kind == "c" and dtype.category in (1, 2):
            input = real_part(input)
        input = castable(input, dtype.numpy)
        if order is None:
            return input.astype(dtype.numpy)
        return input.transpose(order).astype(dtype.numpy, "C").transpose(np.argsort(order))


def real_part(array: Any) -> Any:
    """What is left of complex numbers where real ones are asked for; a warning says so once."""
    warn_once("complex", "Casting complex values to real discards the imaginary part", 6)
    return array.real


def row_major(array: Any) -> Any:
    """A copy in row-major order."""
    if array.nbytes < _LARGE_BYTES or array.flags.c_contiguous or array.ndim < 2:
        return array.copy("C")
    steps = [(abs(s), -d) for d, (n, s) in enumerate(zip(array.shape, array.strides)) if n > 1]
    fastest, last = -min(steps)[1], array.ndim - 1
    if 0 in array.strides:
        return array.copy("C")
    if fastest == last:
        return _by_runs(array)
    out = np.empty(array.shape, array.dtype)
    if array.shape[last] <= _NARROW:
        for i in range(array.shape[last]):
            out[..., i] = array[..., i]
    elif min(array.shape[fastest], array.shape[last]) < _TILE:
        out[...] = array
    else:
        _matrices(out, array, fastest)
    return out


def _by_runs(array: Any) -> Any:
    """A copy of an array whose last dimension lies close together: each short run of elements as one piece of memory."""
    run_bytes = array.shape[-1] * array.itemsize
    if array.strides[-1] != array.itemsize or run_bytes > _LONGEST_RUN_BYTES:
        return array.copy("C")
    out, run = np.empty(array.shape, array.dtype), np.dtype((np.void, run_bytes))
    out.view(run)[...] = array.view(run)
    return out


def _matrices(out: Any, array: Any, fastest: int) -> None:
    """Copy the matrices of dimension `fastest`, along which the source lies in memory, and the last one."""
    into, source = (np.moveaxis(a, fastest, -2) for a in (out, array))
    for i in np.ndindex(source.shape[:-2]):
        _matrix(into[i], source[i])


def _matrix(out: Any, source: Any) -> None:
    if abs(source.strides[1]) % _CONFLICT_BYTES:
        for rows in row_blocks(len(out), 1, _TILE):
            for columns in row_blocks(out.shape[1], 1, _TILE):
                out[rows, columns] = source[rows, columns]
        return
    for rows in row_blocks(len(out), source.itemsize, _PANEL_BYTES):
        out[rows] = source.T[:, rows].copy("C").T
