"""What operators that reduce are to the kernel of folds.py, and which calls go elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod
from typing import Any

from tenfold import return_types
from tenfold.cuda.kernels.argument_types import TYPE_OF
from tenfold.cuda.kernels.folds import PLANS, Fold, Plan, PlanOfPairs, folded, planned
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.shape_rules import wrap_dims
from tenfold.ops.reduction.statistics import spread_arguments


def reduction(fold: Fold, otherwise: Callable[..., Any], rule: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """An operator's kernel (input, dim, keepdim): by the plan of such calls, or by another function.

    `rule` gets the arguments of a call that was not seen before, to refuse it. Means and the like are of floats.
    """
    mean = fold.end == "mean"
    kinds = "fV" if mean or fold.fold == "powers" else "biufV"
    if fold.fold == "product" or (fold.fold == "sum" and not fold.map) or fold.map == "other than 0":
        kinds += "c"

    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        if type(dim) is list:
            dim = tuple(dim)
        kind: Any = type(dim)
        if kind is tuple:
            kind = tuple(map(type, dim))  # (True,) equals (1,), and is refused
        try:
            key = (fold, input.dtype, input.shape, input.strides, dim, kind, keepdim)
            plan = PLANS.get(key, key)
        except TypeError:  # of what is no dimension
            return otherwise(input, dim, keepdim)
        if plan is key:
            make = PlanOfPairs if input.dtype.kind == "c" else Plan
            known = make is PlanOfPairs or input.dtype in TYPE_OF
            if not _is_plain(dim) or not known or input.dtype.kind not in kinds or not input.size:
                return otherwise(input, dim, keepdim)
            if rule is not None:
                rule(Meta(input.shape, input.dtype), dim, keepdim)
            dims = wrap_dims(dim, input.ndim)
            count = prod(input.shape[d] for d in dims) if mean and input.ndim else 1
            plan = planned(key, lambda: make(fold, input, dims if input.ndim else (), keepdim, count, 1.0))
        return otherwise(input, dim, keepdim) if plan is None else plan(input)

    return run


def _is_plain(dim: Any) -> bool:
    return dim is None or type(dim) is int or (type(dim) is tuple and all(type(d) is int for d in dim))


NORMS = {  # by the order: (what is taken of an element, how they are folded, the end, the least)
    2.0: ("square", "sum", "root", 0), 1.0: ("size", "sum", "", 0), 0.0: ("other than 0", "sum", "", 0),
    inf: ("size", "top", "", 0), -inf: ("size", "top", "", 1), 0.5: ("root", "sum", "square", 0),
    3.0: ("cube", "sum", "inverse power", 0),
}  # fmt: skip


def norm(x: Any, order: Any, dim: Any, keepdim: bool) -> Any:
    """The vector norm; None for what the kernel does not serve."""
    if x.dtype.kind not in "fVc" or not x.size:
        return None
    dims = wrap_dims(dim, x.ndim)
    order = float(order)
    if order and (not x.ndim or all(x.shape[d] == 1 for d in dims)):
        order = inf  # of one number it is its size, which no power takes out of range
    taken, fold, end, least = NORMS.get(order, ("power", "sum", "inverse power", 0))
    return folded(Fold(fold, taken, end, least), x, dims, keepdim, 1.0, order)


def spread(end: str, x: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
    """A variance or deviation; NotImplemented for the body, which says what is wrong."""
    dim, correction = spread_arguments(dim, unbiased, correction)
    if x.dtype.kind not in "fV" or not x.size:
        return NotImplemented
    dims = wrap_dims(dim, x.ndim)
    count = prod(x.shape[d] for d in dims) if x.ndim else 1
    if count <= correction:
        return NotImplemented
    found = folded(Fold("moments", end=end), x, dims, keepdim, count - correction)
    return NotImplemented if found is None else found


def spreading(end: str) -> Callable[..., Any]:
    """The kernel of a variance or deviation."""

    def run(input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
        return spread(end, input, dim, unbiased, keepdim, correction)

    return run


def normed(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of vector norms."""

    def run(input: Any, ord: Any, dim: Any, keepdim: bool) -> Any:
        found = norm(input, ord, dim, keepdim)
        return otherwise(input, ord, dim, keepdim) if found is None else found

    return run


def logical(least: int, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of any, or (least) of all; over no dimensions, which is not over all of them here, they go elsewhere."""
    fast = reduction(Fold("top", "other than 0", "true", least, result="truth"), otherwise)

    def run(input: Any, dim: Any, keepdim: bool) -> Any:
        return otherwise(input, dim, keepdim) if dim in ((), []) else fast(input, dim, keepdim)

    return run


def counting(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of count_nonzero."""
    fast = reduction(Fold("sum", "other than 0", result="int64"), otherwise)

    def run(input: Any, dim: Any) -> Any:
        return fast(input, dim, False)

    return run


def to_the_body(*arguments: Any) -> Any:
    """For calls that the operator's body serves."""
    return NotImplemented


_range = reduction(Fold("range"), to_the_body)


def both_extremes(input: Any, dim: Any, keepdim: bool) -> Any:
    """The least and the largest number; of no dimensions the body, which refuses an empty sequence."""
    found = NotImplemented if type(dim) in (tuple, list) else _range(input, dim, keepdim)
    return found if found is NotImplemented else return_types.aminmax(*found)


_known = reduction(Fold("sum", "known"), to_the_body)


def nansum(input: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    """The sum of floats that are not NaN."""
    return _known(input, dim, keepdim) if dtype is None and input.dtype.kind in "fV" else NotImplemented
