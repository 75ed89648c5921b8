"""The gradient of fused attention, which keeps the log-sum-exp instead of the probabilities."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradients
from tenfold.nn.ops.attention import fused_attention, fused_attention_grad, fused_dropped_attention, fused_dropped_attention_grad


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
