"""Layers, products and attention of jagged nested tensors."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor, op
from tenfold.nested.jagged import NestedTensor
from tenfold.nested.table import JAGGED, knows


@knows(JAGGED, "linear")
def linear(func: Any, input: Any, weight: Any, bias: Any = None) -> Any:
    """A linear layer over the last dimension."""
    if input._ragged_idx == input.dim() - 1:
        raise RuntimeError("linear(): not supported for NestedTensor on ragged dim: the last dimension is the ragged one")
    return input.like(func(input._held, weight, bias))


@knows(JAGGED, "embedding")
def embedding(func: Any, input: Any, weight: Tensor, *args: Any, **kwargs: Any) -> Any:
    """The rows of a table that indices name: a new last dimension."""
    return input.like(func(input._held, weight, *args, **kwargs))


@knows(JAGGED, "matmul", "bmm", "mm")
def matmul(func: Any, input: Any, other: Any) -> Any:
    """The products of matrices of each row: with one matrix for all, one of each row, or the same ragged size inside."""
    mine, theirs = (isinstance(x, NestedTensor) for x in (input, other))
    if mine and not theirs and input._ragged_idx < input.dim() - 1:
        if other.dim() == 2:
            return input.like(input._held @ other)
        if other.dim() == input.dim() and other.shape[0] == len(input):
            return _rows_times(input, other)
    if theirs and not mine and other._ragged_idx == other.dim() - 1 and input.dim() == other.dim() == 3:
        return other.like(tenfold.cat([a @ b for a, b in zip(input.unbind(0), other.rows())], -1))
    if mine and theirs and input.ragged_size == other.ragged_size:
        inner = input._ragged_idx == input.dim() - 1 and other._ragged_idx == other.dim() - 2
        outside = input._ragged_idx == other._ragged_idx < min(input.dim(), other.dim()) - 2
        if inner:
            return tenfold.stack([a @ b for a, b in zip(input.packed().rows(), other.packed().rows())])
        if outside:
            return input.like(input._held @ other._held)
    shapes = [tuple(x.shape) if isinstance(x, NestedTensor) else tenfold.Size(x.shape) for x in (input, other)]
    raise RuntimeError(f"{func.op.name}(): not supported between inputs of shapes {shapes[0]} and {shapes[1]}")


def _rows_times(input: Any, other: Tensor) -> Any:
    """(B, j, D) nested, (B, D, E) dense -> (B, j, E) nested."""
    x = input.packed()
    return x.like(tenfold.cat([a @ b for a, b in zip(x.rows(), other.unbind(0))], x._ragged_idx - 1))


@knows(JAGGED, "scaled_dot_product_attention")
def attention(
    func: Any, query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """Attention of each row to its own keys and values; of rows of equal lengths inside, all at once.

    Shape: (B, heads, j, E), (B, heads, k, E), (B, heads, k, V) -> (B, heads, j, V).
    """
    if attn_mask is not None:
        raise ValueError(
            "scaled_dot_product_attention: attn_mask must not be set for nested tensors: use is_causal, or pad the rows"
        )
    for x in (query, key, value):
        if not isinstance(x, NestedTensor):
            raise ValueError(
                "scaled_dot_product_attention: Expected query, key, and value to all be nested or all be dense tensors: make a "
                "nested one of the dense ones by as_nested_tensor(x, layout=tenfold.jagged)"
            )
    options: dict[str, Any] = {"dropout_p": dropout_p, "is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    ragged = query._ragged_idx
    if ragged < query.dim() - 2 and len({x._ragged_idx for x in (query, key, value)}) == 1 and query.dim() == 4 and ragged == 1:
        return query.like(func(query._held, key._held, value._held, **options))
    q, k, v = (x.packed() for x in (query, key, value))
    if dropout_p == 0.0 and _one_behind_the_other(q, k, v, is_causal):
        return q.like(_of_sequences(q, k, v, is_causal, scale).movedim(0, ragged - 1), ragged)
    rows = [func(*row, **options) for row in zip(q.rows(), k.rows(), v.rows())]
    return q.like(tenfold.cat(rows, ragged - 1), ragged)


def _one_behind_the_other(query: Any, key: Any, value: Any, is_causal: bool) -> bool:
    """Whether attention over sequences of different lengths does it; it counts causal from the last key, not from the first."""
    three = query, key, value
    if any(x.dim() != 4 or x._ragged_idx != 2 or x.dtype is not query.dtype or len(x) != len(query) for x in three):
        return False
    if key._offsets is not value._offsets or (is_causal and query._offsets is not key._offsets):
        return False
    q, k, v = (x._held.shape for x in three)
    return bool(q[0] == k[0] == v[0] and q[2] == k[2])


def _of_sequences(query: Any, key: Any, value: Any, is_causal: bool, scale: float | None) -> Tensor:
    """(T, heads, V)"""
    given = [x._held.movedim(1, 0) for x in (query, key, value)]
    longest, right = (query._max_seqlen, key._max_seqlen), 0 if is_causal else -1
    out, _ = op.fused_varlen_attention(*given, query._offsets, key._offsets, None, *longest, scale, -1, right)
    return out  # type: ignore[no-any-return]
