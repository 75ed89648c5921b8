"""Multi-head attention."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F, init
from tenfold.nn.layers.linear import NonDynamicallyQuantizableLinear
from tenfold.nn.module import Module
from tenfold.nn.parameter import Parameter


class MultiheadAttention(Module):
    """Concat(head_1, ...) W_O with head_i = softmax(q_i k_i^T / sqrt(head_dim)) v_i of projected queries, keys and values.

    Shape: (L, N, E), (S, N, kdim), (S, N, vdim), batch first with `batch_first`, or without N -> output like the query and,
    unless `need_weights=False`, weights (N, L, S), or (N, heads, L, S) with `average_attn_weights=False`.

    Masks: True (or -inf) forbids; `key_padding_mask` (N, S) forbids keys, `attn_mask` (L, S) or (N heads, L, S) pairs. Raises
    ValueError unless the sizes are positive, AssertionError unless num_heads divides embed_dim. Source: Vaswani et al. 2017.

    >>> output, weights = MultiheadAttention(4, 2)(*[tenfold.ones(3, 1, 4)] * 3)
    >>> list(output.shape), list(weights.shape)
    ([3, 1, 4], [1, 3, 3])
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"MultiheadAttention: embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads}"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(f"MultiheadAttention: embed_dim must be divisible by num_heads, got {embed_dim} and {num_heads}")
        self._make_projections(bias, device, dtype)
        self.bias_k: Parameter | None = None
        self.bias_v: Parameter | None = None
        if add_bias_kv:
            self.bias_k = Parameter(tenfold.empty((1, 1, embed_dim), device=device, dtype=dtype))
            self.bias_v = Parameter(tenfold.empty((1, 1, embed_dim), device=device, dtype=dtype))
        self._reset_parameters()

    def _make_projections(self, bias: bool, device: Any, dtype: Any) -> None:
        embed, packed = self.embed_dim, self._qkv_same_embed_dim
        separate = {"q_proj_weight": embed, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        shapes: dict[str, Any] = {name: None if packed else (embed, size) for name, size in separate.items()}
        in_proj = {"in_proj_weight": (3 * embed, embed) if packed else None}
        shapes = {**in_proj, **shapes} if packed else {**shapes, **in_proj}
        shapes["in_proj_bias"] = (3 * embed,) if bias else None
        for name, shape in shapes.items():
            empty = None if shape is None else Parameter(tenfold.empty(shape, device=device, dtype=dtype))
            self.register_parameter(name, empty)
        self.out_proj = NonDynamicallyQuantizableLinear(embed, embed, bias=bias, device=device, dtype=dtype)

    def _reset_parameters(self) -> None:
        names = ("in_proj_weight",) if self._qkv_same_embed_dim else ("q_proj_weight", "k_proj_weight", "v_proj_weight")
        for name in names:
            init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        if self.bias_k is not None and self.bias_v is not None:
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        turned = self.batch_first and query.dim() == 3
        if turned:
            query, key, value = _transposed(query, key, value)
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (output.transpose(0, 1) if turned else output), weights


def _transposed(*tensors: Tensor) -> list[Tensor]:
    """Each with its first two dimensions exchanged; what was one tensor stays one, which lets one product project all three."""
    turned = {id(tensor): tensor.transpose(0, 1) for tensor in tensors}
    return [turned[id(tensor)] for tensor in tensors]
