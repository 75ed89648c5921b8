"""Samples of the reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tenfold.testing.samples import ANY, NONZERO, Domain, ErrorSample, Make, Sample, error_samples, samples

NEAR_ONE = Domain(0.5, 1.5)


def reduction(
    domain: Domain = ANY, *, several: bool = True, empty: bool = True, distinct: bool = False, whole: bool = True, **keyword: Any
) -> Callable[[Make], Iterator[Sample]]:
    """Samples of f(x), f(x, dim) and f(x, dim, keepdim=True).

    `several`: dim may be a tuple; `empty`: empty tensors have a result; `whole`: dim may be left out.
    """

    def generate(make: Make) -> Iterator[Sample]:
        def x(*shape: int, layout: str = "contiguous") -> Any:
            return make(*shape, domain=domain, layout=layout, distinct=distinct)

        if whole:
            for shape in ((), (5,), (2, 3), (67,)):
                yield Sample(x(*shape), note=f"all of {len(shape)}-d", **keyword)
        yield Sample(x(), 0, note="0-d", **keyword)
        yield Sample(x(1, 3), 0, note="a dimension of size 1", **keyword)
        for dim in (0, 1, -1):
            yield Sample(x(2, 3, 4), dim, note="one dimension", **keyword)
            yield Sample(x(2, 3), dim, keepdim=True, note="keepdim", **keyword)
        for layout in ("transposed", "strided", "expanded", "flipped"):
            yield Sample(x(3, 4, layout=layout), 1, note=layout, **keyword)
            if whole and not (distinct and layout == "expanded"):  # ties, at which an extreme has no derivative
                yield Sample(x(3, 4, layout=layout), note=f"all, {layout}", **keyword)
        if several:
            yield Sample(x(2, 3, 4), (0, 2), note="two dimensions", **keyword)
            yield Sample(x(2, 3, 4), (-1, 0), keepdim=True, note="two dimensions, keepdim", **keyword)
            yield Sample(x(2, 3), (), note="no dimension", **keyword)
        yield Sample(x(0, 3), 1, note="empty", **keyword)
        if empty:
            yield Sample(x(0, 3), 0, note="over an empty dimension", **keyword)
            if whole:
                yield Sample(x(0), note="all of an empty tensor", **keyword)

    return generate


def out_of_range(make: Make) -> Iterator[ErrorSample]:
    """Dimensions that the tensor does not have."""
    yield ErrorSample(make(2, 3), 2, error=IndexError, match="Dimension out of range")
    yield ErrorSample(make(2, 3), -3, error=IndexError, match="Dimension out of range")


def out_of_range_or_repeated(make: Make) -> Iterator[ErrorSample]:
    """Also a dimension that is named twice."""
    yield from out_of_range(make)
    yield ErrorSample(make(2, 3), (0, 0), error=RuntimeError, match="appears multiple times")


def _axis(dim: Any) -> Any:
    return None if dim is None or dim == () else dim


def _by(function: Any, widen: bool = False, none: bool = False) -> Any:
    """A NumPy reduction under Tenfold's parameter names. `none`: no dimension means none, as in NumPy."""

    def reference(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        axis = () if none and dim == () else _axis(dim)
        if not np.ndim(input):
            axis = None
        if widen and input.dtype.kind in "biu":
            input = input.astype(np.int64)
        return function(input, axis=axis, keepdims=keepdim)

    return reference


# Operator: (its generator, NumPy's function).
TABLE: dict[str, tuple[Any, Any]] = {
    "sum": (reduction(), _by(np.sum, widen=True)),
    "mean": (reduction(), _by(np.mean)),
    "prod": (reduction(NEAR_ONE, several=False), _by(np.prod, widen=True)),
    "nansum": (reduction(), None),
    "nanmean": (reduction(), None),
    "amax": (reduction(empty=False, distinct=True), _by(np.max)),
    "amin": (reduction(empty=False, distinct=True), _by(np.min)),
    "argmax": (reduction(several=False, empty=False, distinct=True), _by(np.argmax)),
    "argmin": (reduction(several=False, empty=False, distinct=True), _by(np.argmin)),
    "max": (reduction(several=False, empty=False, distinct=True), None),
    "min": (reduction(several=False, empty=False, distinct=True), None),
    "median": (reduction(several=False, empty=False, distinct=True), None),
    "nanmedian": (reduction(several=False, empty=False, distinct=True), None),
    "mode": (reduction(several=False, empty=False), None),
    "all": (reduction(), _by(np.all, none=True)),
    "any": (reduction(), _by(np.any, none=True)),
    "var": (reduction(empty=False), None),
    "std": (reduction(NONZERO, empty=False), None),
    "var_mean": (reduction(empty=False), None),
    "std_mean": (reduction(NONZERO, empty=False), None),
    "logsumexp": (reduction(whole=False), None),
    "count_nonzero": (reduction(), None),
}
SINGLE = ("prod", "argmax", "argmin", "max", "min", "median", "nanmedian", "mode")
NO_KEEPDIM = ("count_nonzero",)
MASKS_OUT_DEGENERATE = ("var", "std", "var_mean", "std_mean")


def _without_keepdim(generator: Any) -> Any:
    return lambda make: (s for s in generator(make) if "keepdim" not in s.kwargs)


def _enough_elements(generator: Any) -> Any:
    """Samples with at least two elements in every reduced slice: one has no variance, and warns."""
    notes = ("0-d", "a dimension of size 1", "all of 0-d")
    return lambda make: (s for s in generator(make) if s.note not in notes)


for _name, (_generator, _reference) in TABLE.items():
    _made = _without_keepdim(_generator) if _name in NO_KEEPDIM else _generator
    _made = _enough_elements(_made) if _name in MASKS_OUT_DEGENERATE else _made
    samples(_name, reference=_reference)(_made)
    error_samples(_name)(out_of_range if _name in SINGLE else out_of_range_or_repeated)


@error_samples("mean")
def _mean_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make.ints(2, low=0, high=3), error=RuntimeError, match="floating point or complex dtype")


