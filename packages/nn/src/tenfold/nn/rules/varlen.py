"""The gradient of attention over sequences of different lengths; the log-sum-exp is kept for it and has none."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradients
from tenfold.nn.ops.varlen import fused_varlen_attention, fused_varlen_attention_grad


@gradients(fused_varlen_attention, "query", "key", "value", node="VarlenAttnBackward0", results=(0,))
def _varlen(
    g: Any,
    query: Any,
    key: Any,
    value: Any,
    out0: Any,
    out1: Any,
    cu_seq_q: Any,
    cu_seq_k: Any,
    seqused_k: Any,
    max_q: int,
    max_k: int,
    scale: float | None,
    left: int,
    right: int,
) -> Any:
    if seqused_k is not None:
        raise RuntimeError(
            "fused_varlen_attention: seqused_k is for inference: there is no gradient; leave it out, or use no_grad()"
        )
    return fused_varlen_attention_grad(g[0], query, key, value, out0, out1, cu_seq_q, cu_seq_k, max_q, max_k, scale, left, right)
