"""The gradient of an embedding table."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.autograd.gradients import gradient
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
