"""Attention over sequences of different lengths that lie one behind the other: what `nn.attention.varlen` runs.

The bodies cut the sequences out and let `fused_attention` and its gradient work on one after the other, on neighbours of equal
lengths at once; a device that takes a table of starts has kernels of its own. Query t of a sequence with n queries and m keys
stands at key t + m - n.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.ops.attention import fused_attention, fused_attention_grad
from tenfold.tensor.tensor import Tensor


@composite("varlen", method=None)
def fused_varlen_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cu_seq_q: Tensor,
    cu_seq_k: Tensor,
    seqused_k: Tensor | None,
    max_q: int,
    max_k: int,
    scale: float | None,
    left: int,
    right: int,
) -> tuple[Tensor, Tensor]:
    """Attention of sequence i, queries cu_seq_q[i] to cu_seq_q[i + 1], to its keys alone, and the log-sum-exp of the scores.

    The first `seqused_k[i]` of its keys count, or all; of those a query sees the ones from `left` places before its own to
    `right` behind it, where these are not negative. Heads are the same for all three. What belongs to no sequence gives 0.
    Shape: (T, *, E), (S, *, E), (S, *, V), (N + 1), (N + 1), (N) -> (T, *, V), (T, *).

    >>> import tenfold
    >>> q, k, v = tenfold.zeros(2, 2), tenfold.ones(3, 2), tenfold.tensor([[1.0], [3.0], [7.0]])
    >>> of_q, of_k = tenfold.tensor([0, 1, 2], dtype=tenfold.int32), tenfold.tensor([0, 2, 3], dtype=tenfold.int32)
    >>> tenfold.op.fused_varlen_attention(q, k, v, of_q, of_k, None, 1, 2, None, -1, -1)[0].tolist()
    [[2.0], [7.0]]
    """
    lead, width = query.shape[:-1], value.shape[-1]
    statistic = tf.float64 if query.dtype is tf.float64 else tf.float32
    if cu_seq_q.device.type == "meta":
        return query.new_empty((*lead, width)), query.new_empty(lead, dtype=statistic)
    outs, sums = [], []
    table = _Sequences(query, key, cu_seq_q, cu_seq_k, seqused_k, max_q, max_k, left, right)
    for count, (q,), (k, v), mask, is_causal in table.cut((query,), (key, value)):
        out, log_sum_exp = fused_attention(q, k, v, mask, is_causal, scale)
        outs.append(out if count == 1 else out.flatten(-3, -2))
        sums.append(log_sum_exp if count == 1 else log_sum_exp.flatten(-2))
    if table.queries.rest:
        outs.append(query.new_zeros((*lead[1:], table.queries.rest, width)))
        sums.append(query.new_full((*lead[1:], table.queries.rest), float("-inf"), dtype=statistic))
    return _joined(outs), tf.cat(sums, -1).movedim(-1, 0)


@composite("varlen", method=None)
def fused_varlen_attention_grad(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    log_sum_exp: Tensor,
    cu_seq_q: Tensor,
    cu_seq_k: Tensor,
    max_q: int,
    max_k: int,
    scale: float | None,
    left: int,
    right: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of `fused_varlen_attention` for query, key and value.

    >>> import tenfold
    >>> q, k, v = tenfold.zeros(1, 2), tenfold.ones(2, 2), tenfold.tensor([[1.0], [3.0]])
    >>> of_q, of_k = tenfold.tensor([0, 1], dtype=tenfold.int32), tenfold.tensor([0, 2], dtype=tenfold.int32)
    >>> out, sums = tenfold.op.fused_varlen_attention(q, k, v, of_q, of_k, None, 1, 2, None, -1, -1)
    >>> g = tenfold.ones(1, 1)
    >>> tenfold.op.fused_varlen_attention_grad(g, q, k, v, out, sums, of_q, of_k, 1, 2, None, -1, -1)[2].tolist()
    [[0.5], [0.5]]
    """
    if cu_seq_q.device.type == "meta":
        return tf.empty_like(query), tf.empty_like(key), tf.empty_like(value)
    found: tuple[list[Tensor], list[Tensor], list[Tensor]] = ([], [], [])
    table = _Sequences(query, key, cu_seq_q, cu_seq_k, None, max_q, max_k, left, right)
    given = (grad, query, output, log_sum_exp.unsqueeze(-1))
    for count, (g, q, out, sums), (k, v), mask, is_causal in table.cut(given, (key, value)):
        grads = fused_attention_grad(g, q, k, v, out, sums.squeeze(-1), mask, is_causal, scale)
        for pieces, piece in zip(found, grads, strict=True):
            pieces.append(piece if count == 1 else piece.flatten(-3, -2))
    for pieces, x, lengths in zip(found, (query, key, value), (table.queries, table.keys, table.keys), strict=True):
        if lengths.rest:
            pieces.append(x.new_zeros((*x.shape[1:-1], lengths.rest, x.shape[-1])))
    return _joined(found[0]), _joined(found[1]), _joined(found[2])