def cumulative(make: Make) -> Iterator[Sample]:
    """Samples of f(x, dim) that keeps the shape."""
    for shape, dim in (((5,), 0), ((2, 3), 1), ((2, 3), -2), ((), 0), ((0, 3), 0), ((2, 3, 4), 1)):
        yield Sample(make(*shape, domain=NEAR_ONE), dim, note=f"{len(shape)}-d")
    for layout in ("transposed", "strided", "expanded", "flipped"):
        yield Sample(make(3, 4, layout=layout, domain=NEAR_ONE), 1, note=layout)


def cumulative_distinct(make: Make) -> Iterator[Sample]:
    for shape, dim in (((5,), 0), ((2, 3), 1), ((2, 3), -2), ((), 0), ((0, 3), 0), ((2, 3, 4), 1)):
        yield Sample(make(*shape, distinct=True), dim, note=f"{len(shape)}-d")
    yield Sample(make(3, 4, layout="transposed", distinct=True), 1, note="transposed")


for _name, _generator in {
    "cumsum": cumulative,
    "cumprod": cumulative,
    "logcumsumexp": cumulative,
    "cummax": cumulative_distinct,
    "cummin": cumulative_distinct,
}.items():
    samples(_name)(_generator)
    error_samples(_name)(out_of_range)


def _sorting(make: Make) -> Iterator[Sample]:
    for shape, dim in (((5,), 0), ((2, 3), 1), ((2, 3), 0), ((), 0), ((0, 3), 1), ((2, 3, 4), -2)):
        yield Sample(make(*shape, distinct=True), dim=dim, note=f"{len(shape)}-d")
        yield Sample(make(*shape, distinct=True), dim=dim, descending=True, note="descending")
    yield Sample(make(3, 4, layout="transposed", distinct=True), note="transposed")
    yield Sample(make(4, 4, layout="strided", distinct=True), note="strided")


for _name in ("sort", "argsort", "msort"):
    samples(_name)(
        (lambda make: (Sample(s.args[0], note=s.note) for s in _sorting(make) if s.args[0].dim()))
        if _name == "msort"
        else _sorting
    )


@error_samples("sort")
@error_samples("argsort")
def _sort_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), dim=2, error=IndexError, match="Dimension out of range")


@samples("topk")
def _topk(make: Make) -> Iterator[Sample]:
    for shape, k, keyword in (
        ((5,), 2, {}),
        ((3, 4), 3, {}),
        ((3, 4), 1, {"dim": 0}),
        ((3, 4), 2, {"largest": False}),
        ((0, 3), 2, {}),
    ):
        yield Sample(make(*shape, distinct=True), k, **keyword)
    yield Sample(make(3, 4, distinct=True, layout="transposed"), 2, note="transposed")


@error_samples("topk")
def _topk_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), 4, error=RuntimeError, match="out of range")


@samples("kthvalue")
def _kthvalue(make: Make) -> Iterator[Sample]:
    for shape, k, keyword in (((5,), 2, {}), ((3, 4), 3, {}), ((3, 4), 1, {"dim": 0}), ((3, 4), 2, {"keepdim": True})):
        yield Sample(make(*shape, distinct=True), k, **keyword)


@error_samples("kthvalue")
def _kthvalue_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), 4, error=RuntimeError, match="out of range")


error_samples("msort")(lambda make: [ErrorSample([1.0], error=TypeError, match="argument 'input'")])
