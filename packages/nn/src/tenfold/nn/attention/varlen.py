"""`varlen_attn`: attention over sequences of different lengths that lie one behind the other, without padding."""

from __future__ import annotations

from typing import Any, NamedTuple

import tenfold
from tenfold import Tensor
from tenfold.nn.ops.varlen import fused_paged_attention, fused_varlen_attention

__all__ = ["AuxRequest", "varlen_attn", "varlen_attn_out"]


class AuxRequest(NamedTuple):
    """What `varlen_attn` shall give besides the result: `lse`, the logarithms of the sums of exponentials of the scores."""

    lse: bool = False


def varlen_attn(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cu_seq_q: Tensor,
    cu_seq_k: Tensor | None,
    max_q: int,
    max_k: int,
    *,
    return_aux: AuxRequest | None = None,
    scale: float | None = None,
    window_size: tuple[int, int] = (-1, -1),
    enable_gqa: bool = False,
    seqused_k: Tensor | None = None,
    block_table: Tensor | None = None,
    num_splits: int | None = None,
) -> Any:
    """Attention of each sequence to its own keys: softmax(query key^T scale) value; scale is 1 / sqrt(E) unless given.

    Sequences lie one behind the other: sequence i has the queries `cu_seq_q[i]` to `cu_seq_q[i + 1]` and the keys `cu_seq_k[i]`
    to `cu_seq_k[i + 1]`, `max_q` and `max_k` at most. What lies behind the last one gives 0.

    Args:
        window_size: (left, right), how many keys before and behind its own place a query sees; negative: all. (-1, 0) is causal.
            The last query of a sequence stands at its last key.
        enable_gqa: key and value may have fewer heads, each for a group of the query's.
        seqused_k: how many keys of each sequence count, (N); for inference.
        block_table: key and value are pages, and row i names those of sequence i in order, (N, pages); needs `seqused_k`.
        num_splits: taken as PyTorch takes it; the result is the same with any.

    Shape: (T, H, E), (S, K, E), (S, K, V), (N + 1), (N + 1) -> (T, H, V); with `return_aux.lse` also (H, T); with `block_table`
    key and value are (pages, size of a page, K, E or V). Dtype: floating; the tables are int32.
    Raises: ValueError for heads that do not fit, RuntimeError for other sizes, dtypes and tables. On a GPU a table's numbers are
    looked at while it computes: what is wrong is told at the next wait for it.
    Differs from PyTorch: runs on every device and in every floating dtype; the `lse` of a query that sees no key is -inf.

    >>> starts = tenfold.tensor([0, 1, 3], dtype=tenfold.int32)
    >>> x = tenfold.tensor([5.0, 1.0, 3.0]).reshape(3, 1, 1)
    >>> varlen_attn(tenfold.zeros(3, 1, 1), x, x, starts, starts, 2, 2).flatten().tolist()
    [5.0, 2.0, 2.0]
    """
    if block_table is not None:
        _check_pages(key, value, block_table, seqused_k)
    _check_heads(query, key, value, enable_gqa, key.ndim - 2)
    _refuse_gradients(query, key, value, seqused_k=seqused_k, block_table=block_table)
    left, right = _window(window_size)
    if block_table is not None:
        assert seqused_k is not None
        starts = cu_seq_q.new_empty(len(block_table) + 1)  # which pages take the place of
        _check(query, key[:, :1].flatten(0, 1), value[:, :1].flatten(0, 1), cu_seq_q, starts, seqused_k, max_q, max_k)
        out, lse = fused_paged_attention(query, key, value, cu_seq_q, seqused_k, block_table, max_q, max_k, scale, left, right)
        return (out, lse.t().contiguous()) if return_aux is not None and return_aux.lse else out
    _check(query, key, value, cu_seq_q, cu_seq_k, seqused_k, max_q, max_k)
    T, H = query.shape[:2]
    group = H // key.shape[1] if key.shape[1] else 1
    if group > 1:
        query = query.unflatten(1, (key.shape[1], group))
        key, value = (x.unsqueeze(2).expand(*x.shape[:2], group, x.shape[2]) for x in (key, value))
    out, lse = fused_varlen_attention(query, key, value, cu_seq_q, cu_seq_k, seqused_k, max_q, max_k, scale, left, right)
    out = out.flatten(1, 2) if group > 1 else out
    return (out, lse.reshape(T, H).t().contiguous()) if return_aux is not None and return_aux.lse else out


