"""Bags of a table's rows as an operator: where a device has a kernel for it, it is one launch, and nothing waits for offsets.

Everywhere else it is the body of `embedding_bag` (embedding.py), which this one's results agree with.
"""

from __future__ import annotations

import math

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import has_kernel, widened
from tenfold.tensor.tensor import Tensor


def in_one_pass(weight: Tensor, input: Tensor, offsets: Tensor | None, factors: Tensor | None) -> bool:
    """Whether the device has a kernel for these: plain tensors, a table that has rows, whole numbers as indices."""
    if not has_kernel("fused_bags", weight, input, offsets, factors) or not weight.numel() or not input.numel():
        return False
    if weight.dim() != 2 or (offsets is not None and not offsets.numel()):
        return False
    return all(t is None or t.dtype in (tf.int32, tf.int64) for t in (input, offsets))


def bag_of(input: Tensor, offsets: Tensor | None, count: int, ends: bool) -> Tensor:
    """The bag of each index, counted from the front; `count` for what lies before the first one or behind the last one."""
    places = tf.arange(input.numel(), device=input.device)
    if offsets is None:
        return places // input.shape[1]
    found = tf.searchsorted(offsets.to(tf.int64).contiguous(), places, right=True) - 1
    found = found if ends else found.clamp_max(count - 1)
    return tf.where(found < 0, count, found)


