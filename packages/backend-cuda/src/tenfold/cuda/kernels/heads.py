"""Queries, keys and values as attention's kernels see them."""

from __future__ import annotations

from math import inf, prod
from typing import Any, NamedTuple

from tenfold.cuda import runtime
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
    if len(lead) == 2:  # one head of keys for all: the query stays as it is
        return query, key[:, :1], value[:, :1], lead[-1]
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


class Rows(NamedTuple):
    """In which order the rows of results (batch, head, T) lie in memory: that of the rows which they belong to.

    Where heads lie beside one another, what joins them, and the gradient of what has parted them, then needs no copy.
    """

    sizes: tuple[int, int, int]
    order: tuple[int, ...] = (0, 1, 2)  # from the dimension whose neighbours are farthest from each other

    @property
    def steps(self) -> tuple[int, ...]:
        """Rows from one to the next in each dimension."""
        return tuple(prod(self.sizes[d] for d in self.order[self.order.index(k) + 1 :]) for k in range(3))

    def empty(self, shape: tuple[int, ...], dtype: Any, index: int, features: int = 1) -> Any:
        """Memory for an array (*, T, E), or without `features` (*, T)."""
        ends = shape[len(shape) - features :]
        block = runtime.current().empty((*(self.sizes[d] for d in self.order), *ends), dtype, index)
        return self.turned(block).reshape(shape)

    def turned(self, block: Any) -> Any:
        """(batch, head, T, ...) of an array whose dimensions are as they lie."""
        return block.transpose((*(self.order.index(k) for k in range(3)), *range(3, block.ndim)))

    def lying(self, x: Any, features: int = 1) -> Any:
        """An array (*, T, E), or without `features` (*, T), with its dimensions as rows lie; a copy where they lie otherwise."""
        if self.order == (0, 1, 2):
            return contiguous(x)
        last = x.ndim - features
        if last > 3 and x.strides[last - 3] != x.strides[last - 2] * x.shape[last - 2]:  # heads in groups, not evenly
            x = contiguous(x)
        x = x.reshape(*self.sizes, *x.shape[last:])
        return contiguous(x.transpose((*self.order, *range(3, x.ndim))))


def rows_of(x: Any, heads: int) -> Rows:
    """How rows lie that belong to those of an array (batch, head, T, E), with so many heads."""
    sizes = (x.shape[0], heads, x.shape[2])
    own = sorted((d for d in range(3) if x.shape[d] > 1), key=lambda d: -(x.strides[d] or inf))
    if own == sorted(own) or x.shape[1] != heads:
        return Rows(sizes)
    return Rows(sizes, (*(d for d in range(3) if d not in own), *own))


class Call(NamedTuple):
    """What the programs of one attention have in common."""

    arrays: tuple[Any, ...]  # q, k, v, and mask and words of dropout, or the table of sequences
    numbers: tuple[Any, ...]
    constants: tuple[tuple[str, Any], ...]
    heads: int  # of all batches
    device: int  # the number of the GPU
    rows: tuple[Rows, Rows] | None  # of queries and of keys; None: sequences, whose heads lie beside one another

    @property
    def places(self) -> tuple[int, ...]:
        """Rows from one to the next, along batch, head and query, and along batch, head and key."""
        if self.rows is None:
            return (0, 1, self.numbers[2]) * 2
        return (*self.rows[0].steps, *self.rows[1].steps)

    def empty(self, like: Any, width: int, dtype: Any, of_keys: bool = False, features: int = 1) -> Any:
        """Memory for a result with a row for each of an array (*, T, E): (*, T, width), or without `features` (*, T)."""
        shape = (*like.shape[:-1], width)[: like.ndim - 1 + features]
        if self.rows is None:
            return runtime.current().empty(shape, dtype, self.device)
        return self.rows[of_keys].empty(shape, dtype, self.device, features)

    def lying(self, x: Any, features: int = 1) -> Any:
        """An array with a row for each query, as rows lie."""
        return contiguous(x) if self.rows is None else self.rows[0].lying(x, features)

    @property
    def scale(self) -> float:
        """What scores are multiplied by."""
        return float(self.numbers[13 if dict(self.constants)["TABLE"] else 17])  # strides of masks lie before it


def wide_of(constants: dict[str, Any]) -> int:
    """Features of a head, of keys or values, as a power of 2."""
    return int(max(constants["WIDE_E"], constants["WIDE_V"]))
