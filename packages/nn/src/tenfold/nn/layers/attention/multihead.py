"""Multi-head attention."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import functional, init
from tenfold.nn.functional.attention import attend_in_heads, multi_head_attention_forward
from tenfold.nn.layers.attention import fast_path
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
        if not self.training or query.is_nested:
            slow = self._why_not_fast(query, key, value, key_padding_mask, attn_mask)
            if slow is None:
                mask, kind = fast_path.merged_masks(attn_mask, key_padding_mask, query, self.num_heads)
                return fast_path.PUBLIC._native_multi_head_attention(  # type: ignore[no-any-return]
                    query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias,
                    self.out_proj.weight, self.out_proj.bias, mask, need_weights, average_attn_weights, kind,
                )  # fmt: skip
            if query.is_nested:
                raise AssertionError(
                    "MultiheadAttention does not support NestedTensor outside of its fast path. The fast path was not hit "
                    f"because {slow}"
                )
        asked = functional.multi_head_attention_forward
        if asked is not multi_head_attention_forward:  # a program has put its own there
            masks = {"key_padding_mask": key_padding_mask, "attn_mask": attn_mask}
            told = {"need_weights": need_weights, "average_attn_weights": average_attn_weights, "is_causal": is_causal}
            return self._by(asked, query, key, value, **masks, **told)
        return attend_in_heads(
            self.batch_first, query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias,
            self.bias_k, self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight, self.k_proj_weight,
            self.v_proj_weight, None, None, average_attn_weights, is_causal,
        )  # fmt: skip

    def _by(self, function: Any, *given: Tensor, **options: Any) -> tuple[Tensor, Tensor | None]:
        """What a function with the signature of `multi_head_attention_forward` makes of it, which takes the length first."""
        turned = self.batch_first and given[0].dim() == 3
        rows = {id(x): x.transpose(0, 1) if turned else x for x in given}  # of one tensor one, as functions ask
        separate = {}
        if not self._qkv_same_embed_dim:
            names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
            separate = {"use_separate_proj_weight": True, **{name: getattr(self, name) for name in names}}
        out, weights = function(
            *[rows[id(x)] for x in given], self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, training=self.training,
            **options, **separate,
        )  # fmt: skip
        return (out.transpose(0, 1) if turned else out), weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:  # fmt: skip
        """Both masks as one, and its kind: 1 where only keys are masked, 2 for one of (N, heads, L, S)."""
        return fast_path.merged_masks(attn_mask, key_padding_mask, query, self.num_heads)

    def _why_not_fast(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None, attn_mask: Tensor | None
    ) -> str | None:
        """Why attention of these is not for inference alone, batch first and of one tensor with itself; None if it is."""
        masks = (key_padding_mask, attn_mask)
        if self.training:
            return "training is enabled"
        if not self.batch_first or query.dim() != 3:
            return "batch_first was not True, or the input not batched"
        if not (query is key is value):
            return "non-self attention was used (query, key, and value are not the same Tensor)"
        if self.in_proj_bias is None or not self._qkv_same_embed_dim:
            return "in_proj_bias was None, or _qkv_same_embed_dim was not True"
        if self.num_heads % 2:
            return "self.num_heads is not even"
        if self.bias_k is not None or self.bias_v is not None or self.add_zero_attn:
            return "self.bias_k, self.bias_v or add_zero_attn was set"
        if query.dtype is not self.in_proj_weight.dtype:  # that of the bias may be another
            return f"dtypes of query ({query.dtype}) and self.in_proj_weight ({self.in_proj_weight.dtype}) don't match"
        if any(mask is not None and (mask.dtype is not tenfold.bool or query.is_nested) for mask in masks):
            return "a mask was given with NestedTensor input, or one that is not boolean"
        if any(mask is not None and not shape for mask, shape in zip(masks, _fitting(query, self.num_heads, *masks))):
            return "a mask has another shape than the input asks for"
        if tenfold.is_autocast_enabled(query.device.type):
            return "autocast is enabled"
        weights = (self.in_proj_weight, self.in_proj_bias, self.out_proj.weight, self.out_proj.bias)
        return fast_path.GRADIENTS if fast_path.learns((query, *weights)) else None


def _fitting(query: Tensor, heads: int, padding: Tensor | None, pattern: Tensor | None) -> tuple[bool, bool]:
    """Whether each mask has a shape that self-attention of the query takes: others are refused where all are."""
    if query.is_nested:
        return True, True
    N, L = query.shape[:2]
    wanted = ((L, L), (N * heads, L, L))
    return padding is None or tuple(padding.shape) == (N, L), pattern is None or tuple(pattern.shape) in wanted
