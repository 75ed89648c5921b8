"""The gradient of an embedding table."""

from __future__ import annotations

from tenfold.autograd.gradients import gradient
from tenfold.nn.ops.embedding import embedding_rows, embedding_weight_grad

gradient(
    embedding_rows,
    node="EmbeddingBackward0",
    weight=lambda g, input, weight_shape, padding_idx, scale_grad_by_freq: embedding_weight_grad(
        g, input, weight_shape[0], padding_idx, scale_grad_by_freq
    ),
)
