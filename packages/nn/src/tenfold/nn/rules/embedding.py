"""The gradients of an embedding table, by index and by bags."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.autograd.gradients import gradient, gradients
from tenfold.nn.ops import bags
from tenfold.nn.ops.embedding import embedding_rows, embedding_weight_grad


def _sparse(g: Any, indices: Any, weight_shape: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """A row of `g` for each index but the padding, not yet added up."""
    if scale_grad_by_freq:
        raise RuntimeError(
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients; use sparse=False, or divide the loss"
        )
    flat = indices.reshape(-1).to(tf.int64, copy=True)  # the gradient's own: programs write their indices anew
    rows = g.reshape(flat.shape[0], *weight_shape[1:])
    if padding_idx >= 0:
        kept = tf.nonzero(tf.ne(flat, padding_idx)).squeeze(1)
        flat, rows = flat[kept], rows[kept]
    # The indices have been looked up, so that nothing is left to check.
    return tf.sparse_coo_tensor(flat.unsqueeze(0), rows, tuple(weight_shape), check_invariants=False)


gradient(
    embedding_rows,
    node="EmbeddingBackward0",
    weight=lambda g, input, weight_shape, padding_idx, scale_grad_by_freq, sparse: (
        _sparse(g, input, weight_shape, padding_idx, scale_grad_by_freq)
        if sparse
        else embedding_weight_grad(g, input, weight_shape[0], padding_idx, scale_grad_by_freq)
    ),
)


def _sparse_bags(g: Any, input: Any, offsets: Any, factors: Any, sizes: Any, mode: str, count: int, ends: bool) -> Any:
    """A row for each index of the bags: its bag's gradient, by what the row counts there. Nothing waits for the offsets."""
    of = bags.bag_of(input, offsets, count, ends)
    g = g if mode == "sum" else g / sizes.clamp_min(1).to(g.dtype).unsqueeze(1)
    rows = tf.index_select(g, 0, of.clamp_max(count - 1) if ends else of)
    rows = rows if factors is None else rows * factors.reshape(-1, 1)
    return tf.where((of < count).unsqueeze(1), rows, 0) if ends else rows


@gradients(bags.fused_bags, "weight", "factors", node="EmbeddingBagBackward0", results=(0,))
def _bags(
    g: Any,
    needs: Any,
    weight: Any,
    input: Any,
    offsets: Any,
    factors: Any,
    out1: Any,
    out2: Any,
    mode: str,
    count: int,
    padding_idx: int,
    ends: bool,
    scale_by_freq: bool,
    sparse: bool,
) -> Any:
    first, of_table, of_factors = g[0], None, None
    if needs[0] and sparse:
        rows = _sparse_bags(first, input, offsets, factors, out1, mode, count, ends)
        of_table = _sparse(rows, input, weight.shape, padding_idx, scale_by_freq)
    elif needs[0]:
        kept = (input, offsets, factors, out1, out2)
        of_table = bags.fused_bags_grad(first, weight.shape[0], *kept, mode, count, padding_idx, ends, scale_by_freq)
    if needs[1]:
        of_factors = bags.fused_bags_factors_grad(first, weight, input, offsets, count, padding_idx, ends)
    return of_table, of_factors
