"""The gradients of fused attention, which keeps the log-sum-exp instead of the probabilities, and of these by themselves."""

from __future__ import annotations

from math import sqrt
from typing import Any

import tenfold as tf
from tenfold.autograd.gradients import gradients
from tenfold.nn.arguments import widened
from tenfold.nn.ops.attention import (
    attention_scores,
    fused_attention,
    fused_attention_grad,
    fused_attention_weights,
    fused_dropped_attention,
    fused_dropped_attention_grad,
)
from tenfold.nn.philox import kept


@gradients(fused_attention, "query", "key", "value", node="ScaledDotProductFlashAttentionForCpuBackward0", results=(0,))
def _attention(
    g: Any, query: Any, key: Any, value: Any, out0: Any, out1: Any, attn_mask: Any, is_causal: bool, scale: float | None
) -> Any:
    return fused_attention_grad(g[0], query, key, value, out0, out1, attn_mask, is_causal, scale)


@gradients(fused_dropped_attention, "query", "key", "value", node="ScaledDotProductFlashAttentionBackward0", results=(0,))
def _dropped(
    g: Any,
    query: Any,
    key: Any,
    value: Any,
    out0: Any,
    out1: Any,
    attn_mask: Any,
    words: Any,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
) -> Any:
    return fused_dropped_attention_grad(g[0], query, key, value, out0, out1, attn_mask, words, dropout_p, is_causal, scale)


@gradients(fused_attention_weights, "query", "key", node="AttentionWeightsBackward0")
def _weights(g: Any, query: Any, key: Any, attn_mask: Any, words: Any, dropout_p: float, average: bool) -> Any:
    """Through the scores, which are made again: the log-sum-exp is a function of them, and has no gradient of its own."""
    q, k, g = widened(query), widened(key), widened(g)
    weights = tf.softmax(attention_scores(q, k, attn_mask, False, None), -1)
    if average:
        g = (g / weights.shape[-3]).unsqueeze(-3)
    if words is not None:
        g = g * kept(words, weights.shape, dropout_p).to(g.dtype)
    change = tf.op.softmax_backward(g.expand(weights.shape), weights, -1) * (1 / sqrt(max(1, q.shape[-1])))
    return tf.matmul(change, k).to(query.dtype), tf.matmul(change.mT, q).to(query.dtype)
