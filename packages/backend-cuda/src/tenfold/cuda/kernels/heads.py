"""Queries, keys and values as attention's kernels see them."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from tenfold.cuda.kernels.handwritten import F32, F64, FLOATS, contiguous

MOST = 512  # features of a head
MOST_F32 = 256  # no tensor core computes these: larger blocks take minutes to compile
FARTHEST = 2**31 // 128  # elements from row to row: a block has 128 rows at most, and their places in it are of 32 bits


class Heads(NamedTuple):
    """An array (*, T, E) as (batch, head, T, E), and its first three strides in elements; features are neighbours."""

    array: Any
    strides: tuple[int, int, int]


def in_rows(x: Any, rows: int = -2) -> Any:
    """The array, copied if its features are no neighbours, or its rows, along a dimension, too far from each other."""
    apart = x.strides[-1] != x.dtype.itemsize and x.shape[-1] > 1
    far = x.strides[rows] >= FARTHEST * x.dtype.itemsize and x.shape[rows] > 1
    return contiguous(x) if apart or far else x


def heads_of(x: Any) -> Heads:
    lead, x = x.shape[:-2], in_rows(x)
    if len(lead) > 2:
        x = contiguous(x).reshape(prod(lead[:-1]), *x.shape[-3:])
    while x.ndim < 4:
        x = x[None]
    b, h, t = (s // x.dtype.itemsize for s in x.strides[:3])
    return Heads(x, (b, h, t))


def groups_of(query: Any, key: Any, value: Any) -> tuple[Any, Any, Any, int]:
    """(q, k, v, heads of q for each of k): keys and values that are repeated along the last dimension of heads are read once."""
    lead = query.shape[:-2]
    if len(lead) < 2 or lead[-1] == 1 or key.strides[-3] or value.strides[-3]:
        return query, key, value, 1
    outer, inner = query.strides[-4:-2]
    together = query if outer == inner * lead[-1] else contiguous(query)
    heads = (*lead[:-2], lead[-2] * lead[-1], *query.shape[-2:])
    return together.reshape(heads), key[..., 0, :, :], value[..., 0, :, :], lead[-1]


def fit(query: Any, key: Any, value: Any) -> bool:
    """Whether the programs compute in their dtype and with as many features."""
    first = query.dtype
    if first not in FLOATS or first == F64 or not first == key.dtype == value.dtype or 0 in (query.size, key.size, value.size):
        return False
    return max(query.shape[-1], value.shape[-1]) <= (MOST_F32 if first == F32 else MOST)


class Call(NamedTuple):
    """What the programs of one attention have in common."""

    arrays: tuple[Any, ...]  # q, k, v, and mask and words of dropout, or the table of sequences
    numbers: tuple[Any, ...]
    constants: tuple[tuple[str, Any], ...]
    heads: int  # of all batches
    device: int  # the number of the GPU

    @property
    def scale(self) -> float:
        """What scores are multiplied by."""
        return float(self.numbers[13 if dict(self.constants)["TABLE"] else 17])  # strides of masks lie before it


def wide_of(constants: dict[str, Any]) -> int:
    """Features of a head, of keys or values, as a power of 2."""
    return int(max(constants["WIDE_E"], constants["WIDE_V"]))