def _parts(
    weight: Tensor, input: Tensor, offsets: Tensor | None, count: int, padding_idx: int, ends: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Flat indices, the bag of each, and whether it counts."""
    flat, bags = input.reshape(-1), bag_of(input, offsets, count, ends)
    kept = bags < count
    return flat, bags, kept if padding_idx < 0 else kept & (flat != padding_idx)


def maxima_of_bags(rows: Tensor, bags: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Each bag's largest elements and their rows: of equal ones the first, which alone gets the gradient.

    Nothing is above NaN and NaN is above nothing, so it counts only where it comes first.
    """
    L, D = rows.shape
    if L == 0:
        none = tf.full((count, D), -1, dtype=tf.int64, device=rows.device)
        return tf.zeros(count, D, dtype=rows.dtype, device=rows.device) * rows.sum(0), none
    index, values = bags.unsqueeze(1).expand(-1, D), rows.detach()
    largest = tf.zeros(count, D, dtype=rows.dtype, device=rows.device)
    places = tf.arange(L, device=rows.device).unsqueeze(1).expand(-1, D)
    none = tf.full((count, D), L, dtype=tf.int64, device=rows.device)
    leads = none.scatter_reduce(0, index, places, "amin").gather(0, index) == places
    none_there = tf.isnan(values)
    values = tf.where(none_there & leads, math.inf, tf.where(none_there, -math.inf, values))
    largest = largest.scatter_reduce(0, index, values, "amax", include_self=False)
    holds = tf.eq(values, largest.gather(0, index))
    first = none.scatter_reduce(0, index, tf.where(holds, places, L), "amin")
    return tf.where(first < L, rows.gather(0, first.clamp_max(L - 1)), 0), tf.where(first < L, first, -1)


@composite("embedding", method=None)
def fused_bags(
    weight: Tensor,
    input: Tensor,
    offsets: Tensor | None,
    factors: Tensor | None,
    mode: str,
    count: int,
    padding_idx: int,
    ends: bool,
    scale_by_freq: bool,
    sparse: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """`embedding_bag` of arguments that are known to fit: `count` bags, of which the last ends at the last offset with `ends`.

    Also how many indices each bag has that are no padding, and for maxima the table's row of each, -1 for none; else none.

    >>> import tenfold
    >>> index, offsets = tenfold.tensor([0, 1, 1]), tenfold.tensor([0, 2])
    >>> table = tenfold.tensor([[1.0], [3.0]])
    >>> tenfold.op.fused_bags(table, index, offsets, None, "sum", 2, -1, False, False)[0]
    tensor([[4.],
            [3.]])
    """
    flat, bags, kept = _parts(weight, input, offsets, count, padding_idx, ends)
    rows = tf.index_select(widened(weight), 0, flat)
    rows = rows if factors is None else rows * widened(factors).reshape(-1, 1)
    to = tf.where(kept, bags, count)  # one more bag, which is thrown away
    sizes = tf.zeros(count + 1, dtype=tf.int64, device=weight.device).index_add(0, to, tf.ones_like(to))[:count]
    none = tf.zeros(0, dtype=tf.int64, device=weight.device)
    if mode == "max":
        found, first = maxima_of_bags(rows, to, count + 1)
        if not flat.numel():
            return found[:count].to(weight.dtype), sizes, first[:count]
        of_table = tf.where(first < 0, -1, flat.to(tf.int64)[first.clamp_min(0)])
        return found[:count].to(weight.dtype), sizes, of_table[:count]
    sums = tf.zeros(count + 1, weight.shape[1], dtype=rows.dtype, device=weight.device).index_add(0, to, rows)[:count]
    out = sums if mode == "sum" else sums / sizes.clamp_min(1).unsqueeze(1)
    return out.to(weight.dtype), sizes, none


@composite("embedding", method=None)
def fused_bags_grad(
    grad: Tensor,
    weight_rows: int,
    input: Tensor,
    offsets: Tensor | None,
    factors: Tensor | None,
    sizes: Tensor,
    places: Tensor,
    mode: str,
    count: int,
    padding_idx: int,
    ends: bool,
    scale_by_freq: bool,
) -> Tensor:
    """The gradient of `fused_bags` for its table, which has so many rows.

    >>> import tenfold
    >>> index, offsets = tenfold.tensor([0, 1, 1]), tenfold.tensor([0, 2])
    >>> _, sizes, places = tenfold.op.fused_bags(tenfold.ones(2, 1), index, offsets, None, "sum", 2, -1, False, False)
    >>> tenfold.op.fused_bags_grad(tenfold.ones(2, 1), 2, index, offsets, None, sizes, places, "sum", 2, -1, False, False)
    tensor([[1.],
            [2.]])
    """
    g = widened(grad)
    table = tf.zeros(weight_rows + 1, g.shape[1], dtype=g.dtype, device=g.device)
    if mode == "max":
        index = tf.where(places < 0, weight_rows, places)
        return table.scatter_add(0, index, g)[:weight_rows].to(grad.dtype)
    flat, bags, kept = _parts(g, input, offsets, count, padding_idx, ends)
    g = g if mode == "sum" else g / sizes.clamp_min(1).unsqueeze(1)
    rows = tf.index_select(g, 0, bags.clamp_max(count - 1))
    rows = rows if factors is None else rows * widened(factors).reshape(-1, 1)
    to = tf.where(kept, flat.to(tf.int64), weight_rows)
    if scale_by_freq:
        often = tf.zeros(weight_rows + 1, dtype=g.dtype, device=g.device).index_add(0, to, tf.ones_like(to).to(g.dtype))
        rows = rows / tf.index_select(often, 0, to).unsqueeze(1)
    return table.index_add(0, to, rows)[:weight_rows].to(grad.dtype)


@composite("embedding", method=None)
def fused_bags_factors_grad(
    grad: Tensor, weight: Tensor, input: Tensor, offsets: Tensor | None, count: int, padding_idx: int, ends: bool
) -> Tensor:
    """The gradient of `fused_bags` of sums for the factors of its rows, in the input's shape.

    >>> import tenfold
    >>> index, offsets = tenfold.tensor([0, 1]), tenfold.tensor([0, 1])
    >>> table = tenfold.tensor([[1.0], [3.0]])
    >>> tenfold.op.fused_bags_factors_grad(tenfold.ones(2, 1), table, index, offsets, 2, -1, False)
    tensor([1., 3.])
    """
    flat, bags, kept = _parts(weight, input, offsets, count, padding_idx, ends)
    rows = tf.index_select(widened(grad), 0, bags.clamp_max(count - 1)) * tf.index_select(widened(weight), 0, flat)
    return tf.where(kept, rows.sum(1), 0).reshape(input.shape).to(grad.dtype)
