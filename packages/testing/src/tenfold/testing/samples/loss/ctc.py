"""Samples of connectionist temporal classification."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.dispatch.operators import op
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples
from tenfold.testing.samples.loss.classes import REDUCTIONS

DTYPES = (tenfold.float32, tenfold.float64)
ON_THE_HOST = "the lengths and labels lead the way through the sum"
OF_LOGITS = "by PyTorch's definition it is the gradient for the logits of a log-softmax, not for log_probs"
SAVED = "losses and alpha are functions of the scores, so differences in one argument alone mean nothing"
NO_FORMULA = "a sum over all alignments has no short formula; its tests compare with PyTorch's"


@samples(
    "ctc_loss",
    dtypes=DTYPES,
    data_dependent=ON_THE_HOST,
    no_gradient=OF_LOGITS,
)
def _ctc_loss(make: Make) -> Iterator[Sample]:
    T, N, C = 5, 2, 4
    for reduction in REDUCTIONS:
        scores = op.log_softmax(make(T, N, C), 2)
        labels, lengths = make.ints(N, 2, low=1, high=C), make.of([2, 1], dtype=tenfold.int64)
        yield Sample(scores, labels, make.of([T, T - 1], dtype=tenfold.int64), lengths, reduction=reduction, note=reduction)
    scores = op.log_softmax(make(T, N, C), 2)
    yield Sample(scores, make.ints(3, low=1, high=C), (T, T), (2, 1), note="labels one after the other")
    yield Sample(scores, make.ints(N, 2, low=0, high=C - 1), (T, T), (2, 2), C - 1, note="blank")
    yield Sample(scores, make.of([[1, 1], [2, 2]], tenfold.int64), (2, T), (2, 2), 0, "none", True, note="infinite, as zero")
    yield Sample(scores[:, 0], make.ints(2, low=1, high=C), T, 2, note="unbatched")
    yield Sample(scores, make.ints(N, 2, low=1, high=C), (T, T), (0, 2), note="no labels")


@error_samples("ctc_loss")
def _ctc_errors(make: Make) -> Iterator[ErrorSample]:
    scores, labels = op.log_softmax(make(5, 2, 4), 2), make.ints(2, 2, low=1, high=4)
    yield ErrorSample(scores, labels, (5, 5), (2, 2), 4, error=RuntimeError, match="blank")
    yield ErrorSample(scores, labels, (5,), (2, 2), error=RuntimeError, match="input_lengths")
    yield ErrorSample(scores, labels, (5, 6), (2, 2), error=RuntimeError, match="input_lengths")
    yield ErrorSample(scores, labels, (5, 5), (2, -1), error=RuntimeError, match="target_lengths")
    yield ErrorSample(scores, labels, (5, 5), (2, 2), reduction="product", error=ValueError, match="product")


def _cases(make: Make) -> Iterator[tuple[str, tuple[Any, ...]]]:
    T, N, C = 5, 2, 4
    scores = op.log_softmax(make(T, N, C), 2)

    def sizes(*numbers: int) -> Any:
        return make.of(list(numbers), dtype=tenfold.int64)

    yield "labels", (scores, make.ints(N, 2, low=1, high=C), sizes(T, T - 1), sizes(2, 1), 0, False)
    yield "blank", (scores, make.ints(N, 3, low=0, high=C - 1), sizes(T, T), sizes(2, 2), C - 1, False)
    yield "repeats", (scores, make.of([[1, 1], [2, 2]], tenfold.int64), sizes(T, 3), sizes(2, 2), 0, False)
    yield "infinite, as zero", (scores, make.of([[1, 1], [2, 2]], tenfold.int64), sizes(2, T), sizes(2, 2), 0, True)
    yield "no labels", (scores, make.ints(N, 2, low=1, high=C), sizes(T, T), sizes(0, 2), 0, False)
    yield "no steps", (scores, make.ints(N, 2, low=1, high=C), sizes(0, T), sizes(0, 2), 0, False)
    turned = op.log_softmax(make(N, T, C), 2).transpose(0, 1)
    yield "strided", (turned, make.ints(N, 2, low=1, high=C), sizes(T, T - 1), sizes(2, 1), 0, False)


@samples("fused_ctc", dtypes=DTYPES, data_dependent=ON_THE_HOST, no_gradient=OF_LOGITS, no_reference=NO_FORMULA)
def _fused(make: Make) -> Iterator[Sample]:
    for note, case in _cases(make):
        yield Sample(*case, note=note)


@samples("fused_ctc_grad", dtypes=DTYPES, data_dependent=ON_THE_HOST, related=SAVED, no_reference=NO_FORMULA)
def _fused_grad(make: Make) -> Iterator[Sample]:
    for note, case in _cases(make):
        yield Sample(make(2), *case[:4], *op.fused_ctc(*case), *case[4:], note=note)


@error_samples("fused_ctc")
@error_samples("fused_ctc_grad")
def _no_tensor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")
