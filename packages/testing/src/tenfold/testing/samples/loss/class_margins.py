"""Samples of the losses of margins between scores that are one operator where a device has a kernel for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.testing.references.loss import multi_margin, multilabel_margin
from tenfold.testing.samples import PROBABILITY, ErrorSample, Make, Sample, error_samples, samples
from tenfold.testing.samples.loss.pairwise import FLOATS, REDUCTIONS, SCORES

_GRADIENT = "it is a gradient, which is compared with that of the loss's body"


def _classes(make: Make) -> Iterator[tuple[Any, ...]]:
    for reduction in REDUCTIONS:
        yield make(4, 3, domain=SCORES), make.ints(4, low=0, high=3), None, 1, 1.0, reduction
        yield make(4, 3, domain=SCORES), make.ints(4, low=0, high=3), make(3, domain=PROBABILITY), 2, 0.95, reduction
    yield make(3, domain=SCORES), make.ints(low=0, high=3), None, 2, 1.0, "none"
    yield make(4, 3, domain=SCORES, layout="transposed"), make.ints(4, low=0, high=3, layout="strided"), None, 1, 1.0, "sum"


@samples("fused_class_margins", dtypes=FLOATS, constants=("weight",), reference=lambda *given: multi_margin(
    given[0], given[1], given[3], given[4], given[2], given[5]))  # fmt: skip
def _class_margins(make: Make) -> Iterator[Sample]:
    for case in _classes(make):
        yield Sample(*case, note=f"{case[5]}, {case[3]}")


@samples("fused_class_margins_grad", dtypes=FLOATS, no_reference=_GRADIENT)
def _class_margins_grad(make: Make) -> Iterator[Sample]:
    for case in _classes(make):
        yield Sample(make(*(case[1].shape if case[5] == "none" else ())), *case, note=f"{case[5]}, {case[3]}")


def _labels(make: Make) -> Iterator[tuple[Any, ...]]:
    labels = make.of([[2, 0, -1, 3], [1, -1, 0, 0], [-1, 2, 2, 2]], dtype=tenfold.int64)
    for reduction in REDUCTIONS:
        yield make(3, 4, domain=SCORES), labels, reduction
    yield make(4, domain=SCORES), labels[0], "none"
    yield make(3, 4, domain=SCORES, layout="transposed"), labels, "sum"


@samples("fused_label_margins", dtypes=FLOATS, reference=multilabel_margin)
def _label_margins(make: Make) -> Iterator[Sample]:
    for case in _labels(make):
        yield Sample(*case, note=case[2])


@samples("fused_label_margins_grad", dtypes=FLOATS, no_reference=_GRADIENT)
def _label_margins_grad(make: Make) -> Iterator[Sample]:
    for case in _labels(make):
        yield Sample(make(*(case[0].shape[:-1] if case[2] == "none" else ())), *case, note=case[2])


@error_samples("fused_class_margins")
@error_samples("fused_class_margins_grad")
@error_samples("fused_label_margins")
@error_samples("fused_label_margins_grad")
def _no_tensor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")
