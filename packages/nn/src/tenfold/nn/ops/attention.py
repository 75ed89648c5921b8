"""Scaled dot-product attention."""

from __future__ import annotations

from math import sqrt
from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.dispatch.runtime import STATE
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.nn.arguments import widened
from tenfold.nn.attention import SDPBackend, _cur_sdpa_kernel_backends
from tenfold.nn.philox import kept
from tenfold.tensor.tensor import Tensor, wrap


def attention_scores(query: Tensor, key: Tensor, attn_mask: Tensor | None, is_causal: bool, scale: float | None) -> Tensor:
    """query key^T scale + mask: (*, T, S); -inf where a key may not be seen."""
    factor = 1 / sqrt(max(1, query.shape[-1])) if scale is None else scale
    scores = tf.matmul(query * factor, key.transpose(-2, -1))
    if is_causal:
        T, S = scores.shape[-2:]
        seen = tf.arange(S, device=query.device) <= tf.arange(T, device=query.device).unsqueeze(1)
        scores = tf.where(seen, scores, float("-inf"))
    if attn_mask is None:
        return scores
    return tf.where(attn_mask, scores, float("-inf")) if attn_mask.dtype is tf.bool else scores + attn_mask


def attention_weights(scores: Tensor) -> Tensor:
    """softmax over the keys; 0 for queries that see none, whose scores are all -inf."""
    blind = (scores == float("-inf")).all(-1, keepdim=True)
    # Their own softmax is no number, and neither would a second derivative be.
    return tf.where(blind, 0.0, tf.softmax(tf.where(blind, 0.0, scores), -1))


@composite("attention", method=None)
def fused_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, is_causal: bool, scale: float | None
) -> tuple[Tensor, Tensor]:
    """softmax(query key^T scale + mask) value for equal leading sizes, and the log-sum-exp of the scores (*, T).

    >>> import tenfold
    >>> q, k, v = tenfold.zeros(1, 2), tenfold.ones(2, 2), tenfold.tensor([[1.0], [3.0]])
    >>> tenfold.op.fused_attention(q, k, v, None, False, None)
    (tensor([[2.]]), tensor([0.6931]))
    """
    scores = attention_scores(widened(query), widened(key), attn_mask, is_causal, scale)
    return tf.matmul(attention_weights(scores), widened(value)).to(query.dtype), tf.logsumexp(scores, -1)


