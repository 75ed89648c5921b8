"""Samples of the fused recurrent operators and their gradients: padded and packed steps, both directions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.dispatch.operators import op
from tenfold.testing.samples import Domain, ErrorSample, Make, Sample, error_samples, samples

FLOATS = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64", "float16", "bfloat16", "complex128"))
REALS = FLOATS[:4]
SAVED = "its results of the forward pass are functions of its arguments, so differences in one argument alone mean nothing"
SMALL = Domain(-0.6, 0.6)  # complex sums stay away from the poles of tanh and sigmoid

# Sequences in each step, input size I, state size H, reverse, whether there are biases.
CASES = [
    ([2, 2], 3, 2, False, True),
    ([3, 2, 1], 2, 2, False, True),
    ([3, 2, 1], 2, 2, True, False),
    ([2, 2], 1, 1, True, True),
    ([1], 2, 2, False, False),
]


def _note(sizes: list[int], reverse: bool) -> str:
    return ("padded" if sizes[0] == sizes[-1] else "packed") + (", reverse" if reverse else "")


def _weights(make: Make, gates: int, sizes: list[int], I: int, H: int, biases: bool, out: int = 0) -> tuple[Any, ...]:
    """input, hx, w_ih, w_hh, b_ih, b_hh."""
    shapes = (sum(sizes), I), (sizes[0], out or H), (gates * H, I), (gates * H, out or H)
    vectors = [make(gates * H, domain=SMALL) if biases else None for _ in range(2)]
    return *(make(*shape, domain=SMALL) for shape in shapes), *vectors


@samples("fused_rnn", dtypes=FLOATS)
def _rnn(make: Make) -> Iterator[Sample]:
    for sizes, I, H, reverse, biases in CASES:
        yield Sample(*_weights(make, 1, sizes, I, H, biases), sizes, reverse, False, note=_note(sizes, reverse))
    if make.dtype in REALS:
        yield Sample(*_weights(make, 1, [2, 1], 2, 3, True), [2, 1], False, True, note="relu")
    x, h, *weights = _weights(make, 1, [2, 2], 3, 2, True)
    x, h = make(4, 3, layout="transposed", domain=SMALL), make(2, 2, layout="transposed", domain=SMALL)
    yield Sample(x, h, *weights, [2, 2], False, False, note="strided memory")
    yield Sample(*_weights(make, 1, [0, 0], 3, 2, True), [0, 0], False, False, note="empty batch")


@samples("fused_rnn_grad", dtypes=FLOATS, related=SAVED)
def _rnn_grad(make: Make) -> Iterator[Sample]:
    for sizes, I, H, reverse, biases in CASES:
        given = _weights(make, 1, sizes, I, H, biases)
        for relu in (False, True)[: 1 + (make.dtype in REALS)]:
            out, last = op.fused_rnn(*given, sizes, reverse, relu)
            grads = make(*out.shape), make(*last.shape)
            yield Sample(*grads, given[3], out, sizes, reverse, relu, note=_note(sizes, reverse))


def _lstm_arguments(make: Make, case: Any, projected: bool) -> tuple[Any, ...]:
    sizes, I, H, _, biases = case
    P = max(1, H - 1) if projected else H
    x, h, *weights = _weights(make, 4, sizes, I, H, biases, P)
    return x, h, make(sizes[0], H, domain=SMALL), *weights, make(P, H, domain=SMALL) if projected else None


@samples("fused_lstm", dtypes=FLOATS)
def _lstm(make: Make) -> Iterator[Sample]:
    for case in CASES:
        sizes, reverse = case[0], case[3]
        yield Sample(*_lstm_arguments(make, case, False), sizes, reverse, note=_note(sizes, reverse))
    for case in CASES[:3:2]:
        sizes, reverse = case[0], case[3]
        yield Sample(*_lstm_arguments(make, case, True), sizes, reverse, note=f"{_note(sizes, reverse)}, projected")
    x, h, c, *weights = _lstm_arguments(make, CASES[0], False)
    x, h, c = (
        make(4, 3, layout="transposed", domain=SMALL),
        make(2, 2, layout="transposed", domain=SMALL),
        make(2, 2, layout="transposed", domain=SMALL),
    )
    yield Sample(x, h, c, *weights, CASES[0][0], False, note="strided memory")
    yield Sample(*_lstm_arguments(make, ([0, 0], 3, 2, False, True), False), [0, 0], False, note="empty batch")


@samples("fused_lstm_grad", dtypes=FLOATS, related=SAVED)
def _lstm_grad(make: Make) -> Iterator[Sample]:
    for case in CASES:
        for projected in (False, True):
            given, sizes, reverse = _lstm_arguments(make, case, projected), case[0], case[3]
            *results, gates, cells = op.fused_lstm(*given, sizes, reverse)
            grads = [make(*r.shape) for r in results]
            yield Sample(*grads, *given, gates, cells, sizes, reverse, note=_note(sizes, reverse))


@samples("fused_gru", dtypes=FLOATS)
def _gru(make: Make) -> Iterator[Sample]:
    for sizes, I, H, reverse, biases in CASES:
        yield Sample(*_weights(make, 3, sizes, I, H, biases), sizes, reverse, note=_note(sizes, reverse))
    x, h, *weights = _weights(make, 3, [2, 2], 3, 2, True)
    x, h = make(4, 3, layout="transposed", domain=SMALL), make(2, 2, layout="transposed", domain=SMALL)
    yield Sample(x, h, *weights, [2, 2], False, note="strided memory")
    yield Sample(*_weights(make, 3, [0, 0], 3, 2, True), [0, 0], False, note="empty batch")


@samples("fused_gru_grad", dtypes=FLOATS, related=SAVED)
def _gru_grad(make: Make) -> Iterator[Sample]:
    for sizes, I, H, reverse, biases in CASES:
        given = _weights(make, 3, sizes, I, H, biases)
        out, last, gates = op.fused_gru(*given, sizes, reverse)
        yield Sample(make(*out.shape), make(*last.shape), *given, out, gates, sizes, reverse, note=_note(sizes, reverse))


@error_samples("fused_rnn")
@error_samples("fused_gru")
@error_samples("fused_lstm")
@error_samples("fused_rnn_grad")
@error_samples("fused_gru_grad")
@error_samples("fused_lstm_grad")
def _no_tensor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")
