"""Samples of pooling: over windows of a fixed size, to a given size, at random places, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.dispatch.operators import op
from tenfold.testing.samples import NONZERO, POSITIVE, ErrorSample, Make, Sample, error_samples, samples

FLOATS = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64", "float16", "bfloat16"))
REAL = (*FLOATS, tenfold.int64)
S = (3, 5, 6)  # the sizes of the last one, two or three dimensions

WINDOWS: list[dict[str, Any]] = [
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": 1, "padding": 1},
    {"kernel_size": 2, "stride": 2, "ceil_mode": True},
    {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
]


def _windows(n: int, more: list[dict[str, Any]]) -> Any:
    """Samples of an operator that slides windows over n dimensions; `distinct` values, so that no two are largest."""

    def generate(make: Make) -> Iterator[Sample]:
        size = S[-n:]
        for keywords in WINDOWS + more:
            note = ", ".join(f"{k}={v}" for k, v in keywords.items())
            yield Sample(make(1, 2, *size, distinct=True), note=note, **keywords)
        yield Sample(make(2, *size, distinct=True), 2, note="unbatched")
        yield Sample(make(0, 2, *size), 2, note="empty batch")
        yield Sample(make(1, 2, *size, distinct=True, layout="transposed"), (2,) * n, (1,) * n, note="strided memory")

    return generate


def _window_errors(n: int) -> Any:
    def generate(make: Make) -> Iterator[ErrorSample]:
        x = make(1, 2, *S[-n:])
        yield ErrorSample(make(*S[-n:][1:]), 2, error=RuntimeError, match="Expected")
        yield ErrorSample(make(1, 0, *S[-n:]), 2, error=RuntimeError, match="Expected")
        yield ErrorSample(x, 2, padding=2, error=RuntimeError, match="at most half")
        yield ErrorSample(x, 0, error=RuntimeError, match="kernel size")
        yield ErrorSample(x, 2, 0, error=RuntimeError, match="stride")
        yield ErrorSample(x, 9, error=RuntimeError, match="too small")
        yield ErrorSample(x, (2,) * (n + 1), error=RuntimeError, match="kernel_size")

    return generate


DILATED: list[dict[str, Any]] = [
    {"kernel_size": 2, "stride": 1, "dilation": 2},
    {"kernel_size": 2, "return_indices": True},
]
AVERAGES: list[dict[str, Any]] = [{"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}]
for _n in (1, 2, 3):
    samples(f"max_pool{_n}d", dtypes=REAL)(_windows(_n, DILATED))
    _divided = [{"kernel_size": 2, "divisor_override": 3}] if _n > 1 else []
    samples(f"avg_pool{_n}d", dtypes=REAL)(_windows(_n, AVERAGES + _divided))
    for _name in (f"max_pool{_n}d", f"avg_pool{_n}d"):
        error_samples(_name)(_window_errors(_n))


@error_samples("avg_pool2d")
@error_samples("avg_pool3d")
def _divisor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(1, 3, 3, 3), 2, divisor_override=0, error=RuntimeError, match="divisor")


def _power_means(n: int) -> Any:
    def generate(make: Make) -> Iterator[Sample]:
        size = S[-n:]
        yield Sample(make(1, 2, *size, domain=POSITIVE), 2, 2)
        yield Sample(make(1, 2, *size, domain=POSITIVE), 1.0, 3, 2, note="p 1")
        yield Sample(make(1, 2, *size, domain=POSITIVE), 3.0, 2, 1, True, note="p 3")
        yield Sample(make(1, 1, *size, domain=NONZERO), 2, 2, note="negative values")
        yield Sample(make(2, *size, domain=POSITIVE), 2, 2, note="unbatched")
        yield Sample(make(0, 2, *size), 2, 2, note="empty batch")
        yield Sample(make(1, 2, *size, domain=POSITIVE, layout="transposed"), 2, 2, note="strided memory")

    return generate


def _power_errors(n: int) -> Any:
    def generate(make: Make) -> Iterator[ErrorSample]:
        yield ErrorSample(make(2), 2, 2, error=RuntimeError, match="Expected")
        yield ErrorSample(make(1, 2, *S[-n:]), 2, 9, error=RuntimeError, match="too small")

    return generate


for _n in (1, 2, 3):
    samples(f"lp_pool{_n}d", dtypes=FLOATS)(_power_means(_n))
    error_samples(f"lp_pool{_n}d")(_power_errors(_n))


# The general operators: shape, kernel, stride, padding, dilation.
GENERAL: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = [
    ((7,), (2,), (2,), (0,), (1,)),
    ((2, 6), (3,), (1,), (1,), (2,)),
    ((1, 2, 4, 4), (2, 2), (2, 2), (0, 0), (1, 1)),
    ((2, 5, 4), (3, 2), (2, 1), (1, 1), (1, 2)),
    ((1, 3, 3, 4), (2, 2, 2), (1, 1, 2), (0, 1, 1), (1, 1, 1)),
    ((0, 4, 4), (2, 2), (2, 2), (0, 0), (1, 1)),
]


@samples("max_pool", dtypes=REAL)
def _max_pool(make: Make) -> Iterator[Sample]:
    for shape, *steps in GENERAL:
        for ceil_mode in (False, True):
            yield Sample(make(*shape, distinct=True), *steps, ceil_mode, note="empty" if 0 in shape else "")
    yield Sample(make(2, 4, 4, distinct=True, layout="strided"), (2, 2), (2, 2), (0, 0), (1, 1), False, note="strided memory")
    if make.dtype in FLOATS and make.dtype is not tenfold.float64:  # which is that of derivatives; NaN has none
        yield Sample(make.of([1.0, float("nan"), 3.0, 2.0]), (2,), (1,), (0,), (1,), False, note="NaN")


@samples("max_pool_grad", dtypes=FLOATS)
def _max_pool_grad(make: Make) -> Iterator[Sample]:
    for shape, *steps in GENERAL:
        _, indices = op.max_pool(make(*shape, distinct=True), *steps, False)
        yield Sample(make(*indices.shape), indices, shape, len(steps[0]), note="empty" if 0 in shape else "")
    yield Sample(make(2, 3, layout="transposed"), make.ints(2, 3, low=0, high=5, layout="strided"), (2, 5), 1, note="strided")


@samples("avg_pool", dtypes=FLOATS)
def _avg_pool(make: Make) -> Iterator[Sample]:
    for shape, kernel, stride, padding, _ in GENERAL:
        for rest in ((False, True, None), (True, False, None), (True, True, 3)):
            yield Sample(make(*shape), kernel, stride, padding, *rest, note="empty" if 0 in shape else "")
    yield Sample(make(2, 4, 4, layout="strided"), (2, 2), (2, 2), (0, 0), False, True, None, note="strided memory")


@samples("avg_pool_grad", dtypes=FLOATS)
def _avg_pool_grad(make: Make) -> Iterator[Sample]:
    for shape, kernel, stride, padding, _ in GENERAL:
        for rest in ((False, True, None), (True, False, None), (True, True, 3)):
            sizes = op.avg_pool(make(*shape), kernel, stride, padding, *rest).shape
            yield Sample(make(*sizes), shape, kernel, stride, padding, *rest, note="empty" if 0 in shape else "")
    yield Sample(make(2, 2, 2, layout="transposed"), (2, 4, 4), (2, 2), (2, 2), (0, 0), False, True, None, note="strided memory")


@error_samples("max_pool")
@error_samples("avg_pool")
@error_samples("max_pool_grad")
@error_samples("avg_pool_grad")
@error_samples("adaptive_avg_pool")
@error_samples("adaptive_max_pool")
@error_samples("adaptive_avg_pool_grad")
def _no_tensor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")


# To a given size


def _adaptive(n: int, indices: bool) -> Any:
    def generate(make: Make) -> Iterator[Sample]:
        size = S[-n:]
        yield Sample(make(1, 2, *size, distinct=True), 2)
        yield Sample(make(1, 2, *size, distinct=True), 4, note="windows overlap")
        yield Sample(make(1, 2, *size, distinct=True), (3,) * n, note="sizes per dimension")
        yield Sample(make(2, *size, distinct=True), 1, note="unbatched")
        yield Sample(make(0, 2, *size), 2, note="empty batch")
        yield Sample(make(1, 2, *size, distinct=True, layout="transposed"), 2, note="strided memory")
        if n > 1:
            yield Sample(make(1, 2, *size, distinct=True), (None, 2, 1)[:n], note="None keeps a size")
        if indices:
            yield Sample(make(1, 2, *size, distinct=True), 2, True, note="with indices")

    return generate


def _adaptive_errors(n: int) -> Any:
    def generate(make: Make) -> Iterator[ErrorSample]:
        yield (
            ErrorSample(make(2), 2, error=RuntimeError, match="Expected")
            if n > 1
            else ErrorSample(make(), 2, error=RuntimeError, match="Expected")
        )
        yield ErrorSample(make(1, 2, *[0] * n), 2, error=RuntimeError, match="non-zero")
        yield ErrorSample(make(1, 2, *S[-n:]), (2,) * (n + 1), error=RuntimeError, match="output_size")
        yield ErrorSample(make(1, 2, *S[-n:]), -1, error=RuntimeError, match="output_size")

    return generate


for _n in (1, 2, 3):
    samples(f"adaptive_avg_pool{_n}d", dtypes=FLOATS)(_adaptive(_n, False))
    samples(f"adaptive_max_pool{_n}d", dtypes=FLOATS)(_adaptive(_n, True))
    for _name in (f"adaptive_avg_pool{_n}d", f"adaptive_max_pool{_n}d"):
        error_samples(_name)(_adaptive_errors(_n))

SIZES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((5,), (2,)),
    ((2, 4), (3,)),
    ((1, 2, 4, 6), (2, 3)),
    ((2, 5, 3), (3, 5)),
    ((1, 3, 4, 2), (2, 3, 1)),
    ((0, 4, 4), (2, 2)),
]


@samples("adaptive_avg_pool", dtypes=FLOATS)
@samples("adaptive_max_pool", dtypes=FLOATS)
def _to_size(make: Make) -> Iterator[Sample]:
    for shape, size in SIZES:
        yield Sample(make(*shape, distinct=True), size, note="empty" if 0 in shape else "")
    yield Sample(make(2, 4, 6, distinct=True, layout="transposed"), (2, 3), note="strided memory")


@samples("adaptive_avg_pool_grad", dtypes=FLOATS)
def _adaptive_grad(make: Make) -> Iterator[Sample]:
    for shape, size in SIZES:
        grad = (*shape[: len(shape) - len(size)], *size)
        yield Sample(make(*grad), shape, len(size), note="empty" if 0 in shape else "")
    yield Sample(make(2, 2, 3, layout="transposed"), (2, 4, 6), 2, note="strided memory")


# At random places


def _fractional(n: int) -> Any:
    def generate(make: Make) -> Iterator[Sample]:
        size = (6, 5, 4)[:n]
        spots = make(1, 2, n, low=0.1, high=0.9)
        yield Sample(make(1, 2, *size, distinct=True), 2, output_size=2, _random_samples=spots)
        yield Sample(make(1, 2, *size, distinct=True), (1,) * n, output_ratio=0.5, _random_samples=spots, note="ratio")
        yield Sample(make(1, 2, *size, distinct=True), 2, (2,) * n, None, True, spots, note="with indices")
        yield Sample(make(2, *size, distinct=True), 2, output_size=1, _random_samples=spots, note="unbatched")
        yield Sample(make(1, 2, *size, distinct=True), 2, output_size=2, note="places drawn")

    return generate


def _fractional_errors(n: int) -> Any:
    def generate(make: Make) -> Iterator[ErrorSample]:
        size = (6, 5, 4)[:n]
        yield ErrorSample(make(1, 2, *size), 2, error=ValueError, match="output_size")
        yield ErrorSample(make(2), 2, 2, error=RuntimeError, match="Expected")
        yield ErrorSample(make(1, 2, *size), 2, 9, error=RuntimeError, match="too large")

    return generate


for _n in (2, 3):
    samples(f"fractional_max_pool{_n}d", dtypes=FLOATS, random=True)(_fractional(_n))
    error_samples(f"fractional_max_pool{_n}d")(_fractional_errors(_n))


@samples("fused_fractional_max_pool", dtypes=FLOATS)
def _fractional_windows(make: Make) -> Iterator[Sample]:
    for size, taps, outs in (((6, 5), (2, 3), (3, 2)), ((5, 4), (2, 2), (1, 3)), ((6, 5, 4), (2, 1, 2), (2, 3, 2))):
        spots = make(3, 2, len(size), low=0.1, high=0.9)
        yield Sample(make(3, 2, *size, distinct=True), spots, taps, outs)
        yield Sample(make(2, *size, distinct=True), spots, taps, outs, note="unbatched")
        yield Sample(make(3, 2, *size, distinct=True, layout="transposed"), spots, taps, outs, note="strided memory")


@error_samples("fused_fractional_max_pool")
def _fractional_windows_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], make(1, 1, 2), (2, 2), (1, 1), error=TypeError, match="argument")


# Back


def _unpooling(n: int) -> Any:
    def generate(make: Make) -> Iterator[Sample]:
        size = (2, 3, 2)[:n]
        for lead in ((1, 2), (2,)):
            count = 2**n  # one element of each window's; windows do not overlap, so no two meet
            shape = (*lead, *size)
            where = _first_of_windows(make, shape, n)
            yield Sample(make(*shape), where, 2, note="unbatched" if len(lead) == 1 else f"of {count}")
        where = _first_of_windows(make, (1, 2, *size), n)
        larger = tuple(2 * s + 1 for s in size)
        yield Sample(make(1, 2, *size), where, 2, 2, 0, larger, note="output_size")
        yield Sample(make(1, 2, *size, layout="transposed"), where, (2,) * n, note="strided memory")

    return generate


def _first_of_windows(make: Make, shape: tuple[int, ...], n: int) -> Any:
    """The flat indices of the first elements of windows of size 2."""
    size = shape[-n:]
    grids = np.meshgrid(*[np.arange(s) * 2 for s in size], indexing="ij")
    flat = np.ravel_multi_index(tuple(grids), tuple(2 * s for s in size))
    return make.of(np.broadcast_to(flat, shape), dtype=tenfold.int64)


def _unpooling_errors(n: int) -> Any:
    def generate(make: Make) -> Iterator[ErrorSample]:
        size = (2, 3, 2)[:n]
        x, where = make(1, 2, *size), _first_of_windows(make, (1, 2, *size), n)
        yield ErrorSample(x, where[0], 2, error=RuntimeError, match="indices")
        yield ErrorSample(x, where.to(tenfold.int32), 2, error=RuntimeError, match="int64")
        yield ErrorSample(x, where + 1000, 2, error=RuntimeError, match="invalid max index")
        yield ErrorSample(x, where, 2, output_size=(40,) * n, error=ValueError, match="output_size")
        yield ErrorSample(x, where, (2,) * (n + 1), error=RuntimeError, match="kernel_size")

    return generate


for _n in (1, 2, 3):
    samples(f"max_unpool{_n}d", dtypes=FLOATS)(_unpooling(_n))
    error_samples(f"max_unpool{_n}d")(_unpooling_errors(_n))