@composite("attention", method=None)
def fused_attention_grad(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    log_sum_exp: Tensor,
    attn_mask: Tensor | None,
    is_causal: bool,
    scale: float | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of `fused_attention` for query, key and value; the body computes the probabilities again.

    >>> import tenfold
    >>> q, k, v = tenfold.zeros(1, 2), tenfold.ones(2, 2), tenfold.tensor([[1.0], [3.0]])
    >>> out, sums = tenfold.op.fused_attention(q, k, v, None, False, None)
    >>> tenfold.op.fused_attention_grad(tenfold.ones(1, 1), q, k, v, out, sums, None, False, None)[2]
    tensor([[0.5000],
            [0.5000]])
    """
    factor = 1 / sqrt(max(1, query.shape[-1])) if scale is None else scale
    q, k, v, g = (widened(x) for x in (query, key, value, grad))
    p = attention_weights(attention_scores(q, k, attn_mask, is_causal, scale))
    change = tf.matmul(g, v.transpose(-2, -1))
    change = (change - (change * p).sum(-1, True)) * p * factor
    grads = tf.matmul(change, k), tf.matmul(change.transpose(-2, -1), q), tf.matmul(p.transpose(-2, -1), g)
    return grads[0].to(grad.dtype), grads[1].to(grad.dtype), grads[2].to(grad.dtype)


@composite("attention", method=None)
def fused_dropped_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    words: Tensor,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
) -> tuple[Tensor, Tensor]:
    """`fused_attention` with dropout of the weights: which ones stay is a function of two words, a seed and a first counter.

    >>> import tenfold
    >>> q, k, v = tenfold.zeros(1, 2), tenfold.ones(2, 2), tenfold.tensor([[1.0], [3.0]])
    >>> tenfold.op.fused_dropped_attention(q, k, v, None, tenfold.tensor([0, 0]), 0.5, False, None)[0]
    tensor([[3.]])
    """
    scores = attention_scores(widened(query), widened(key), attn_mask, is_causal, scale)
    weights = attention_weights(scores) * kept(words, scores.shape, dropout_p).to(scores.dtype)
    return tf.matmul(weights, widened(value)).to(query.dtype), tf.logsumexp(scores, -1)


@composite("attention", method=None)
def fused_dropped_attention_grad(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    log_sum_exp: Tensor,
    attn_mask: Tensor | None,
    words: Tensor,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of `fused_dropped_attention` for query, key and value; the body computes the probabilities again.

    >>> import tenfold
    >>> q, k, v, words = tenfold.zeros(1, 2), tenfold.ones(2, 2), tenfold.tensor([[1.0], [3.0]]), tenfold.tensor([0, 0])
    >>> out, sums = tenfold.op.fused_dropped_attention(q, k, v, None, words, 0.5, False, None)
    >>> tenfold.op.fused_dropped_attention_grad(tenfold.ones(1, 1), q, k, v, out, sums, None, words, 0.5, False, None)[2]
    tensor([[0.],
            [1.]])
    """
    factor = 1 / sqrt(max(1, query.shape[-1])) if scale is None else scale
    q, k, v, g = (widened(x) for x in (query, key, value, grad))
    p = attention_weights(attention_scores(q, k, attn_mask, is_causal, scale))
    there = kept(words, p.shape, dropout_p).to(p.dtype)
    change = tf.matmul(g, v.transpose(-2, -1)) * there
    change = (change - (change * p).sum(-1, True)) * p * factor
    grads = tf.matmul(change, k), tf.matmul(change.transpose(-2, -1), q), tf.matmul((p * there).transpose(-2, -1), g)
    return grads[0].to(grad.dtype), grads[1].to(grad.dtype), grads[2].to(grad.dtype)


@composite("attention", method=None)
def fused_attention_weights(
    query: Tensor,
    key: Tensor,
    log_sum_exp: Tensor,
    attn_mask: Tensor | None,
    words: Tensor | None,
    dropout_p: float,
    average: bool,
    wide: bool,
) -> Tensor:
    """What `fused_attention`, or the one with dropout by two words, weighs values with: of each head, or the mean of all heads.

    Shape: (*, H, T, E), (*, H, S, E) and the log-sum-exp (*, H, T) -> (*, T, S) if `average`, else (*, H, T, S). Dtype: the
    query's, or float32 at least if `wide`. A query that sees no key has nan, as the softmax of its scores has.

    >>> import tenfold
    >>> q, k, v = tenfold.zeros(1, 1, 2), tenfold.ones(1, 2, 2), tenfold.tensor([[[1.0], [3.0]]])
    >>> sums = tenfold.op.fused_attention(q, k, v, None, False, None)[1]
    >>> tenfold.op.fused_attention_weights(q, k, sums, None, None, 0.0, True, False)
    tensor([[0.5000, 0.5000]])
    """
    weights = tf.softmax(attention_scores(widened(query), widened(key), attn_mask, False, None), -1)
    if words is not None:
        weights = weights * kept(words, weights.shape, dropout_p).to(weights.dtype)
    weights = weights.mean(-3) if average else weights
    return weights if wide else weights.to(query.dtype)


@composite("attention", accepts={"query": "floating"}, method=None)
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Attention: dropout(softmax(query key^T scale + mask)) value; scale is 1 / sqrt(E) unless given.

    A boolean mask keeps where it is True, another is added; `enable_gqa` repeats the heads (dimension -3) of key and
    value. Shape: (*, T, E), (*, S, E), (*, S, V), mask broadcastable to (*, T, S) -> (*, T, V). Dtype: floating; the mask's is
    bool, float32 or the same.
    Raises: RuntimeError for sizes that do not fit; for both a mask and is_causal, but of four dimensions without dropout.
    Source: Vaswani et al., "Attention Is All You Need", 2017, equation 1.

    >>> import tenfold
    >>> q = tenfold.zeros(1, 2)
    >>> tenfold.scaled_dot_product_attention(q, tenfold.ones(2, 2), tenfold.tensor([[1.0], [3.0]]))
    tensor([[2.]])
    """
    _check(query, key, value, attn_mask, is_causal, dropout_p, enable_gqa)
    if attn_mask is not None and is_causal:
        attn_mask, is_causal = _causal(attn_mask, query.shape[-2], key.shape[-2]), False
    if attn_mask is not None and attn_mask.dtype is tf.float32 is not query.dtype:
        larger = tf.promote_types(query.dtype, tf.float32)  # a mask may say more than half precision holds, such as -1e9
        q, k, v, mask = (x.to(larger) for x in (query, key, value, attn_mask))
        return scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa).to(
            query.dtype
        )
    if enable_gqa and (grouped := _in_groups(query, key, value, attn_mask, dropout_p)) is not None:
        return fused_attention(*grouped, is_causal, scale)[0].flatten(-4, -3)
    if enable_gqa:
        key, value = (_repeat_heads(query, x, what) for x, what in ((key, "key"), (value, "value")))
    lead = query._array.shape[:-2]
    if not lead == key._array.shape[:-2] == value._array.shape[:-2]:
        lead = broadcast_shapes("scaled_dot_product_attention", [x.shape[:-2] for x in (query, key, value)])
        query, key, value = (x.expand(*lead, *x.shape[-2:]) for x in (query, key, value))
    if attn_mask is not None:
        _check_mask_size(query, key, attn_mask)
    if dropout_p == 0.0 and (attn_mask is None or attn_mask._node is None):
        return fused_attention(query, key, value, attn_mask, is_causal, scale)[0]
    if (words := attention_words(query, key, value, attn_mask)) is not None:
        return fused_dropped_attention(query, key, value, attn_mask, words, dropout_p, is_causal, scale)[0]
    weights = attention_weights(attention_scores(query, key, attn_mask, is_causal, scale))
    return tf.matmul(tf.dropout(weights, dropout_p, True) if dropout_p > 0.0 else weights, value)


def attention_words(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor | None:
    """Where the device draws the dropout of an attention from; None where the weights are made, and dropped, one by one."""
    draw = getattr(query.device.backend, "attention_words", None)
    if draw is None or STATE.transforms or STATE.beneath or (mask is not None and mask._node is not None):
        return None
    found = draw(query._array, key._array, value._array, None if mask is None else mask._array)
    return None if found is None else wrap(found, query._key)


def _in_groups(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float) -> Any:
    """Query, key, value and mask with a dimension of groups, along which keys are repeated without a copy.

    None where the device would copy them, or something else does not fit.
    """
    heads = key.shape[-3] if len(key.shape) > 2 else 0
    if not getattr(query.device.backend, "attends_in_groups", False) or dropout_p or heads == 0 or query.shape[-3] % heads:
        return None
    if not query.shape[:-3] == key.shape[:-3] == value.shape[:-3] or value.shape[-3] != heads:
        return None
    if mask is not None:
        _check_mask_size(query, key, mask)
        if mask._node is not None:
            return None
    group = query.shape[-3] // heads
    k, v = (x.unsqueeze(-3).expand(*x.shape[:-2], group, *x.shape[-2:]) for x in (key, value))
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3) if mask.shape[-3] == 1 else mask.unflatten(-3, (heads, group))
    return query.unflatten(-3, (heads, group)), k, v, mask


def _repeat_heads(query: Tensor, x: Tensor, what: str) -> Tensor:
    heads, own = query.shape[-3], x.shape[-3]
    if heads % own:
        raise RuntimeError(
            f"scaled_dot_product_attention: Number of heads in {what} ({own}) must divide those in query ({heads})"
        )
    repeated = x.unsqueeze(-3).expand(*x.shape[:-2], heads // own, *x.shape[-2:])
    return repeated.reshape(*x.shape[:-3], heads, *x.shape[-2:])


def _check(query: Tensor, key: Tensor, value: Tensor, attn_mask: Any, is_causal: bool, dropout_p: float, grouped: bool) -> None:
    q, k, v = query._array, key._array, value._array
    if not q.dtype == k.dtype == v.dtype:
        raise RuntimeError(
            f"scaled_dot_product_attention: Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype.name} key.dtype: {key.dtype.name} and value.dtype: {value.dtype.name} instead."
        )
    if min(len(q.shape), len(k.shape), len(v.shape)) < 2 or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise RuntimeError(
            f"scaled_dot_product_attention: expected query (*, T, E), key (*, S, E) and value (*, S, V), got "
            f"{list(q.shape)}, {list(k.shape)} and {list(v.shape)}"
        )
    if attn_mask is None:
        return
    if is_causal and (dropout_p or not _takes_two_masks(query, key, value, attn_mask, grouped)):
        raise RuntimeError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if attn_mask.dtype not in (tf.bool, tf.float32, query.dtype):
        raise RuntimeError(
            f"scaled_dot_product_attention: Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {attn_mask.dtype.name} and query.dtype: {query.dtype.name} instead."
        )


def _takes_two_masks(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, grouped: bool) -> bool:
    """Whether PyTorch's flash attention takes these on a CPU, which alone knows a mask beside `is_causal`."""
    if query.dim() != 4 or mask.dim() not in (2, 4) or query.shape[-1] != value.shape[-1] or mask.requires_grad:
        return False
    if not query.shape[0] == key.shape[0] == value.shape[0] or key.shape[1] != value.shape[1]:
        return False
    if query.shape[1] != key.shape[1] and not grouped:
        return False
    rows_lie_in_one_piece = all(x.shape[-1] < 2 or x.stride(-1) == 1 for x in (query, key, value))
    return rows_lie_in_one_piece and SDPBackend.FLASH_ATTENTION in _cur_sdpa_kernel_backends()


def _causal(mask: Tensor, T: int, S: int) -> Tensor:
    """A mask that also hides the keys that come after the query."""
    seen = tf.arange(S, device=mask.device) <= tf.arange(T, device=mask.device).unsqueeze(1)
    return mask & seen if mask.dtype is tf.bool else tf.where(seen, mask, float("-inf"))


def _check_mask_size(query: Tensor, key: Tensor, mask: Tensor) -> None:
    """A mask is added to the scores in place: it may not widen them."""
    scores = *query.shape[:-1], key.shape[-2]
    if (widest := broadcast_shapes("scaled_dot_product_attention", [scores, mask.shape])) != scores:
        raise RuntimeError(
            f"scaled_dot_product_attention: attn_mask must broadcast to the scores (*, T, S), {list(scores)}, got "
            f"{list(mask.shape)}: output with shape {list(scores)} doesn't match the broadcast shape {list(widest)}"
        )