@composite("varlen", method=None)
def fused_paged_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cu_seq_q: Tensor,
    seqused_k: Tensor,
    block_table: Tensor,
    max_q: int,
    max_k: int,
    scale: float | None,
    left: int,
    right: int,
) -> tuple[Tensor, Tensor]:
    """`fused_varlen_attention` to keys that lie in pages, those of sequence i in the pages `block_table[i]`; for inference.

    Heads of queries may be a multiple of those of keys: so many in a row share one.
    Shape: (T, H, E), (pages, size, K, E), (pages, size, K, V), (N + 1), (N), (N, pages of each) -> (T, H, V), (T, H).

    >>> import tenfold
    >>> q, k, v = tenfold.zeros(1, 1, 2), tenfold.ones(2, 1, 1, 2), tenfold.tensor([1.0, 3.0]).view(2, 1, 1, 1)
    >>> starts, used, pages = (tenfold.tensor(x, dtype=tenfold.int32) for x in ([0, 1], [2], [[1, 0]]))
    >>> tenfold.op.fused_paged_attention(q, k, v, starts, used, pages, 1, 2, None, -1, -1)[0].flatten().tolist()
    [2.0]
    """
    k, v, cu_seq_k = _out_of_pages(key, value, block_table, seqused_k)
    group = query.shape[1] // k.shape[1] if k.shape[1] else 1
    if group > 1:
        query = query.unflatten(1, (k.shape[1], group))
        k, v = (x.unsqueeze(2).expand(*x.shape[:2], group, x.shape[2]) for x in (k, v))
    out, sums = fused_varlen_attention(query, k, v, cu_seq_q, cu_seq_k, seqused_k, max_q, max_k, scale, left, right)
    return (out.flatten(1, 2), sums.flatten(1, 2)) if group > 1 else (out, sums)


