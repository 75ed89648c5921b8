"""Attention and whole encoder layers for inference, under PyTorch's names, of dense and of nested batches.

`nn.MultiheadAttention` and `nn.TransformerEncoderLayer` come here where nothing is learned. Nested batches, which tenfold-nested
brings, are computed without their padding.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from functools import cache
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.functional.attention import attend_in_heads

GRADIENTS = (
    "grad is enabled and at least one of query or the input/output projection weights or biases requires_grad; to a nested "
    "query, some Tensor argument has_torch_function then"
)
PUBLIC: Any = tenfold  # where the functions below are asked for, so that a program may put others in their place
_PATTERN, _PADDING, _MERGED = 0, 1, 2  # PyTorch's kinds of masks


def learns(tensors: Iterable[Tensor | None]) -> bool:
    """Whether a gradient may be asked of what is computed from these."""
    return tenfold.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


@cache
def has_nested() -> bool:
    """Whether tenfold-nested is installed."""
    return importlib.util.find_spec("tenfold.nested") is not None


def is_left_aligned(src: Tensor, padding: Tensor) -> bool:
    """Whether padding (N, L), True where there is nothing, only ends rows."""
    if has_nested():
        return bool(PUBLIC._nested_tensor_from_mask_left_aligned(src, padding.logical_not()))
    return not bool((padding[:, :-1] & ~padding[:, 1:]).any())


def merged_masks(
    attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor, heads: int
) -> tuple[Tensor | None, int | None]:
    """One mask of both, True where attention is forbidden, and its kind."""
    if attn_mask is None:
        return key_padding_mask, None if key_padding_mask is None else _PADDING
    B, L = query.shape[:2]
    mask = attn_mask.reshape(B, -1, L, attn_mask.shape[-1]) if attn_mask.ndim == 3 else attn_mask
    mask = mask.expand(B, heads, L, mask.shape[-1])
    return (mask if key_padding_mask is None else mask | key_padding_mask.reshape(B, 1, 1, -1)), _MERGED


def _native_multi_head_attention(
    query: Tensor, key: Tensor, value: Tensor, embed_dim: int, num_head: int, qkv_weight: Tensor, qkv_bias: Tensor | None,
    proj_weight: Tensor, proj_bias: Tensor | None, mask: Tensor | None = None, need_weights: bool = True,
    average_attn_weights: bool = True, mask_type: int | None = None,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Multi-head attention without dropout, batch first: the output, and the weights if they are needed.

    `mask` forbids where it is True: of the kind 0 (L, S), 1 (N, S) of padding, 2 (N, heads, L, S). The bias of the first
    product may have another dtype.
    """
    qkv_bias = qkv_bias if qkv_bias is None else qkv_bias.to(query.dtype)
    if query.is_nested:
        if mask is not None:
            raise RuntimeError("_native_multi_head_attention: NestedTensor with mask is not supported: rows have no padding")
        return _nested(
            query, key, value, num_head, (qkv_weight, qkv_bias), (proj_weight, proj_bias), need_weights, average_attn_weights
        )
    kind = mask_type if mask is not None else None
    padding = mask if kind == _PADDING else None
    pattern = mask.flatten(0, 1) if kind == _MERGED and mask is not None else mask if kind == _PATTERN else None
    output, weights = attend_in_heads(
        True, query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, None, None, False, 0.0, proj_weight, proj_bias, False,
        padding, need_weights, pattern, False, None, None, None, None, None, average_attn_weights, False,
    )  # fmt: skip
    if kind is not None and mask is not None and not need_weights:
        output = output.masked_fill(_sees_nothing(mask, kind), float("nan"))
    return output, weights


def _sees_nothing(mask: Tensor, kind: int) -> Tensor:
    """Where queries may look at no key: their softmax, which the fused attention makes 0, is NaN. Shape: to (N, L, 1)."""
    nothing = mask.all(-1)
    if kind == _PADDING:
        return nothing.view(-1, 1, 1)
    return nothing.view(1, -1, 1) if kind == _PATTERN else nothing.any(1).unsqueeze(-1)


def _nested(
    query: Any, key: Any, value: Any, heads: int, into: tuple[Tensor, Tensor | None], out: tuple[Tensor, Tensor | None],
    need_weights: bool, average: bool,
) -> tuple[Any, Tensor | None]:  # fmt: skip
    """The same of nested batches, row by row in all heads; the weights are padded with zeros."""
    weight, bias = into
    if query is key is value:
        parts = F.linear(query, weight, bias).chunk(3, -1)
    else:
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        parts = tuple(F.linear(x, w, b) for x, w, b in zip((query, key, value), weight.chunk(3), biases))
    q, k, v = (
        x.unflatten(-1, [heads, -1]).transpose(1, 2) if x.layout is not tenfold.strided else _split(x, heads) for x in parts
    )
    output = F.scaled_dot_product_attention(q, k, v).transpose(1, 2)
    joined = output.flatten(-2) if output.layout is not tenfold.strided else output.reshape(len(query), -1, weight.shape[1])
    weights = None
    if need_weights:
        rows = [(a @ b.transpose(-2, -1) / a.shape[-1] ** 0.5).softmax(-1) for a, b in zip(q.unbind(), k.unbind())]
        weights = tenfold.nested.nested_tensor(rows).to_padded_tensor(0.0)
        weights = weights.mean(1) if average else weights
    return F.linear(joined, *out), weights


def _split(x: Any, heads: int) -> Any:
    """(B, rows, E) strided nested -> (B, heads, rows, E / heads)."""
    return x.contiguous().view(len(x), -1, heads, x.size(-1) // heads).transpose(1, 2)


def _transform_bias_rescale_qkv(qkv: Tensor, qkv_bias: Tensor, num_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values (N, heads, L, E / heads) of projections (N, L, 3 E): with bias, queries over sqrt(E / heads)."""
    q, k, v = ((qkv + qkv_bias).unflatten(-1, [3, num_heads, -1])).permute(2, 0, 3, 1, 4)
    return q / q.shape[-1] ** 0.5, k, v


def _transformer_encoder_layer_fwd(
    src: Tensor, embed_dim: int, num_heads: int, qkv_weight: Tensor, qkv_bias: Tensor | None, proj_weight: Tensor,
    proj_bias: Tensor | None, use_gelu: bool, norm_first: bool, eps: float, norm_weight_1: Tensor, norm_bias_1: Tensor,
    norm_weight_2: Tensor, norm_bias_2: Tensor, ffn_weight_1: Tensor, ffn_bias_1: Tensor, ffn_weight_2: Tensor,
    ffn_bias_2: Tensor, mask: Tensor | None = None, mask_type: int | None = None,
) -> Tensor:  # fmt: skip
    """A Transformer's encoder layer without dropout, batch first. Shape: (N, L, E), kept."""

    def attended(x: Tensor) -> Tensor:
        parts = (qkv_weight, qkv_bias, proj_weight, proj_bias)
        return _native_multi_head_attention(x, x, x, embed_dim, num_heads, *parts, mask, False, True, mask_type)[0]

    def fed_forward(x: Tensor) -> Tensor:
        inner = F.linear(x, ffn_weight_1, ffn_bias_1)
        outer: Tensor = F.linear(F.gelu(inner) if use_gelu else F.relu(inner), ffn_weight_2, ffn_bias_2)
        return outer

    def first(x: Tensor) -> Tensor:
        return F.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def second(x: Tensor) -> Tensor:
        return F.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    if norm_first:
        x = src + attended(first(src))
        return x + fed_forward(second(x))
    x = first(src + attended(src))
    return second(x + fed_forward(x))
