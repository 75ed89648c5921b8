"""Samples of attention over sequences of different lengths, and of its gradient."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NamedTuple

import tenfold
from tenfold.dispatch.operators import op
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples
from tenfold.testing.samples.attention import FLOATS, SAVED


class Case(NamedTuple):
    """Lengths of queries and of keys, heads, features of keys and of values, the window."""

    queries: list[int]
    keys: list[int]
    heads: tuple[int, ...] = (2,)
    E: int = 4
    V: int = 4
    left: int = -1
    right: int = -1
    scale: float | None = None


CASES = {
    "one sequence": Case([3], [3]),
    "other lengths": Case([2, 3], [4, 1], V=2),
    "causal": Case([2, 3], [2, 3], right=0, scale=0.3),
    "causal, fewer keys than queries": Case([3, 1], [2, 2], right=0),
    "window": Case([4, 2], [5, 2], (1,), 2, 3, 1, 1),
    "window of one side": Case([3, 2], [4, 3], (1,), 2, 2, 1, -1),
    "empty sequences, without keys": Case([0, 2, 1], [2, 0, 3], (1,), 2, 2),
    "two dimensions of heads": Case([2, 1], [1, 2], (2, 1), 2, 2),
    "no heads": Case([2, 1], [1, 2], (), 2, 2),
}
BATCHED = "its bodies read the tables, which may not differ between examples"
MORE = 1  # rows of each tensor that belong to no sequence


def _starts(make: Make, lengths: list[int]) -> Any:
    return make.of([0, *accumulate(lengths)], dtype=tenfold.int32)


def _given(make: Make, case: Case) -> tuple[Any, ...]:
    """(query, key, value, cu_seq_q, cu_seq_k)"""
    T, S = sum(case.queries) + MORE, sum(case.keys) + MORE
    three = make(T, *case.heads, case.E), make(S, *case.heads, case.E), make(S, *case.heads, case.V)
    return (*three, _starts(make, case.queries), _starts(make, case.keys))


def _rest(case: Case) -> tuple[Any, ...]:
    return max(case.queries), max(case.keys), case.scale, case.left, case.right


@samples("fused_varlen_attention", dtypes=FLOATS, no_batching=BATCHED)
def _fused(make: Make) -> Iterator[Sample]:
    for note, case in CASES.items():
        yield Sample(*_given(make, case), None, *_rest(case), note=note)
    case = CASES["other lengths"]
    yield Sample(*_given(make, case), make.of([2, 0], dtype=tenfold.int32), *_rest(case), note="fewer keys in use")


@samples("fused_varlen_attention_grad", dtypes=FLOATS, related=SAVED, no_batching=BATCHED)
def _fused_grad(make: Make) -> Iterator[Sample]:
    for note, case in CASES.items():
        given = _given(make, case)
        out, sums = op.fused_varlen_attention(*given, None, *_rest(case))
        yield Sample(make(*out.shape), *given[:3], out, sums, *given[3:], *_rest(case), note=note)


@samples("fused_paged_attention", dtypes=FLOATS, no_batching=BATCHED)
def _paged(make: Make) -> Iterator[Sample]:
    used, pages = make.of([3, 1], dtype=tenfold.int32), make.of([[2, 0], [1, -1]], dtype=tenfold.int32)
    for own, left, right in ((2, -1, -1), (1, 1, 0)):
        query, key, value = make(4, 2, 4), make(3, 2, own, 4), make(3, 2, own, 3)
        given = (query, key, value, _starts(make, [2, 1]), used, pages)
        yield Sample(*given, 2, 3, None, left, right, note=f"{own} heads of keys, window {left} {right}")


@error_samples("fused_paged_attention")
@error_samples("fused_varlen_attention")
@error_samples("fused_varlen_attention_grad")
def _no_tensor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")
