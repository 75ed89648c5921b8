"""Samples of approximate decompositions."""

from __future__ import annotations

from collections.abc import Iterator

import tenfold
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

FLOATS = (tenfold.float32, tenfold.float64)
PHASE = "vectors are free up to their sign, and drawn numbers decide it"

for _name in ("svd_lowrank", "pca_lowrank"):

    @samples(_name, dtypes=FLOATS, random=True, no_gradient=PHASE, no_batching=PHASE, no_forward=PHASE, no_special=PHASE)
    def _lowrank(make: Make) -> Iterator[Sample]:
        yield Sample(make(5, 3), 2)
        yield Sample(make(2, 3, 4), 3, note="wide, a batch")

    @error_samples(_name)
    def _lowrank_errors(make: Make) -> Iterator[ErrorSample]:
        yield ErrorSample(make(3, 2), 4, error=ValueError, match="not greater than min")