def _out_of_pages(key: Tensor, value: Tensor, block_table: Tensor, seqused_k: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Keys and values in the order of the table, and where each sequence's begin: no number is read, so no GPU is waited for."""
    (N, pages), size = block_table.shape, key.shape[1]
    begins = tf.arange(pages, device=key.device) * size
    needed = begins < seqused_k.unsqueeze(1)  # behind the pages that a sequence uses its row may hold anything
    which = tf.where(needed, block_table, 0).flatten().long()
    k, v = (x.index_select(0, which).flatten(0, 1) for x in (key, value))
    return k, v, tf.arange(N + 1, dtype=tf.int32, device=key.device) * (pages * size)


class _Lengths(NamedTuple):
    """The lengths of the sequences, and how many rows behind them belong to none."""

    of_each: list[int]
    rest: int


class _Sequences:
    """The tables read and checked, and what they say cut out."""

    def __init__(
        self, query: Tensor, key: Tensor, cu_seq_q: Tensor, cu_seq_k: Tensor, used: Tensor | None,
        max_q: int, max_k: int, left: int, right: int,
    ) -> None:  # fmt: skip
        self.queries = _lengths("cu_seq_q", cu_seq_q, query.shape[0], "max_q", max_q)
        self.keys = _lengths("cu_seq_k", cu_seq_k, key.shape[0], "max_k", None if used is not None else max_k)
        self.used = self.keys.of_each if used is None else _used(used, self.keys.of_each)
        self.window = left, right
        self.masks: dict[tuple[int, int], tuple[Tensor | None, bool]] = {}

    def cut(self, of_queries: tuple[Tensor, ...], of_keys: tuple[Tensor, ...]) -> Iterator[Any]:
        """(count, what belongs to queries, what belongs to keys, mask, is_causal) of neighbours of equal lengths.

        Tensors are (*, length, E), or of more than one sequence (*, count, length, E).
        """
        runs = [(*sizes, len(list(same))) for sizes, same in groupby(zip(self.queries.of_each, self.keys.of_each, self.used))]
        rows = [_cut(x, [n * count for n, _, _, count in runs], self.queries.rest) for x in of_queries]
        columns = [_cut(x, [m * count for _, m, _, count in runs], self.keys.rest) for x in of_keys]
        for i, (n, m, used, count) in enumerate(runs):
            asking, seen = [pieces[i] for pieces in rows], [pieces[i] for pieces in columns]
            if count > 1:
                asking = [x.unflatten(-2, (count, n)) for x in asking]
                seen = [x.unflatten(-2, (count, m)) for x in seen]
            if used < m:
                seen = [x.narrow(-2, 0, used) for x in seen]
            yield count, asking, seen, *self._mask(n, used, of_queries[0].device)

    def _mask(self, n: int, m: int, device: Any) -> tuple[Tensor | None, bool]:
        """(mask, is_causal): which of m keys each of n queries sees."""
        left, right = self.window
        ahead = 0 <= right < n - 1
        behind = 0 <= left < m - 1
        if not behind and (not ahead or (right == 0 and n == m)):
            return None, ahead
        if (n, m) not in self.masks:
            place = tf.arange(m, device=device) - tf.arange(m - n, m, device=device).unsqueeze(1)
            kept = place <= right if ahead else place >= -left
            self.masks[n, m] = kept & (place >= -left) if ahead and behind else kept, False
        return self.masks[n, m]


def _joined(pieces: list[Tensor]) -> Tensor:
    """(*, length, E) of each sequence -> (T, *, E)."""
    return tf.cat(pieces, -2).movedim(-2, 0).contiguous()


def _cut(x: Tensor, lengths: list[int], rest: int) -> tuple[Tensor, ...]:
    """(T, *, E) -> (*, length, E) of each length, and of the rest."""
    return tuple(x.movedim(0, -2).split([*lengths, rest], -2))


def _lengths(name: str, starts: Tensor, total: int, most_name: str, most: int | None) -> _Lengths:
    places: list[int] = starts.tolist()
    lengths = [b - a for a, b in pairwise(places)]
    if places[0] != 0:
        raise RuntimeError(f"varlen_attn: {name} begins with {places[0]}, but the first sequence begins at 0: {name}[0] = 0")
    if min(lengths, default=0) < 0:
        i = next(i for i, n in enumerate(lengths) if n < 0)
        raise RuntimeError(
            f"varlen_attn: {name} falls from {places[i]} to {places[i + 1]} at {i + 1}, but a sequence begins where the one "
            "before it ends: give the cumulative sums of the lengths"
        )
    if places[-1] > total:
        raise RuntimeError(
            f"varlen_attn: {name} ends with {places[-1]}, but there are {total} rows: it may end with {total} at most"
        )
    longest = max(lengths, default=0)
    if most is not None and longest > most:
        raise RuntimeError(
            f"varlen_attn: {most_name} is {most}, but the longest sequence of {name} has {longest}: give {longest}"
        )
    return _Lengths(lengths or [0], total - places[-1])  # none is as good as an empty one, and has results to join


def _used(seqused_k: Tensor, room: list[int]) -> list[int]:
    used: list[int] = seqused_k.tolist() or [0]
    for i, (n, size) in enumerate(zip(used, room, strict=True)):
        if not 0 <= n <= size:
            raise RuntimeError(f"varlen_attn: seqused_k[{i}] is {n}, but sequence {i} has room for {size} keys: give 0 to {size}")
    return used
