"""Order: positions of extremes, sorting, selection by rank, distinct values, binary search."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold import return_types
from tenfold.dispatch.meta import DataDependent, Meta
from tenfold.dispatch.operators import Number, composite, op, primitive
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.ops.reduction.reductions import check_nonempty, located_rule, ordered, reduced
from tenfold.settings.warnings import warn_once
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import int64
from tenfold.types.promotion import of_values

_POSITION = "its result is a position"


@primitive("reduction", accepts=ordered("argmax", bools=False), out="same", nondifferentiable=_POSITION)
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Position of the (first) maximum, in the flattened tensor or along a dimension. Dtype: int64.

    >>> import tenfold
    >>> tenfold.argmax(tenfold.tensor([3, 9, 2]))
    tensor(1)
    """


@primitive("reduction", accepts=ordered("argmin", bools=False), out="same", nondifferentiable=_POSITION)
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Position of the (first) minimum, in the flattened tensor or along a dimension. Dtype: int64.

    >>> import tenfold
    >>> tenfold.argmin(tenfold.tensor([3, 9, 2]))
    tensor(2)
    """


def _position_rule(name: str) -> Any:
    def rule(input: Any, dim: int | None, keepdim: bool) -> Meta:
        check_nonempty(input, dim, name)
        return reduced(input, dim, keepdim, name, np.int64)

    return rule


argmax.rule(_position_rule("argmax"))
argmin.rule(_position_rule("argmin"))


@primitive("reduction", accepts=ordered("sort"), method=None, name="sort_pair")
def _sort(input: Tensor, dim: int, descending: bool) -> tuple[Tensor, Tensor]:
    """Sorted elements and their positions, equal elements in their order: what `sort` runs.

    >>> import tenfold
    >>> tenfold.op.sort_pair(tenfold.tensor([3, 9, 2]), 0, False)
    (tensor([2, 3, 9]), tensor([2, 0, 1]))
    """


@_sort.rule
def _(input: Any, dim: int, descending: bool) -> tuple[Meta, Meta]:
    wrap_dim(dim, len(input.shape), "sort")
    return Meta(input.shape, input.dtype), Meta(input.shape, np.int64)


@composite("reduction", out="same")
def sort(input: Tensor, dim: Any = -1, descending: bool = False, *, stable: bool | None = None) -> Any:
    """Elements in order along a dimension, as (values, indices); NaN is greater than all, equals keep their order.

    >>> import tenfold
    >>> tenfold.sort(tenfold.tensor([3, 1, 2]))[1]
    tensor([1, 2, 0])
    """
    if isinstance(dim, bool):  # of older calls
        dim, descending = -1, dim
    return return_types.sort(*_sort(input, dim, descending))


@composite("reduction", out="same")
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """The positions that sort a dimension.

    >>> import tenfold
    >>> tenfold.argsort(tenfold.tensor([3, 1, 2]))
    tensor([1, 2, 0])
    """
    return _sort(input.detach(), dim, descending)[1]


@primitive("reduction", accepts=ordered("topk", bools=False), method=None, name="topk_pair")
def _topk(input: Tensor, k: int, dim: int, largest: bool, sorted: bool) -> tuple[Tensor, Tensor]:
    """The k greatest (or least) elements and their positions: what `topk` runs.

    >>> import tenfold
    >>> tenfold.op.topk_pair(tenfold.tensor([3, 9, 2]), 2, 0, True, True)
    (tensor([9, 3]), tensor([1, 0]))
    """


@_topk.rule
def _(input: Any, k: int, dim: int, largest: bool, sorted: bool) -> tuple[Meta, Meta]:
    d = wrap_dim(dim, len(input.shape), "topk")
    if not 0 <= k <= (input.shape[d] if input.shape else 1):
        raise RuntimeError(f"topk: selected index k out of range, got k={k} for dimension {d} of shape {list(input.shape)}")
    shape = tuple(k if i == d else n for i, n in enumerate(input.shape))
    return Meta(shape, input.dtype), Meta(shape, np.int64)


@composite("reduction", out="same")
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k greatest elements along a dimension, in order, as (values, indices).

    >>> import tenfold
    >>> tenfold.topk(tenfold.tensor([3, 9, 2]), 2).values
    tensor([9, 3])
    """
    return return_types.topk(*_topk(input, k, dim, largest, sorted))


