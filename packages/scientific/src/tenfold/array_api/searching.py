"""Places of elements, order, sets."""

from __future__ import annotations

from typing import Any, NamedTuple

import tenfold
from tenfold import Tensor
from tenfold.array_api.data_types import together


class UniqueAll(NamedTuple):
    """Distinct elements, where each is first, which of them each element is, how often each is there."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """Distinct elements and how often each is there."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """Distinct elements, and which of them each element is."""

    values: Tensor
    inverse_indices: Tensor


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the largest element is."""
    return tenfold.argmax(x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the smallest element is."""
    return tenfold.argmin(x, axis, keepdims)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The places of what is not 0: indices along each axis."""
    if x.ndim == 0:
        raise ValueError("nonzero: an array of 0 dimensions has no places")
    return tuple(tenfold.nonzero(x, as_tuple=True))


def searchsorted(x1: Tensor, x2: Any, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where each of `x2` has to go into the ordered `x1`."""
    row, values = together(x1, x2)
    row = row if sorter is None else row[sorter]
    return tenfold.searchsorted(row.contiguous(), values.contiguous(), side=side)


def where(condition: Tensor, x1: Any, x2: Any, /) -> Tensor:
    """Elements of one array where a condition holds, of the other elsewhere."""
    if not isinstance(x1, Tensor) and not isinstance(x2, Tensor):
        x1 = tenfold.asarray(x1, device=condition.device)
    a, b = together(x1, x2)
    return tenfold.where(condition, a, b)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Tensor:
    """Whether each element of `x1` is one of `x2`."""
    a, b = together(x1, x2)
    return tenfold.isin(a, b, invert=invert)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements in order along an axis."""
    return tenfold.sort(x, dim=axis, descending=descending, stable=stable).values  # type: ignore[no-any-return]


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The places of the elements in order along an axis."""
    return tenfold.argsort(x, dim=axis, descending=descending, stable=stable)


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The given indices of an axis."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: an array of {x.ndim} dimensions needs an axis")
        axis = 0
    wrapped = tenfold.where(indices < 0, indices + x.shape[axis], indices)
    return tenfold.index_select(x, axis, wrapped)


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Of each line along an axis the elements at indices of its own."""
    wrapped = tenfold.where(indices < 0, indices + x.shape[axis], indices)
    return tenfold.take_along_dim(x, wrapped, axis)


def unique_all(x: Tensor, /) -> UniqueAll:
    """Distinct elements with all that there is to know of them; every nan is distinct."""
    values, inverse, counts = tenfold.unique(x, sorted=True, return_inverse=True, return_counts=True)
    places = tenfold.arange(x.numel(), device=x.device)
    first = tenfold.full((len(values),), x.numel(), dtype=tenfold.int64, device=x.device)
    first = first.scatter_reduce(0, inverse.flatten(), places, "amin")
    return UniqueAll(values, first, inverse.reshape(tuple(x.shape)), counts)


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """Distinct elements and how often each is there."""
    return UniqueCounts(*tenfold.unique(x, sorted=True, return_counts=True))


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """Distinct elements, and which of them each element is."""
    values, inverse = tenfold.unique(x, sorted=True, return_inverse=True)
    return UniqueInverse(values, inverse.reshape(tuple(x.shape)))


def unique_values(x: Tensor, /) -> Tensor:
    """Distinct elements."""
    return tenfold.unique(x, sorted=True)  # type: ignore[no-any-return]
