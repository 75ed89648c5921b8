"""Samples of sequences, choices of elements and matrices put together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples


@samples("logspace", reference=lambda start, end, steps, **keyword: np.logspace(start, end, steps))
def _logspace(make: Make) -> Iterator[Sample]:
    for arguments in ((0, 1, 5), (1.0, -1.0, 4), (0, 1, 0)):
        yield Sample(*arguments, device=make.device, note=f"{arguments}")


@samples("cartesian_prod")
def _cartesian_prod(make: Make) -> Iterator[Sample]:
    yield Sample(make(2), make(3))
    yield Sample(make(2), note="one")


@samples("block_diag")
def _block_diag(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 2), make(1, 3), make(2))


@samples("vander")
def _vander(make: Make) -> Iterator[Sample]:
    yield Sample(make(3))
    yield Sample(make(3), 2, note="N")
    yield Sample(make(3), increasing=True, note="increasing")


error_samples("vander")(lambda make: [ErrorSample(make(2, 2), error=RuntimeError, match="one-dimensional")])


@samples("combinations")
def _combinations(make: Make) -> Iterator[Sample]:
    for n, r in ((4, 2), (3, 3), (2, 3), (3, 0), (0, 2)):
        yield Sample(make(n), r, note=f"{r} of {n}")
    yield Sample(make(3), 2, True, note="with replacement")
    yield Sample(make(3, layout="strided"), note="strided")


error_samples("combinations")(lambda make: [ErrorSample(make(2, 2), error=RuntimeError, match="1D vector")])