@primitive("reduction", accepts=ordered("kthvalue", bools=False), method=None, name="kthvalue_pair")
def _kthvalue(input: Tensor, k: int, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """The k-th least element along a dimension and its position: what `kthvalue` runs.

    >>> import tenfold
    >>> tenfold.op.kthvalue_pair(tenfold.tensor([3, 9, 2]), 2, 0, False)
    (tensor(3), tensor(0))
    """


@_kthvalue.rule
def _(input: Any, k: int, dim: int, keepdim: bool) -> tuple[Meta, Meta]:
    d = wrap_dim(dim, len(input.shape), "kthvalue")
    size = input.shape[d] if input.shape else 1
    if size == 0:
        raise IndexError(f"kthvalue(): Expected reduction dim {d} to have non-zero size.")
    if not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {d}: got k={k}, accepted are 1 to {size}")
    return located_rule("kthvalue")(input, dim, keepdim)


@composite("reduction", out="same")
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th least element along a dimension, counted from 1, as (values, indices).

    >>> import tenfold
    >>> tenfold.kthvalue(tenfold.tensor([3, 9, 2]), 2).values
    tensor(3)
    """
    if not input.dim() and input.dtype.category in (0, 3) and wrap_dim(dim, 0, "kthvalue") == 0 and k == 1:
        return return_types.kthvalue(input.clone(), op.zeros((), dtype=int64, device=input.device))
    return return_types.kthvalue(*_kthvalue(input, int(k), wrap_dim(dim, input.dim(), "kthvalue"), keepdim))


# Distinct values


@primitive("reduction", method=None, name="unique_parts", no_derivative="distinct values have no derivative in PyTorch")
def unique_parts(input: Tensor, dim: int | None, consecutive: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Distinct elements (or slices), which of them each element is, and how often each occurs.

    >>> import tenfold
    >>> tenfold.op.unique_parts(tenfold.tensor([3, 1, 3]), None, False)
    (tensor([1, 3]), tensor([1, 0, 1]), tensor([1, 2]))
    """


@unique_parts.rule
def _(input: Any, dim: int | None, consecutive: bool) -> tuple[Meta, Meta, Meta]:
    if dim is not None:
        wrap_dim(dim, len(input.shape), "unique")
    raise DataDependent("unique: the result's shape depends on the data, which a meta tensor does not have")


def existing(dim: int, input: Tensor, name: str) -> int:
    """A dimension counted from the front, of a tensor whose slices along it have elements to compare."""
    if not input.dim():
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    found = wrap_dim(dim, input.dim(), name)
    empty = [n for n in input.shape if not n]
    if empty and input.shape[found]:
        raise RuntimeError(f"{name}: There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    if len(empty) > 1:
        raise RuntimeError(f"{name}: Number of zero sized dimensions is more than one, so unique cannot be applied")
    return found


def wanted(parts: Any, return_inverse: bool, return_counts: bool) -> Any:
    result = [parts[0]] + [parts[1]] * return_inverse + [parts[2]] * return_counts
    return result[0] if len(result) == 1 else tuple(result)


@composite("reduction", accepts="bool integer floating", no_derivative="distinct values have no derivative in PyTorch")
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The distinct elements in order, or with `dim` the distinct slices; optionally with inverse and counts.

    >>> import tenfold
    >>> tenfold.unique(tenfold.tensor([3, 1, 3]), return_counts=True)[1]
    tensor([1, 2])
    """
    dim = None if dim is None else existing(dim, input, "unique")
    return wanted(unique_parts(input, dim, False), return_inverse, return_counts)


# Binary search


@primitive("reduction", accepts=ordered("searchsorted"), method=None, name="search_positions", nondifferentiable=_POSITION)
def _search(sorted_sequence: Tensor, input: Tensor, right: bool, out_int32: bool) -> Tensor:
    """Insertion points of the values into sorted rows: what `searchsorted` and `bucketize` run.

    >>> import tenfold
    >>> tenfold.op.search_positions(tenfold.tensor([1, 3, 5]), tenfold.tensor([0, 4]), False, False)
    tensor([0, 2])
    """


@_search.rule
def _(sorted_sequence: Any, input: Any, right: bool, out_int32: bool) -> Meta:
    rows = tuple(sorted_sequence.shape[:-1])
    if not sorted_sequence.shape:
        raise RuntimeError("searchsorted: boundaries tensor should have at least one dimension, but got a 0-d tensor")
    if rows and rows != tuple(input.shape[:-1]):
        raise RuntimeError(
            "searchsorted: boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input "
            "value tensor must match, a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor {list(sorted_sequence.shape)} and input value tensor {list(input.shape)}"
        )
    return Meta(input.shape, np.int32 if out_int32 else np.int64)


@composite("reduction", method=None, out="same")
def searchsorted(
    sorted_sequence: Tensor, input: Tensor | Number, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Where the values would be inserted into sorted rows to keep their order. Dtype: int64, or int32 on request.

    >>> import tenfold
    >>> tenfold.searchsorted(tenfold.tensor([1, 3, 5]), 3, right=True)
    tensor(2)
    """
    if side is not None:
        if side not in ("left", "right"):
            raise RuntimeError(f"searchsorted: side can only be 'left' or 'right' but got {side}")
        if side == "left" and right:
            raise RuntimeError("searchsorted: side and right can't be set to opposites, got side of left while right was True")
        right = side == "right"
    if sorter is not None:
        sorted_sequence = sorted_sequence.gather(-1, sorter)
    x: Any = input
    if not isinstance(input, Tensor):
        x = op.full((), input, dtype=of_values((sorted_sequence, input)), device=sorted_sequence.device)
    elif not x.dim():
        x = x.to(of_values((sorted_sequence, x)))
    if not (x.dtype.category or sorted_sequence.dtype.category) and x.numel():  # beside numbers bool counts as 0 and 1
        raise NotImplementedError("\"searchsorted\" not implemented for 'Bool': convert to an integer dtype")
    for what, given in (("boundary", sorted_sequence), ("input value", x)):
        if not given.is_contiguous():
            warn_once(what, f"searchsorted(): {what} tensor is non-contiguous, which is slower")
    return _search(sorted_sequence, x, right, out_int32)
