"""Scaled dot-product attention, softmax(q k^T scale + mask) v, without ever holding the whole matrix of scores.

Blocks of queries, times a block of heads, are worked on at a time; the gradient recomputes the probabilities from the
saved log-sum-exp (Dao et al., "FlashAttention", 2022).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import inf, prod, sqrt
from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.nn.cpu.array_kernel import array_kernel
from tenfold.nn.ops import attention as ops

Array = np.ndarray[Any, Any]

SCORE_BYTES = 1 << 18  # the gradient holds two such blocks, which must leave room in a cache of 1 MB
FEWEST_QUERIES = 64  # and as many at a time where keys after the query are not seen: the less of a block that is wasted


class Blocks:
    """How the work is cut: slices of heads (leading dimensions flattened) and of queries, and the keys each may see."""

    __slots__ = ("causal", "heads", "keys", "queries", "step_heads", "step_queries")

    def __init__(self, heads: int, queries: int, keys: int, item_bytes: int, causal: bool) -> None:
        self.heads, self.queries, self.keys, self.causal = heads, queries, keys, causal
        budget = max(1, SCORE_BYTES // max(1, keys * item_bytes))
        self.step_queries = min(max(1, queries), FEWEST_QUERIES if causal else max(FEWEST_QUERIES, budget))
        self.step_heads = max(1, budget // self.step_queries)

    def __iter__(self) -> Iterator[tuple[slice, slice, int]]:
        for head in range(0, self.heads, self.step_heads):
            for query in range(0, self.queries, self.step_queries):
                last = min(query + self.step_queries, self.queries)
                seen = min(self.keys, last) if self.causal else self.keys
                yield slice(head, min(head + self.step_heads, self.heads)), slice(query, last), seen


@kernel(ops.fused_attention, device="cpu")
@array_kernel(rounded=1)
def fused_attention(
    query: Array, key: Array, value: Array, attn_mask: Array | None, is_causal: bool, scale: float | None
) -> tuple[Array, Array]:
    """Attention of query (*, T, E) to key (*, S, E) and value (*, S, V): (*, T, V), and the log-sum-exp of scores (*, T).

    A boolean mask keeps where it is True, another is added; both broadcast to (*, T, S). Queries that see no key give 0.
    """
    lead = query.shape[:-2]
    q, k, v = _flatten_heads(query, key, value)
    mask = None if attn_mask is None else HeadMask(attn_mask, query.shape[:-2], (q.shape[1], k.shape[1]))
    factor = _scale(query, scale)
    out = np.empty((*q.shape[:2], v.shape[2]), q.dtype)
    sums = np.empty(q.shape[:2], q.dtype)
    for heads, rows, seen in Blocks(len(q), q.shape[1], k.shape[1], q.itemsize, is_causal):
        scores = _scores(q, k, mask, heads, rows, seen, factor, is_causal)
        top = scores.max(-1, keepdims=True, initial=-np.inf)
        if mask is not None or not seen:  # else every query sees a key
            top[top == -np.inf] = 0
        scores -= top
        np.exp(scores, out=scores)
        total = scores @ np.ones((seen, 1), q.dtype)
        sums[heads, rows] = (np.log(total) + top)[..., 0]
        block = np.matmul(scores, v[heads, :seen])
        if mask is not None or not seen:
            total[total == 0] = 1
        np.divide(block, total, out=out[heads, rows])
    return _laid_as(query, out.reshape(*lead, *out.shape[1:])), sums.reshape(*lead, q.shape[1])


def _laid_as(query: Array, out: Array) -> Array:
    """The result in the order of the query's strides: where its heads lie beside one another, what joins them needs no copy."""
    if query.ndim != 4 or query.shape != out.shape or query.strides[3] != query.itemsize:
        return out
    order = sorted(range(3), key=lambda d: -(query.strides[d] or inf))
    if order == [0, 1, 2]:
        return out
    order.append(3)
    laid = np.empty([out.shape[d] for d in order], out.dtype).transpose(np.argsort(order))
    laid[...] = out
    return laid


