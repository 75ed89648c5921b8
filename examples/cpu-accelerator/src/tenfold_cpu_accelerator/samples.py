"""Samples that are large enough for the compiled loops: with them, conformance checks both sides of every condition."""

from __future__ import annotations

from collections.abc import Iterator

import tenfold
from tenfold.dispatch.operators import op
from tenfold.testing.samples import Make, Sample, more_samples


@more_samples(op.exp)
@more_samples(op.sigmoid)
@more_samples(op.gelu)
def large(make: Make) -> Iterator[Sample]:
    if make.dtype is tenfold.float32:
        yield Sample(make(256, 257), note="large")


@more_samples(op.gelu)
def large_tanh(make: Make) -> Iterator[Sample]:
    if make.dtype is tenfold.float32:
        yield Sample(make(64, 65), approximate="tanh", note="large")


@more_samples(op.softmax)
@more_samples(op.log_softmax)
def large_rows(make: Make) -> Iterator[Sample]:
    if make.dtype is tenfold.float32:
        yield Sample(make(64, 65), 1, note="large")
        yield Sample(make(8, 9, 65), -1, note="large, three dimensions")
