"""The lookup of an embedding table's rows, and its gradient: rows of the incoming gradient, added up by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.blocks import row_blocks
from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.ops import embedding as ops

Array = np.ndarray[Any, Any]


@kernel(ops.embedding_rows, device="cpu")
def embedding_rows(weight: Array, input: Array, padding_idx: int, scale_grad_by_freq: bool, sparse: bool) -> Array:
    """weight[input], where every index must be a row of the table."""
    if input.size and not len(weight):
        raise RuntimeError("embedding: the table has no rows: self indexing axis dim should be positive")
    if input.size and (input.min() < 0 or input.max() >= len(weight)):
        raise IndexError(
            f"embedding: index out of range in self: got {input.min()} to {input.max()}, the table has {len(weight)} rows"
        )
    return weight.take(input, 0)


@kernel(ops.embedding_weight_grad, device="cpu")
@array_kernel()
def embedding_weight_grad(grad: Array, indices: Array, num_weights: int, padding_idx: int, scale_by_freq: bool) -> Array:
    """Add the rows of grad (*, D) to the rows of a zero table (num_weights, D) that `indices` (*) name.

    Rows of `padding_idx` (negative: no such row) stay zero; with `scale_by_freq` each row is divided by how often its index
    occurs.
    """
    D = grad.shape[-1]
    out = np.zeros((num_weights, D), grad.dtype)
    flat, rows = indices.reshape(-1), grad.reshape(indices.size, D)
    table, columns = out.reshape(-1), np.arange(D)
    for part in row_blocks(len(flat), D * columns.itemsize):
        # Flat and of one dtype is NumPy's fast loop: a quarter of the time that add.at takes on rows.
        np.add.at(table, (flat[part, None] * D + columns).reshape(-1), rows[part].reshape(-1))
    if padding_idx >= 0:
        out[padding_idx] = 0
    if scale_by_freq:
        counts = np.bincount(flat, minlength=num_weights)
        out /= np.maximum(counts, 1)[:, None].astype(grad.dtype)
    return out