@kernel(ops.fused_attention_grad, device="cpu")
@array_kernel(rounded=3)
def fused_attention_grad(
    grad: Array,
    query: Array,
    key: Array,
    value: Array,
    output: Array,
    log_sum_exp: Array,
    attn_mask: Array | None,
    is_causal: bool,
    scale: float | None,
) -> tuple[Array, Array, Array]:
    """The gradients for query, key and value."""
    q, k, v = _flatten_heads(query, key, value)
    mask = None if attn_mask is None else HeadMask(attn_mask, query.shape[:-2], (q.shape[1], k.shape[1]))
    g3, out3 = grad.reshape(*q.shape[:2], v.shape[2]), output.reshape(*q.shape[:2], v.shape[2])
    sums = np.where(np.isneginf(log_sum_exp), np.inf, log_sum_exp).reshape(*q.shape[:2], 1)
    factor = _scale(query, scale)
    delta = np.vecdot(g3, out3)[..., None]
    g_query, g_key, g_value = np.empty(q.shape, q.dtype), np.zeros(k.shape, q.dtype), np.zeros(v.shape, q.dtype)
    for heads, rows, seen in Blocks(len(q), q.shape[1], k.shape[1], q.itemsize, is_causal):
        probabilities = _scores(q, k, mask, heads, rows, seen, factor, is_causal)
        probabilities -= sums[heads, rows]
        np.exp(probabilities, out=probabilities)
        g_value[heads, :seen] += np.matmul(probabilities.swapaxes(1, 2), g3[heads, rows])
        change = np.matmul(g3[heads, rows], v[heads, :seen].swapaxes(1, 2))
        change -= delta[heads, rows]
        change *= probabilities
        np.multiply(np.matmul(change, k[heads, :seen]), factor, out=g_query[heads, rows])
        g_key[heads, :seen] += np.matmul(change.swapaxes(1, 2), q[heads, rows] * factor)
    return g_query.reshape(query.shape), g_key.reshape(key.shape), g_value.reshape(value.shape)


def _scale(query: Array, scale: float | None) -> Any:
    return query.dtype.type(1 / sqrt(max(1, query.shape[-1])) if scale is None else scale)


def _flatten_heads(query: Array, key: Array, value: Array) -> list[Array]:
    """View each with one leading dimension."""
    heads = prod(query.shape[:-2])
    return [a.reshape(heads, *a.shape[-2:]) for a in (query, key, value)]


class HeadMask:
    """A mask that broadcasts to (*, T, S), cut by flattened heads without being copied for each of them."""

    __slots__ = ("which", "whole")

    def __init__(self, mask: Array, lead: tuple[int, ...], sizes: tuple[int, int]) -> None:
        own = mask.shape[:-2]
        flat = mask.reshape(prod(own), *mask.shape[-2:]) if mask.ndim > 1 else mask.reshape(1, 1, -1)
        self.whole = np.broadcast_to(flat, (len(flat), *sizes))
        self.which = None if len(flat) == 1 else np.broadcast_to(np.arange(len(flat)).reshape(own), lead).reshape(-1)

    def block(self, heads: slice, rows: slice, seen: int) -> Array:
        """The part for some heads, queries and the first `seen` keys; one head if all share it."""
        return self.whole[slice(None) if self.which is None else self.which[heads], rows, :seen]


@lru_cache(maxsize=64)
def _ahead(queries: int, keys: int) -> Array:
    """Where a key comes after the query, for the block on the diagonal."""
    return np.arange(keys) > np.arange(queries)[:, None]


def _scores(q: Array, k: Array, mask: HeadMask | None, heads: slice, rows: slice, seen: int, factor: Any, causal: bool) -> Array:
    """q k^T scale + mask for one block; -inf where a key may not be seen."""
    scores: Array = np.matmul(q[heads, rows] * factor, k[heads, :seen].swapaxes(1, 2))
    if causal and seen > rows.start + 1:
        np.copyto(scores[:, :, rows.start :], -np.inf, where=_ahead(rows.stop - rows.start, seen - rows.start))
    if mask is not None:
        block = mask.block(heads, rows, seen)
        if block.dtype == np.bool_:
            np.copyto(scores, -np.inf, where=~block)
        else:
            scores += block
    return scores
