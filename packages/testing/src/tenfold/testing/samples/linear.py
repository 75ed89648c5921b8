"""Samples of the affine and bilinear maps, and of the distances."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold import op
from tenfold.testing.references.reduction import cdist
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

FLOATS = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64", "float16", "bfloat16"))
INEXACT = (*FLOATS, *(tenfold.types.dtypes.BY_NAME[n] for n in ("complex64", "complex128")))


def _affine(input: Any, weight: Any, bias: Any = None) -> Any:
    product = input @ weight.T
    return product if bias is None else product + bias


@samples("linear", reference=_affine, dtypes=(*INEXACT, tenfold.int64))
def _linear(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 3), make(4, 3), make(4))
    yield Sample(make(2, 3), make(4, 3))
    yield Sample(make(3), make(4, 3), make(4), note="one row")
    yield Sample(make(2, 2, 3), make(1, 3), bias=make(1), note="leading dimensions")
    yield Sample(make(2, 3), make(3), note="weight is a vector")
    yield Sample(make(2, 3), make(3), make(), note="weight is a vector, with bias")
    for input, weight in (((0, 3), (2, 3)), ((2, 0), (4, 0)), ((2, 3), (0, 3))):
        yield Sample(make(*input), make(*weight), make(weight[0]), note="empty")
    yield Sample(make(4, 3, layout="transposed"), make(2, 3, layout="strided"), make(2, layout="flipped"), note="strided memory")
    yield Sample(make(2, 3, 4, layout="expanded"), make(2, 4, layout="transposed"), note="expanded")


@error_samples("linear")
def _linear_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(4, 2), error=RuntimeError, match="multiplied")
    yield ErrorSample(make(), make(4, 2), error=RuntimeError, match="")
    yield ErrorSample(make(2, 3), make(4, 3), make(3), error=RuntimeError, match="")
    yield ErrorSample(make(2, 3), make.ints(4, 3, low=0, high=3), error=RuntimeError, match="dtype")


def _activated(input: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1, use_gelu: bool = False) -> Any:
    return np.maximum(beta * input + alpha * (mat1 @ mat2), 0)


@samples("_addmm_activation", reference=_activated, dtypes=FLOATS)
def _addmm_activation(make: Make) -> Iterator[Sample]:
    yield Sample(make(4), make(2, 3), make(3, 4))
    yield Sample(make(2, 4), make(2, 3, layout="transposed"), make(3, 4, layout="strided"), beta=0.5, alpha=2.0, note="factors")
    yield Sample(make(4), make(0, 3), make(3, 4), note="empty")


@error_samples("_addmm_activation")
def _addmm_activation_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(4), make(2, 3), make(2, 4), error=RuntimeError, match="multiplied")


def _eight(make: Make, *shape: int) -> Any:
    return make(*shape).to(tenfold.float8_e4m3fn)


def _scaled(input: Any, mat2: Any, scale_a: Any, scale_b: Any, bias: Any = None, *more: Any, out_dtype: Any = None) -> Any:
    product = (input.astype("f4") * scale_a) @ (mat2.astype("f4") * scale_b)
    return product if bias is None else product + bias


@samples("_scaled_mm", reference=_scaled, dtypes=(FLOATS[0],))
def _scaled_mm(make: Make) -> Iterator[Sample]:
    one, half = tenfold.tensor(1.0), tenfold.tensor(0.5)
    to: dict[str, Any] = {"out_dtype": tenfold.float32}
    yield Sample(_eight(make, 16, 32), _eight(make, 16, 32).t(), one, half, **to)
    yield Sample(_eight(make, 16, 32), _eight(make, 16, 32).t(), make(16, 1), make(1, 16), make(16), **to, note="rows")


@error_samples("_scaled_mm")
def _scaled_mm_errors(make: Make) -> Iterator[ErrorSample]:
    one = tenfold.tensor(1.0)
    yield ErrorSample(_eight(make, 16, 32), _eight(make, 16, 32), one, one, error=RuntimeError, match="multiplied")
    yield ErrorSample(make(16, 32), make(32, 16), one, one, error=ValueError, match="scaling")


def _grouped(input: Any, mat2: Any, offs: Any = None, *more: Any) -> Any:
    if offs is None:
        return input @ mat2
    offs = [int(end) for end in offs]
    starts = [0, *offs[:-1]]
    if input.ndim == mat2.ndim:
        return np.stack([input[:, a:b] @ mat2[a:b] for a, b in zip(starts, offs)])
    out = np.zeros((input.shape[-2], mat2.shape[-1]), input.dtype)
    for g, (a, b) in enumerate(zip(starts, offs)):
        if input.ndim == 2:
            out[a:b] = input[a:b] @ mat2[g]
        else:
            out[:, a:b] = input[g] @ mat2[:, a:b]
    return out


@samples("_grouped_mm", reference=_grouped, dtypes=(FLOATS[0], *FLOATS[2:]), data_dependent="offsets are read")
def _grouped_mm(make: Make) -> Iterator[Sample]:
    ends = make.of([2, 2, 5], dtype=tenfold.int32)
    yield Sample(make(6, 4), make(3, 4, 8), ends, note="rows")
    yield Sample(make(3, 4, 8), make(8, 6), ends, note="columns")
    yield Sample(make(4, 6), make(6, 8), ends, note="sums")
    yield Sample(make(3, 2, 4), make(3, 4, 5), note="stacks")
    yield Sample(make(6, 4, layout="transposed"), make(3, 4, 8, layout="strided"), ends, note="strided memory")
    yield Sample(make(0, 4), make(3, 4, 8), 0 * ends, note="empty")


@error_samples("_grouped_mm")
def _grouped_mm_errors(make: Make) -> Iterator[ErrorSample]:
    ends = make.of([2, 2, 5], dtype=tenfold.int32)
    yield ErrorSample(make(6, 4), make(3, 4, 8), error=RuntimeError, match="offsets")
    yield ErrorSample(make(6, 4), make(3, 5, 8), ends, error=RuntimeError, match="contraction")
    yield ErrorSample(make(6, 4), make(2, 4, 8), ends, error=RuntimeError, match="batch sizes")


@samples("_int_mm", reference=lambda a, b: a.astype("i4") @ b.astype("i4"), dtypes=(tenfold.int8,))
def _int_mm(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 4), make(4, 5))
    yield Sample(make(3, 300, layout="transposed"), make(300, 2, layout="strided"), note="strided memory")
    yield Sample(make(0, 4), make(4, 5), note="empty")


@error_samples("_int_mm")
def _int_mm_errors(make: Make) -> Iterator[ErrorSample]:
    left, right = (make.ints(3, 4, low=0, high=3, dtype=tenfold.int8) for _ in range(2))
    yield ErrorSample(left, right, error=RuntimeError, match="match")
    yield ErrorSample(make(3, 4), make(4, 3), error=RuntimeError, match="int8")


def _bilinear_form(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    form = np.einsum("...i,oij,...j->...o", input1, weight, input2)
    return form if bias is None else form + bias


@samples("bilinear", reference=_bilinear_form, dtypes=INEXACT)
def _bilinear(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 3), make(2, 2), make(4, 3, 2), make(4))
    yield Sample(make(3), make(2), make(1, 3, 2), note="one row")
    yield Sample(make(2, 2, 3), make(2, 2, 2), make(2, 3, 2), make(2), note="leading dimensions")
    yield Sample(make(0, 3), make(0, 2), make(4, 3, 2), make(4), note="empty")
    yield Sample(
        make(2, 3, layout="transposed"), make(2, 2, layout="strided"), make(4, 3, 2, layout="transposed"), note="strided"
    )


@error_samples("bilinear")
def _bilinear_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(3, 2), make(4, 3, 2), error=RuntimeError, match="bilinear")
    yield ErrorSample(make(2, 3), make(2, 2), make(4, 2, 3), error=RuntimeError, match="bilinear")
    yield ErrorSample(make(2, 3), make(2, 2), make(4, 3, 2), make(3), error=RuntimeError, match="")


def _cosine(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    lengths = [np.maximum(np.linalg.norm(x, axis=dim), eps) for x in np.broadcast_arrays(x1, x2)]
    return (x1 * x2).sum(dim) / (lengths[0] * lengths[1])


@samples("cosine_similarity", reference=_cosine, dtypes=FLOATS)
def _cosine_similarity(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 4), make(3, 4))
    yield Sample(make(4), make(4), dim=0, note="vectors")
    yield Sample(make(2, 1, 3), make(4, 3), dim=-1, note="broadcast")
    yield Sample(make(0, 3), make(0, 3), note="empty")
    yield Sample(make(3, 4, layout="transposed"), make(3, 4, layout="strided"), note="strided memory")


@error_samples("cosine_similarity")
def _cosine_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(2, 4), error=RuntimeError, match="match")
    yield ErrorSample(make.ints(2, 3, low=0, high=3), make.ints(2, 3, low=0, high=3), error=RuntimeError, match="floating point")
    yield ErrorSample(make(2, 3), make(2, 3), dim=4, error=IndexError, match="range")


@samples("pairwise_distance", dtypes=FLOATS)
def _pairwise_distance(make: Make) -> Iterator[Sample]:
    for p in (2.0, 1.0, 3.0, float("inf")):
        yield Sample(make(3, 4), make(3, 4), p, note=f"p {p}")
    yield Sample(make(3, 4), make(1, 4), keepdim=True, eps=0.1, note="broadcast")
    yield Sample(make(4), make(4), note="vectors")
    yield Sample(make(0, 4), make(0, 4), note="empty")
    yield Sample(make(3, 4, layout="transposed"), make(3, 4, layout="flipped"), note="strided memory")


@error_samples("pairwise_distance")
def _pairwise_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(2, 4), error=RuntimeError, match="match")


@samples("pdist", dtypes=tuple(d for d in FLOATS if d.itemsize > 2))
def _pdist(make: Make) -> Iterator[Sample]:
    for p in (2.0, 1.0, 3.0, float("inf")):
        yield Sample(make(4, 3), p, note=f"p {p}")
    for shape in ((1, 3), (0, 3), (3, 0)):
        yield Sample(make(*shape), note="no pairs" if shape[1] else "no columns")
    yield Sample(make(4, 3, layout="transposed"), note="strided memory")


@error_samples("pdist")
def _pdist_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), error=RuntimeError, match="2D")
    yield ErrorSample(make(3, 2), -1.0, error=RuntimeError, match="non-negative")


def _row_pairs(make: Make) -> Iterator[tuple[Any, ...]]:
    for kind in ("cosine", "distance", "smooth"):
        for shape in ((3, 4), (2, 1, 3), (5,), (0, 3)):
            yield make(*shape), make(*shape), kind, 1e-6
        yield make(3, 4, layout="transposed"), make(3, 4, layout="strided"), kind, 1e-6
    for p in (1.0, 0.5, 3.0, float("inf")):
        yield make(2, 4), make(2, 4), "distance", 1e-6, p


@samples("fused_row_pairs", dtypes=FLOATS, reference=lambda *given: (_of_rows(*given), None))
def _fused_row_pairs(make: Make) -> Iterator[Sample]:
    for case in _row_pairs(make):
        yield Sample(*case, note=case[2])


def _of_rows(x1: Any, x2: Any, kind: str, eps: float, p: float = 2.0) -> Any:
    if kind == "distance":
        sizes = np.abs(x1 - x2 + eps)
        return sizes.max(-1) if p == np.inf else (sizes**p).sum(-1) ** (1 / p)
    if kind == "smooth":
        return (x1 * x2).sum(-1) / np.prod([np.sqrt((x * x).sum(-1) + eps) for x in (x1, x2)], 0)
    return (x1 * x2).sum(-1) / np.prod([np.maximum(np.sqrt((x * x).sum(-1)), eps) for x in (x1, x2)], 0)


@samples(
    "fused_row_pairs_grad",
    dtypes=FLOATS,
    related="the result and the lengths are functions of the rows",
    no_reference="it is a gradient, which is compared with that of the operator's body",
)
def _fused_row_pairs_grad(make: Make) -> Iterator[Sample]:
    for case in _row_pairs(make):
        result, lengths = op.fused_row_pairs(*case)
        yield Sample(make(*result.shape), *case[:2], result, lengths, *case[2:], note=case[2])


@error_samples("fused_row_pairs")
@error_samples("fused_row_pairs_grad")
def _no_rows(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")


def _all_pairs(make: Make) -> Iterator[tuple[Any, ...]]:
    for p in (0.0, 1.0, 1.5, 2.0, 3.0, math.inf):
        yield make(3, 4), make(2, 4), p, False
        yield make(3, 4), None, p, False
    yield make(2, 3, 4), make(2, 2, 4), 2.0, True
    yield make(3, 4, layout="transposed"), make(2, 4, layout="strided"), 2.0, False
    yield make(0, 4), make(2, 4), 2.0, False


def _distances(x1: Any, x2: Any, p: float, product: bool) -> Any:
    if x2 is None:
        return cdist(x1, x1, p)[np.triu_indices(len(x1), 1)]
    return cdist(x1, x2, p)


@samples("fused_distances", dtypes=FLOATS, reference=_distances)
def _fused_distances(make: Make) -> Iterator[Sample]:
    for case in _all_pairs(make):
        yield Sample(*case, note=f"p = {case[2]}")


@samples(
    "fused_distances_grad",
    dtypes=FLOATS,
    related="the result is a function of the rows",
    no_reference="it is a gradient, which is compared with that of the operator's body",
)
def _fused_distances_grad(make: Make) -> Iterator[Sample]:
    for case in _all_pairs(make):
        result = op.fused_distances(*case)
        yield Sample(make(*result.shape), *case[:2], result, *case[2:], note=f"p = {case[2]}")


@error_samples("fused_distances")
@error_samples("fused_distances_grad")
def _no_pairs(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")
