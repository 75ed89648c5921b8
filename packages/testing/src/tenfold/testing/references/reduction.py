"""Reductions, scans and statistics under Tenfold's parameter names."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.testing.references import NO_SPECIAL, REFERENCES

Array = Any


def axes(input: Array, dim: Any) -> Any:
    """NumPy's axis: None for all elements, and for a tensor without dimensions."""
    return None if dim is None or dim == () or not np.ndim(input) else dim


def over(function: Any) -> Any:
    """A NumPy reduction with Tenfold's parameters."""

    def reference(input: Array, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
        return function(input, axis=axes(input, dim), keepdims=keepdim)

    return reference


def moment(root: bool, with_mean: bool) -> Any:
    """Variance or standard deviation, perhaps with the mean."""

    def reference(
        input: Array, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, correction: Any = None
    ) -> Any:
        ddof = correction if correction is not None else int(unbiased is None or unbiased)
        function = np.std if root else np.var
        spread = function(input, axis=axes(input, dim), ddof=ddof, keepdims=keepdim)
        return (spread, np.mean(input, axis=axes(input, dim), keepdims=keepdim)) if with_mean else spread

    return reference


def logsumexp(input: Array, dim: Any, keepdim: bool = False) -> Array:
    if not np.size(input):
        return np.log(np.exp(input).sum(axes(input, dim), keepdims=keepdim))
    top = np.max(input, axis=axes(input, dim), keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    return np.log(np.exp(input - top).sum(axes(input, dim), keepdims=keepdim)) + top.reshape(
        np.sum(input, axis=axes(input, dim), keepdims=keepdim).shape
    )


def norm(input: Array, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    ord = 2 if ord == "fro" else ord
    size, axis = np.abs(input), axes(input, dim)
    if abs(ord) == np.inf:
        return (np.max if ord > 0 else np.min)(size, axis=axis, keepdims=keepdim)
    if ord == 0:
        return np.not_equal(size, 0).sum(axis=axis, keepdims=keepdim).astype(np.float64)
    return (size**ord).sum(axis=axis, keepdims=keepdim) ** (1 / ord)


def cdist(x1: Array, x2: Array, p: float = 2.0, compute_mode: Any = None) -> Array:
    return norm(x1[..., :, None, :] - x2[..., None, :, :], p, -1)


def renorm(input: Array, p: float, dim: int, maxnorm: float) -> Array:
    others = tuple(d for d in range(input.ndim) if d != dim % input.ndim)
    size = norm(input, p, others, keepdim=True)
    return input * np.where(size > maxnorm, maxnorm / (size + 1e-7), 1)


def extreme(largest: bool) -> Any:
    """Values and the places where they are first met; the value alone without a dimension."""

    def reference(input: Array, dim: int | None = None, keepdim: bool = False, other: Any = None) -> Any:
        value, place = (np.max, np.argmax) if largest else (np.min, np.argmin)
        if dim is None:
            return value(input)
        axis = axes(input, dim)
        return value(input, axis=axis, keepdims=keepdim), place(input, axis=axis, keepdims=keepdim)

    return reference


def aminmax(input: Array, dim: int | None = None, keepdim: bool = False) -> tuple[Array, Array]:
    return tuple(f(input, axis=axes(input, dim), keepdims=keepdim) for f in (np.min, np.max))


def order(input: Array, dim: int = -1, descending: bool = False) -> Array:
    """Places in ascending or descending order; equal elements stay in theirs, NaN is above all."""
    if not np.ndim(input):
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(input, axis=dim, kind="stable")
    last = input.shape[dim] - 1
    return last - np.flip(np.argsort(np.flip(input, dim), axis=dim, kind="stable"), dim)


def sort(input: Array, dim: int = -1, descending: bool = False, stable: Any = None) -> tuple[Array, Array]:
    places = order(input, dim, descending)
    return (np.take_along_axis(input, places, dim) if np.ndim(input) else input), places


def topk(input: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Array, Array]:
    values, places = sort(input, dim, largest)
    chosen = np.arange(k)
    return np.take(values, chosen, dim), np.take(places, chosen, dim)


def at_rank(input: Array, rank: Any, dim: int, keepdim: bool) -> tuple[Array, Array]:
    values, places = sort(input, dim)
    picked = np.take(values, [rank], dim), np.take(places, [rank], dim)
    return picked if keepdim else tuple(np.squeeze(p, dim) for p in picked)  # type: ignore[return-value]


def each_row(function: Any, input: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """What `function` says of every row along a dimension: a value, and its place or None."""
    if not np.ndim(input):
        return input, np.zeros((), np.int64)
    rows = np.moveaxis(input, dim, -1)
    found = [function(rows[at]) for at in np.ndindex(*rows.shape[:-1])]
    shape = np.sum(input, axis=dim, keepdims=keepdim).shape
    chosen, places = zip(*found, strict=True) if found else ((), ())
    values = np.asarray(chosen, input.dtype).reshape(shape)
    return values, None if None in places else np.asarray(places, np.int64).reshape(shape)


def middle(skip_nan: bool) -> Any:
    """The lower middle of a row without its NaN, or NaN where one counts."""

    def of_row(row: Array) -> tuple[Any, int]:
        missing = np.isnan(row) if row.dtype.kind == "f" else np.zeros(row.shape, bool)
        if missing.all() or (missing.any() and not skip_nan):
            return np.nan, int(missing.argmax())
        place = np.argsort(row, kind="stable")[((~missing).sum() - 1) // 2]
        return row[place], int(place)

    return of_row


def median(skip_nan: bool) -> Any:
    def reference(input: Array, dim: int | None = None, keepdim: bool = False) -> Any:
        if dim is None:
            return each_row(middle(skip_nan), np.reshape(input, -1), 0, False)[0]
        return each_row(middle(skip_nan), input, dim, keepdim)

    return reference


def mode(input: Array, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent value, the smallest of several; which of its places is named is open."""

    def of_row(row: Array) -> tuple[Any, None]:
        found, counts = np.unique(row, return_counts=True)
        return found[counts.argmax()], None

    return each_row(of_row, input, dim, keepdim)


def scan_extreme(largest: bool) -> Any:
    """The running extreme, and the last place that has it."""

    def reference(input: Array, dim: int) -> tuple[Array, Array]:
        if not np.ndim(input):
            return input, np.zeros((), np.int64)
        rows = np.moveaxis(input, dim, -1)
        values, places = rows.copy(), np.zeros(rows.shape, np.int64)
        for i in range(1, rows.shape[-1]):
            x, best = rows[..., i], values[..., i - 1]
            better = np.isnan(x) | (x >= best if largest else x <= best)
            values[..., i] = np.where(better, x, best)
            places[..., i] = np.where(better, i, places[..., i - 1])
        return np.moveaxis(values, -1, dim), np.moveaxis(places, -1, dim)

    return reference


def scan(ufunc: Any) -> Any:
    def reference(input: Array, dim: int, dtype: Any = None) -> Array:
        wide = input.astype(np.int64) if input.dtype.kind in "biu" else input
        return ufunc.accumulate(wide, axis=dim) if np.ndim(input) else wide

    return reference


def logcumsumexp(input: Array, dim: int) -> Array:
    if not np.ndim(input):
        return input
    return np.log(np.exp(input).cumsum(dim)) if np.iscomplexobj(input) else np.logaddexp.accumulate(input, axis=dim)


def sum_to_size(input: Array, size: tuple[int, ...]) -> Array:
    lead = input.ndim - len(size)
    kept = tuple(lead + d for d, n in enumerate(size) if n == 1 and input.shape[lead + d] != 1)
    return input.sum((*range(lead), *kept)).reshape(size) if lead or kept else input


def unique(input: Array, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    options: Any = {"return_inverse": return_inverse, "return_counts": return_counts, "axis": dim}
    return np.unique(input, **options)


def unique_consecutive(input: Array, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    flat = input.reshape(-1)
    starts = np.concatenate([[True], flat[1:] != flat[:-1]]) if flat.size else np.zeros(0, bool)
    groups = np.cumsum(starts) - 1
    parts = [flat[starts], *([groups.reshape(input.shape)] * return_inverse)]
    parts += [np.bincount(groups, minlength=int(starts.sum()))] * return_counts
    return tuple(parts) if len(parts) > 1 else parts[0]


def search(sorted_sequence: Array, input: Array, right: bool = False, out_int32: bool = False, **options: Any) -> Array:
    return np.searchsorted(sorted_sequence, input, "right" if right or options.get("side") == "right" else "left")


def diff(input: Array, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Array:
    parts = [part for part in (prepend, input, append) if part is not None]
    joined = np.concatenate(parts, dim)
    return np.diff(joined, n, dim)


REFERENCES |= {
    "nansum": lambda input, dim=None, keepdim=False: over(np.nansum)(
        input.astype(np.int64) if input.dtype.kind in "biu" else input, dim, keepdim
    ),
    "nanmean": over(np.nanmean),
    "count_nonzero": lambda input, dim=None: np.count_nonzero(input, axis=axes(input, dim)),
    "logsumexp": logsumexp,
    "var": moment(root=False, with_mean=False),
    "std": moment(root=True, with_mean=False),
    "var_mean": moment(root=False, with_mean=True),
    "std_mean": moment(root=True, with_mean=True),
    "vector_norm": norm,
    "norm": lambda input, p="fro", dim=None, keepdim=False, dtype=None: norm(input, p, dim, keepdim),
    "dist": lambda input, other, p=2: norm(input - other, p),
    "cdist": cdist,
    "renorm": renorm,
    "max_dim": extreme(largest=True),
    "min_dim": extreme(largest=False),
    "max": extreme(largest=True),
    "min": extreme(largest=False),
    "aminmax": aminmax,
    "sort_pair": sort,
    "sort": sort,
    "argsort": lambda input, dim=-1, descending=False, stable=False: order(input, dim, descending),
    "msort": lambda input: np.sort(input, axis=0, kind="stable") if np.ndim(input) else input,
    "topk_pair": topk,
    "topk": topk,
    "kthvalue_pair": lambda input, k, dim, keepdim: at_rank(input, k - 1, dim, keepdim),
    "kthvalue": lambda input, k, dim=-1, keepdim=False: at_rank(input, k - 1, dim, keepdim),
    "median_value": lambda input, skip_nan: median(skip_nan)(input),
    "median_dim": lambda input, dim, keepdim, skip_nan: median(skip_nan)(input, dim, keepdim),
    "median": median(skip_nan=False),
    "nanmedian": median(skip_nan=True),
    "mode_pair": mode,
    "mode": mode,
    "cumsum": scan(np.add),
    "cumprod": scan(np.multiply),
    "logcumsumexp": logcumsumexp,
    "cummax_pair": scan_extreme(largest=True),
    "cummin_pair": scan_extreme(largest=False),
    "cummax": scan_extreme(largest=True),
    "cummin": scan_extreme(largest=False),
    "diff": diff,
    "sum_to_size": sum_to_size,
    "unique": unique,
    "unique_consecutive": unique_consecutive,
    "unique_parts": lambda input, dim, consecutive: np.unique(input, return_inverse=True, return_counts=True),
    "search_positions": search,
    "searchsorted": search,
    "bucketize": lambda input, boundaries, out_int32=False, right=False: search(boundaries, input, right),
    "bincount": lambda input, weights=None, minlength=0: np.bincount(input.astype(np.int64), weights, minlength),
}
_PLACES = "which of equal numbers is named is open"
NO_SPECIAL |= {
    "kthvalue_pair": _PLACES,
    "kthvalue": _PLACES,
    "topk_pair": _PLACES,
    "topk": _PLACES,
}
