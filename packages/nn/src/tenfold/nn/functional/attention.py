"""Multi-head attention in one function, as `MultiheadAttention` calls it."""

from __future__ import annotations

import math
import warnings
from typing import Any

import tenfold as tf
from tenfold.nn.arguments import has_kernel
from tenfold.nn.ops.attention import (
    attention_words,
    fused_attention,
    fused_attention_weights,
    fused_dropped_attention,
    scaled_dot_product_attention,
)
from tenfold.nn.ops.linear import linear
from tenfold.nn.ops.padding import constant_pad
from tenfold.tensor.tensor import Tensor

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention in several heads between an input and an output projection.

    Shape: query (T, N, E) or (T, E), key and value (S, N, E) or (S, E) -> (T, N, E) and the weights (N, T, S), averaged
    over heads or (N, heads, T, S). Boolean masks are True where attention is not allowed.
    Raises: AssertionError, RuntimeError as PyTorch for sizes that do not fit.
    Source: Vaswani et al., "Attention Is All You Need", 2017, section 3.2.2.
    """
    return attend_in_heads(
        False, query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
        dropout_p, out_proj_weight, out_proj_bias, training, key_padding_mask, need_weights, attn_mask, use_separate_proj_weight,
        q_proj_weight, k_proj_weight, v_proj_weight, static_k, static_v, average_attn_weights, is_causal,
    )  # fmt: skip


def attend_in_heads(
    batch_first: bool, query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
    in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None,
    add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool,
    key_padding_mask: Tensor | None, need_weights: bool, attn_mask: Tensor | None, use_separate_proj_weight: bool,
    q_proj_weight: Tensor | None, k_proj_weight: Tensor | None, v_proj_weight: Tensor | None, static_k: Tensor | None,
    static_v: Tensor | None, average_attn_weights: bool, is_causal: bool,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """`multi_head_attention_forward`, also of (N, T, E) with `batch_first`: products then see rows as they lie in memory."""
    batched = _is_batched(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        batch_first = False
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    N, E = query.shape[0 if batch_first else 1], query.shape[2]
    if embed_dim_to_check != E:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {E}")
    if E % num_heads:
        raise AssertionError(f"embed_dim {E} not divisible by num_heads {num_heads}")
    if is_causal and attn_mask is None:
        raise RuntimeError("multi_head_attention_forward: Need attn_mask if specifying the is_causal hint.")
    seen, wanted = (key.shape, value.shape) if not use_separate_proj_weight else (key.shape[:2], value.shape[:2])
    if seen != wanted:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    added = 0
    _check_bias(bias_k, bias_v, static_k, static_v)
    order = (0, 2, 1, 3) if batch_first else (1, 2, 0, 3)  # (N, heads, T, E / heads)
    if weights is None and in_proj_weight is not None and bias_k is None and key is value:
        q, k, v = _projected_together(query, key, in_proj_weight, in_proj_bias, num_heads, order)
    else:
        q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias, weights)
        if bias_k is not None and bias_v is not None:
            one = (N, 1, E) if batch_first else (1, N, E)
            k, v = (tf.cat([x, more.expand(*one)], int(batch_first)) for x, more in ((k, bias_k), (v, bias_v)))
            added += 1
        q, k, v = (_heads(x, num_heads, order) for x in (q, k, v))
    k = k if static_k is None else static_k.view(N, num_heads, *static_k.shape[1:])
    v = v if static_v is None else static_v.view(N, num_heads, *static_v.shape[1:])
    if add_zero_attn:
        k, v = (tf.cat([x, tf.zeros(*x.shape[:2], 1, x.shape[3], dtype=x.dtype, device=x.device)], 2) for x in (k, v))
        added += 1
    # The hint stands for the mask where nothing else is masked and the kernel makes all of it.
    causal = is_causal and key_padding_mask is None and not need_weights
    mask = None if causal else _joined_mask(attn_mask, key_padding_mask, q, k.shape[2], added)
    drop = dropout_p if training else 0.0
    if not need_weights:
        out = scaled_dot_product_attention(q, k, v, mask, drop, causal)
        attention = None
    elif (found := _with_weights(q, k, v, mask, drop, average_attn_weights)) is not None:
        out, attention = found
    else:
        out, attention = _by_scores(q, k, v, mask, drop, average_attn_weights)
    out = linear(out.permute(*(order if batch_first else (2, 0, 1, 3))).reshape(*query.shape), out_proj_weight, out_proj_bias)
    if attention is not None:
        attention = attention if batched else attention.squeeze(0)
    return (out if batched else out.squeeze(1)), attention


def _check_bias(bias_k: Any, bias_v: Any, static_k: Any, static_v: Any) -> None:
    """AssertionError for one bias of the two, and for biases beside what takes none."""
    if (bias_k is None) is not (bias_v is None):
        raise AssertionError("multi_head_attention_forward: bias_k and bias_v are given both or neither")
    for what, static in (("key", static_k), ("value", static_v)):
        if bias_k is not None and static is not None:
            raise AssertionError(f"bias cannot be added to static {what}.")


def _is_batched(query: Tensor, key: Tensor, value: Tensor, padding: Any, mask: Any, num_heads: int) -> bool:
    if query.dim() not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor")
    if key.dim() != query.dim() or value.dim() != query.dim():
        raise AssertionError(
            f"For {'batched (3-D)' if query.dim() == 3 else 'unbatched (2-D)'} `query`, expected `key` and `value` to be "
            f"{query.dim()}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if padding is not None and padding.dim() != query.dim() - 1:
        raise AssertionError(
            f"expected `key_padding_mask` to be `None` or {query.dim() - 1}-D but found {padding.dim()}-D tensor instead"
        )
    if mask is not None and mask.dim() not in (2, 3):
        raise AssertionError(f"expected `attn_mask` to be `None`, 2-D or 3-D but found {mask.dim()}-D tensor instead")
    shape = (num_heads, query.shape[0], key.shape[0])
    if query.dim() == 2 and mask is not None and mask.dim() == 3 and tuple(mask.shape) != shape:
        raise AssertionError(f"Expected `attn_mask` shape to be {shape} but got {tuple(mask.shape)}")
    return query.dim() == 3


def _projected(query: Tensor, key: Tensor, value: Tensor, weight: Any, bias: Any, separate: Any) -> Any:
    biases = (None, None, None) if bias is None else bias.chunk(3)
    if separate is None:
        if weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        separate = weight.chunk(3)
    elif None in [None if w is None else 0 for w in separate]:
        raise AssertionError("use_separate_proj_weight is True but a q_proj_weight, k_proj_weight or v_proj_weight is None")
    return tuple(linear(x, w, b) for x, w, b in zip((query, key, value), separate, biases, strict=True))


def _projected_together(query: Tensor, key: Tensor, weight: Tensor, bias: Any, num_heads: int, order: Any) -> list[Tensor]:
    """Queries, keys and values in heads, where one tensor is keys and values: of it, or of all three, one product.

    What is one product has one view of its parts, so that the gradients of all heads are put together at once, and as it lies.
    """
    E, queries, count = query.shape[2], [], 3
    if query is not key:
        (own, weight), (own_bias, bias) = weight.split([E, 2 * E]), (None, None) if bias is None else bias.split([E, 2 * E])
        queries, count = [_heads(linear(query, own, own_bias), num_heads, order)], 2
    packed = linear(key, weight, bias).reshape(*key.shape[:2], count, num_heads, E // num_heads)
    return queries + [part.permute(*order) for part in packed.unbind(2)]


def _heads(x: Tensor, num_heads: int, order: tuple[int, ...]) -> Tensor:
    """(L, N, E), or (N, L, E), -> (N, heads, L, E / heads)."""
    return x.reshape(*x.shape[:2], num_heads, x.shape[2] // num_heads).permute(*order)


def _joined_mask(attn_mask: Any, padding: Any, q: Tensor, keys: int, added: int) -> Any:
    """Both masks as one to add to the scores, with nothing masked in the positions put on at the end.

    On a device that attends in one pass two boolean ones stay so: True for what is seen.
    """
    N, heads, T, _ = q.shape
    S = keys - added
    if attn_mask is not None and padding is not None and attn_mask.dtype != padding.dtype:
        warnings.warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated: "
            f"{padding.dtype} and {attn_mask.dtype}; give both the same type",
            stacklevel=4,
        )
    if attn_mask is not None:
        expected = (T, S) if attn_mask.dim() == 2 else (N * heads, T, S)
        if tuple(attn_mask.shape) != expected:
            raise RuntimeError(
                f"The shape of the {attn_mask.dim()}D attn_mask is {tuple(attn_mask.shape)}, but should be {expected}."
            )
        attn_mask = attn_mask.view(N, heads, T, S) if attn_mask.dim() == 3 else attn_mask.view(1, 1, T, S)
    if padding is not None:
        if tuple(padding.shape) != (N, S):
            raise AssertionError(f"expecting key_padding_mask shape of {(N, S)}, but got {tuple(padding.shape)}")
        padding = padding.view(N, 1, 1, S)
    given = [mask for mask in (attn_mask, padding) if mask is not None]
    if given and has_kernel("fused_attention_weights", q, *given) and all(mask.dtype is tf.bool for mask in given):
        hidden = given[0] if len(given) == 1 else given[0] | given[1]
        return ~(constant_pad(hidden, (0, added), False) if added else hidden)
    total = None
    for mask in given:
        other = _additive(mask, q)
        total = other if total is None else total + other
    return total if total is None or not added else constant_pad(total, (0, added), 0)


def _with_weights(q: Tensor, k: Tensor, v: Tensor, mask: Any, drop: float, average: bool) -> tuple[Tensor, Tensor] | None:
    """The values and the weights without the scores in memory; None where the device has no kernels for that."""
    if not has_kernel("fused_attention_weights", q, k, v, mask) or q.dtype is tf.float64 or q.numel() == 0 or k.numel() == 0:
        return None
    if mask is not None and (mask.requires_grad or mask.dtype not in (tf.bool, q.dtype)):
        return None
    words = attention_words(q, k, v, mask) if drop > 0.0 else None
    if drop > 0.0 and words is None:
        return None
    if words is None:
        out, sums = fused_attention(q, k, v, mask, False, None)
    else:
        out, sums = fused_dropped_attention(q, k, v, mask, words, drop, False, None)
    sums = sums.detach()
    wide = q.dtype.is_half and tf.is_autocast_enabled(q.device.type)  # in which a softmax is of float32
    weights = fused_attention_weights(q, k, sums, mask, words, drop, average, wide)
    if mask is not None:  # a query that sees nothing has nan, as its weights, and not 0
        out = tf.add(out, sums.to(out.dtype).unsqueeze(-1), alpha=0.0)
    return out, weights


def _by_scores(q: Tensor, k: Tensor, v: Tensor, mask: Any, drop: float, average: bool) -> tuple[Tensor, Tensor]:
    """The values and the weights, operator by operator."""
    mask = _additive(~mask, q) if mask is not None and mask.dtype is tf.bool else mask
    scores = tf.matmul(q * math.sqrt(1.0 / q.shape[-1]), k.transpose(-2, -1))
    if mask is not None and tf.is_autocast_enabled(q.device.type):  # a product with something added, which autocast narrows
        mask = mask.to(scores.dtype)
    weights = tf.softmax(scores if mask is None else scores + mask, -1)
    weights = tf.dropout(weights, drop, True) if drop > 0.0 else weights
    return tf.matmul(weights, v), weights.mean(1) if average else weights


def _additive(mask: Tensor, like: Tensor) -> Tensor:
    if mask.dtype is tf.bool:
        return tf.where(mask, float("-inf"), tf.zeros(tuple(mask.shape), dtype=like.dtype, device=like.device))
    if not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of masks are supported, got {mask.dtype}")
    return mask