def varlen_attn_out(
    out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cu_seq_q: Tensor,
    cu_seq_k: Tensor | None,
    max_q: int,
    max_k: int,
    *,
    return_aux: AuxRequest | None = None,
    scale: float | None = None,
    window_size: tuple[int, int] = (-1, -1),
    enable_gqa: bool = False,
    seqused_k: Tensor | None = None,
    block_table: Tensor | None = None,
    num_splits: int | None = None,
) -> Any:
    """`varlen_attn` whose result is written to `out` and has no gradient.

    Raises: RuntimeError for an `out` of another shape or dtype, and where a gradient is asked for.

    >>> starts = tenfold.tensor([0, 2], dtype=tenfold.int32)
    >>> x, out = tenfold.tensor([1.0, 3.0]).reshape(2, 1, 1), tenfold.empty(2, 1, 1)
    >>> varlen_attn_out(out, tenfold.zeros(2, 1, 1), x, x, starts, starts, 2, 2) is out, out.flatten().tolist()
    (True, [2.0, 2.0])
    """
    if tenfold.is_grad_enabled() and any(x.requires_grad for x in (out, query, key, value)):
        raise RuntimeError(
            "varlen_attn_out: the result is written to a given tensor and has no gradient, but one of the tensors requires one: "
            "use varlen_attn, or no_grad()"
        )
    found, lse = varlen_attn(
        query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, return_aux=AuxRequest(True), scale=scale, window_size=window_size,
        enable_gqa=enable_gqa, seqused_k=seqused_k, block_table=block_table, num_splits=num_splits,
    )  # fmt: skip
    if out.shape != found.shape or out.dtype is not found.dtype:
        raise RuntimeError(
            f"varlen_attn_out: expected out to be {found.dtype.name} of shape {list(found.shape)}, got {out.dtype.name} of "
            f"{list(out.shape)}"
        )
    out.copy_(found)
    return (out, lse) if return_aux is not None and return_aux.lse else out


def _window(window_size: Any) -> tuple[int, int]:
    if len(window_size) != 2:
        raise ValueError(f"window_size must have length 2, got {len(window_size)}: give (left, right)")
    left, right = window_size
    return int(left), int(right)


def _check_heads(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool, dim: int) -> None:
    """`dim` is the one with heads of key and value."""
    if query.ndim != 3 or dim < 1 or key.ndim != value.ndim:
        raise RuntimeError(
            "varlen_attn: expected query (T, heads, E), key (S, heads, E) and value (S, heads, V), or with block_table key and "
            f"value (pages, size, heads, ...), got {list(query.shape)}, {list(key.shape)} and {list(value.shape)}"
        )
    heads, own = query.shape[1], key.shape[dim]
    if not enable_gqa and heads != own:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq={heads} and Hkv={own}. Try setting "
            "enable_gqa=True for GQA."
        )
    if enable_gqa and (own == 0 or heads % own):
        raise ValueError(f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={heads} and Hkv={own}.")


def _check(
    query: Tensor, key: Tensor, value: Tensor, cu_seq_q: Tensor, cu_seq_k: Tensor | None, seqused_k: Tensor | None,
    max_q: int, max_k: int,
) -> None:  # fmt: skip
    if not query.dtype is key.dtype is value.dtype or not query.dtype.is_floating_point:
        raise RuntimeError(
            f"varlen_attn: expected query, key and value of one floating dtype, got {query.dtype.name}, {key.dtype.name} and "
            f"{value.dtype.name}"
        )
    if key.ndim != 3 or query.shape[2] != key.shape[2] or key.shape[:2] != value.shape[:2]:
        raise RuntimeError(
            f"varlen_attn: expected query (T, heads, E), key (S, heads, E) and value (S, heads, V), got {list(query.shape)}, "
            f"{list(key.shape)} and {list(value.shape)}"
        )
    if cu_seq_k is None:
        raise RuntimeError("varlen_attn: cu_seq_k may be None only with block_table: give where the keys of each sequence begin")
    for name, table in (("cu_seq_q", cu_seq_q), ("cu_seq_k", cu_seq_k), ("seqused_k", seqused_k)):
        if table is not None and (table.dtype is not tenfold.int32 or table.ndim != 1):
            raise RuntimeError(
                f"varlen_attn: expected {name} to be int32 of one dimension, got {table.dtype.name} of {table.ndim}: "
                f"{name}.to(tenfold.int32)"
            )
    N = len(cu_seq_q) - 1
    if N < 0 or len(cu_seq_k) != N + 1 or (seqused_k is not None and len(seqused_k) != N):
        used = "" if seqused_k is None else f" and seqused_k {len(seqused_k)}"
        raise RuntimeError(
            f"varlen_attn: for N sequences cu_seq_q and cu_seq_k have N + 1 places and seqused_k N, got cu_seq_q with "
            f"{len(cu_seq_q)}, cu_seq_k {len(cu_seq_k)}{used}"
        )
    if max_q < 0 or max_k < 0:
        raise RuntimeError(f"varlen_attn: max_q and max_k are lengths, 0 or more, got {max_q} and {max_k}")


def _refuse_gradients(*tensors: Tensor, **only_inference: Tensor | None) -> None:
    if tenfold.is_grad_enabled() and any(x.requires_grad for x in tensors):
        for name, given in only_inference.items():
            if given is not None:
                raise RuntimeError(f"{name} is an inference-only parameter: varlen_attn has no gradient with it; use no_grad()")


def _check_pages(key: Tensor, value: Tensor, block_table: Tensor, seqused_k: Tensor | None) -> None:
    if seqused_k is None:
        raise RuntimeError("varlen_attn: block_table needs seqused_k, the number of keys of each sequence")
    if block_table.dtype is not tenfold.int32 or block_table.ndim != 2 or len(block_table) != len(seqused_k):
        raise RuntimeError(
            f"varlen_attn: expected block_table to be int32 of shape ({len(seqused_k)}, pages), got {block_table.dtype.name} of "
            f"{list(block_table.shape)}"
        )
    if key.ndim != 4 or value.ndim != 4 or key.shape[:3] != value.shape[:3]:
        raise RuntimeError(
            "varlen_attn: with block_table key and value are (pages, size of a page, heads, E or V), got "
            f"{list(key.shape)} and {list(value.shape)}"
        )
