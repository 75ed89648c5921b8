"""Samples of attention, and of the fused operator and gradient that it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.dispatch.operators import op
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

FLOATS = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64", "float16", "bfloat16"))
SAVED = "its results of the forward pass are functions of its arguments, so differences in one argument alone mean nothing"

# Leading sizes, queries T, keys S, size of queries and keys E, of values V.
SIZES: list[tuple[tuple[int, ...], int, int, int, int]] = [
    ((), 2, 3, 4, 4),
    ((2,), 3, 2, 2, 3),
    ((1, 2), 3, 3, 2, 2),
    ((0,), 2, 2, 2, 2),
]


def _three(make: Make, size: tuple[tuple[int, ...], int, int, int, int], layout: str = "contiguous") -> tuple[Any, Any, Any]:
    lead, T, S, E, V = size
    return make(*lead, T, E, layout=layout), make(*lead, S, E, layout=layout), make(*lead, S, V, layout=layout)


def _mask(make: Make, *shape: int) -> Any:
    """Every query sees the first key."""
    seen = make.bools(*shape)
    return seen | (op.arange(shape[-1], device=make.device) == 0)


def _note(size: Any) -> str:
    return "empty batch" if 0 in size[0] else f"{len(size[0]) + 2}-d"


@samples("scaled_dot_product_attention", dtypes=FLOATS)
def _attention(make: Make) -> Iterator[Sample]:
    for size in SIZES:
        lead, T, S = size[:3]
        yield Sample(*_three(make, size), note=_note(size))
        yield Sample(*_three(make, size), is_causal=True, scale=0.3, note=f"{_note(size)}, causal")
        yield Sample(*_three(make, size), _mask(make, T, S), note=f"{_note(size)}, mask")
        yield Sample(*_three(make, size), make(*lead, T, S), note=f"{_note(size)}, added mask")
    q, k, v = make(2, 4, 3, 2), make(2, 2, 3, 2), make(2, 2, 3, 2)
    yield Sample(q, k, v, enable_gqa=True, note="fewer heads of keys and values")
    yield Sample(make(2, 3, 2), make(3, 2), make(1, 3, 2), note="broadcast")
    yield Sample(*_three(make, SIZES[2], "transposed"), note="strided memory")


@samples("fused_attention", dtypes=FLOATS)
def _fused(make: Make) -> Iterator[Sample]:
    for size in SIZES:
        T, S = size[1:3]
        yield Sample(*_three(make, size), None, False, None, note=_note(size))
        yield Sample(*_three(make, size), None, True, 0.3, note=f"{_note(size)}, causal")
        yield Sample(*_three(make, size), _mask(make, T, S), False, None, note=f"{_note(size)}, mask")
    nothing = make.of([[True, False, True], [False, False, False]], dtype=tenfold.bool)
    yield Sample(*_three(make, SIZES[0]), nothing, False, None, note="a query that sees nothing")
    yield Sample(*_three(make, SIZES[2], "transposed"), None, False, None, note="strided memory")


@samples("fused_attention_grad", dtypes=FLOATS, related=SAVED)
def _fused_grad(make: Make) -> Iterator[Sample]:
    for size in SIZES:
        T, S = size[1:3]
        for mask, causal, scale in ((None, False, None), (None, True, 0.3), (_mask(make, T, S), False, None)):
            q, k, v = _three(make, size)
            out, sums = op.fused_attention(q, k, v, mask, causal, scale)
            yield Sample(make(*out.shape), q, k, v, out, sums, mask, causal, scale, note=_note(size))


def _words(make: Make) -> Any:
    return make.of([3, 5], dtype=tenfold.int64)


@samples("fused_dropped_attention", dtypes=FLOATS)
def _dropped(make: Make) -> Iterator[Sample]:
    for size in SIZES:
        T, S = size[1:3]
        yield Sample(*_three(make, size), None, _words(make), 0.4, False, None, note=_note(size))
        yield Sample(*_three(make, size), _mask(make, T, S), _words(make), 0.4, False, 0.3, note=f"{_note(size)}, mask")
    yield Sample(*_three(make, SIZES[2], "transposed"), None, _words(make), 1.0, True, None, note="all are dropped")


@samples("fused_attention_weights", dtypes=FLOATS, related=SAVED)
def _weights(make: Make) -> Iterator[Sample]:
    for size in SIZES[2:]:
        T, S = size[1:3]
        for mask in (None, _mask(make, T, S), make(T, S)):
            for words, average, wide in ((None, True, False), (_words(make), False, True), (_words(make), True, False)):
                q, k, v = _three(make, size)
                sums = op.fused_attention(q, k, v, mask, False, None)[1]
                note = f"{_note(size)}{', mean' * average}{', dropout' * (words is not None)}"
                yield Sample(q, k, sums, mask, words, 0.4 * (words is not None), average, wide, note=note)
    q, k, v = _three(make, SIZES[2], "transposed")
    sums = op.fused_attention(q, k, v, None, False, None)[1]
    yield Sample(q, k, sums, None, None, 0.0, True, False, note="strided memory")


@samples("fused_dropped_attention_grad", dtypes=FLOATS, related=SAVED)
def _dropped_grad(make: Make) -> Iterator[Sample]:
    for size in SIZES:
        for mask, causal, scale in ((None, True, 0.3), (_mask(make, *size[1:3]), False, None)):
            q, k, v = _three(make, size)
            out, sums = op.fused_dropped_attention(q, k, v, mask, _words(make), 0.4, causal, scale)
            yield Sample(make(*out.shape), q, k, v, out, sums, mask, _words(make), 0.4, causal, scale, note=_note(size))


@error_samples("scaled_dot_product_attention")
def _attention_errors(make: Make) -> Iterator[ErrorSample]:
    q, k, v = _three(make, SIZES[1])
    yield ErrorSample(q, make(2, 2, 3), v, error=RuntimeError, match="expected query")
    yield ErrorSample(q, k, make(2, 5, 3), error=RuntimeError, match="expected query")
    yield ErrorSample(make(2), k, v, error=RuntimeError, match="expected query")
    yield ErrorSample(q, k.to(tenfold.float64), v, error=RuntimeError, match="same dtype")
    yield ErrorSample(q, k, v, make(3, 2), is_causal=True, error=RuntimeError, match="is_causal")
    yield ErrorSample(q, k, v, make.ints(3, 2, low=0, high=2), error=RuntimeError, match="attn_mask")
    yield ErrorSample(q, k, v, make(2, 3), error=RuntimeError, match="size of tensor")
    yield ErrorSample(q, k, v, make(2, *q.shape[:-1], k.shape[-2]), error=RuntimeError, match="broadcast")
    yield ErrorSample(make(2, 3, 3, 2), make(2, 2, 3, 2), make(2, 2, 3, 2), enable_gqa=True, error=RuntimeError, match="heads")


@error_samples("fused_attention")
@error_samples("fused_attention_grad")
@error_samples("fused_attention_weights")
@error_samples("fused_dropped_attention")
@error_samples("fused_dropped_attention_grad")
def _no_tensor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")
