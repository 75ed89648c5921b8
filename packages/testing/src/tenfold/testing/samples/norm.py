"""Samples of the normalizations, and of the fused operators and gradients that they run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold import plugins
from tenfold.dispatch.operators import op
from tenfold.testing.samples import NONZERO, POSITIVE, ErrorSample, Make, Sample, error_samples, samples

FLOATS = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64", "float16", "bfloat16"))
COMPLEX = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("complex64", "complex128"))
SAVED = "its statistics are functions of its input, so differences in one argument alone mean nothing"

ROWS: list[tuple[tuple[int, ...], int]] = [((2, 5), 1), ((2, 3, 4), 2), ((6,), 1), ((1, 2, 3), 1), ((0, 4), 1)]


def _note(shape: tuple[int, ...]) -> str:
    return "empty" if 0 in shape else f"{len(shape)}-d"


@samples("layer_norm", dtypes=FLOATS)
def _layer_norm(make: Make) -> Iterator[Sample]:
    for shape, n in ROWS:
        last = shape[-n:]
        yield Sample(make(*shape), last, make(*last), make(*last), note=_note(shape))
        yield Sample(make(*shape), last, eps=0.1, note=f"{_note(shape)}, plain")
        yield Sample(make(*shape), last, weight=make(*last), note=f"{_note(shape)}, weight")
    yield Sample(make(2, 5), (5,), bias=make(5), note="bias")
    yield Sample(
        make(3, 4, layout="transposed"), (4,), make(4, layout="strided"), make(4, layout="flipped"), note="strided memory"
    )


@samples("fused_layer_norm", dtypes=FLOATS)
def _fused_layer_norm(make: Make) -> Iterator[Sample]:
    for shape, n in ROWS:
        last = shape[-n:]
        yield Sample(make(*shape), n, make(*last), make(*last), 1e-5, note=_note(shape))
    yield Sample(make(3, 4, layout="transposed"), 1, None, None, 0.1, note="strided memory")


@samples("fused_layer_norm_grad", dtypes=FLOATS, related=SAVED)
def _fused_layer_norm_grad(make: Make) -> Iterator[Sample]:
    for shape, n in ROWS:
        for weight in (None, make(*shape[-n:])):
            x = make(*shape)
            _, mean, rstd = op.fused_layer_norm(x, n, None, None, 1e-5)
            yield Sample(make(*shape), x, mean, rstd, n, weight, 1e-5, note=_note(shape))


@samples("rms_norm", dtypes=(*FLOATS, *COMPLEX))
def _rms_norm(make: Make) -> Iterator[Sample]:
    for shape, n in ROWS:
        last = shape[-n:]
        yield Sample(make(*shape), last, make(*last), note=_note(shape))
        yield Sample(make(*shape), last, eps=0.1, note=f"{_note(shape)}, plain")
    yield Sample(make(3, 4, layout="transposed"), (4,), make(4, layout="strided"), note="strided memory")


@samples("fused_rms_norm", dtypes=FLOATS)
def _fused_rms_norm(make: Make) -> Iterator[Sample]:
    for shape, n in ROWS:
        yield Sample(make(*shape), n, make(*shape[-n:]), 1e-5, note=_note(shape))
    yield Sample(make(3, 4, layout="transposed"), 1, None, 0.1, note="strided memory")


@samples("fused_rms_norm_grad", dtypes=FLOATS, related=SAVED)
def _fused_rms_norm_grad(make: Make) -> Iterator[Sample]:
    for shape, n in ROWS:
        for weight in (None, make(*shape[-n:])):
            x = make(*shape)
            yield Sample(make(*shape), x, op.fused_rms_norm(x, n, None, 1e-5)[1], n, weight, 1e-5, note=_note(shape))


@error_samples("layer_norm")
@error_samples("rms_norm")
def _row_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), (2,), error=RuntimeError, match="expected input with shape")
    yield ErrorSample(make(2, 3), (), error=RuntimeError, match="at least 1-dimensional")
    yield ErrorSample(make(2, 3), (3,), make(2), error=RuntimeError, match="same shape as normalized_shape")


# Over the channels' elements

PLANES: list[tuple[int, ...]] = [(3, 2), (2, 2, 3), (2, 3, 2, 2), (2, 2, 1, 2, 2)]


@samples("batch_norm", dtypes=FLOATS, mutates=True, constants=("running_mean", "running_var"))
def _batch_norm(make: Make) -> Iterator[Sample]:
    for shape in PLANES:
        C = shape[1]
        moments = make(C), make(C, domain=POSITIVE)
        yield Sample(make(*shape), *moments, make(C), make(C), note=f"{_note(shape)}, evaluation")
        yield Sample(make(*shape), None, None, make(C), make(C), True, note=f"{_note(shape)}, training")
    yield Sample(make(3, 2), make(2), make(2, domain=POSITIVE), training=True, momentum=0.3, note="running statistics move")
    yield Sample(make(3, 2), make(2), make(2, domain=POSITIVE), weight=make(2), eps=0.1, note="weight")
    yield Sample(make(3, 2), None, None, bias=make(2), training=True, note="bias")
    yield Sample(make(0, 2), make(2), make(2, domain=POSITIVE), note="empty batch")
    yield Sample(make(3, 2, 2, layout="transposed"), None, None, make(2, layout="strided"), None, True, note="strided memory")


@samples("fused_batch_norm", dtypes=FLOATS, constants=("running_mean", "running_var"))
def _fused_batch_norm(make: Make) -> Iterator[Sample]:
    for shape in PLANES:
        C = shape[1]
        moments = make(C), make(C, domain=POSITIVE)
        yield Sample(make(*shape), make(C), make(C), *moments, False, 1e-5, note=f"{_note(shape)}, evaluation")
        yield Sample(make(*shape), make(C), make(C), None, None, True, 1e-5, note=f"{_note(shape)}, training")
    yield Sample(make(3, 2, layout="transposed"), None, None, None, None, True, 0.1, note="strided memory")


@samples("fused_batch_norm_grad", dtypes=FLOATS, related=SAVED)
def _fused_batch_norm_grad(make: Make) -> Iterator[Sample]:
    for shape in PLANES:
        for training in (True, False):
            x, C = make(*shape), shape[1]
            moments = (None, None) if training else (make(C), make(C, domain=POSITIVE))
            _, mean, _, rstd = op.fused_batch_norm(x, None, None, *moments, training, 1e-5)
            for weight in (None, make(C)):
                yield Sample(make(*shape), x, weight, mean, rstd, training, 1e-5, note=_note(shape))


@error_samples("batch_norm")
def _batch_norm_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(1, 2), None, None, training=True, error=ValueError, match="more than 1 value per channel")
    yield ErrorSample(make(3, 2), None, None, error=RuntimeError, match="running_mean")
    yield ErrorSample(make(3, 2), make(3), make(3), error=RuntimeError, match="2 elements not 3")
    yield ErrorSample(make(3, 2), None, None, make(1), training=True, error=RuntimeError, match="2 elements not 1")
    if plugins.layer("autograd") is not None:
        yield ErrorSample(make(3, 2), make(2).requires_grad_(), make(2), error=RuntimeError, match="not differentiable")
    yield ErrorSample(make(3), None, None, training=True, error=RuntimeError, match="at least 2 dimensions")


@samples("instance_norm", dtypes=FLOATS, mutates=True, constants=("running_mean", "running_var"))
def _instance_norm(make: Make) -> Iterator[Sample]:
    for shape in PLANES[1:]:
        C = shape[1]
        yield Sample(make(*shape), weight=make(C), bias=make(C), note=_note(shape))
        yield Sample(make(*shape), eps=0.1, note=f"{_note(shape)}, plain")
        moments = make(C), make(C, domain=POSITIVE)
        yield Sample(make(*shape), *moments, use_input_stats=False, note=f"{_note(shape)}, given statistics")
    yield Sample(make(2, 3, 4), make(3), make(3, domain=POSITIVE), momentum=0.3, note="running statistics move")
    yield Sample(make(2, 3, 4, layout="transposed"), weight=make(3, layout="strided"), note="strided memory")


@error_samples("instance_norm")
def _instance_norm_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 2, 1), error=ValueError, match="more than 1 spatial element")
    yield ErrorSample(make(2, 2, 3), use_input_stats=False, error=RuntimeError, match="running_mean")
    yield ErrorSample(make(2, 2, 3), weight=make(3), error=RuntimeError, match="2 elements not 3")


GROUPS: list[tuple[tuple[int, ...], int]] = [((3, 6), 2), ((2, 4, 3), 4), ((1, 2, 2, 2), 1), ((2, 3, 1, 2, 2), 3)]


@samples("group_norm", dtypes=FLOATS)
def _group_norm(make: Make) -> Iterator[Sample]:
    for shape, G in GROUPS:
        C = shape[1]
        yield Sample(make(*shape), G, make(C), make(C), note=_note(shape))
        yield Sample(make(*shape), G, eps=0.1, note=f"{_note(shape)}, plain")
    yield Sample(make(2, 4), 2, make(4), note="weight")
    yield Sample(make(2, 4), 2, bias=make(4), note="bias")
    yield Sample(make(0, 4, 2), 2, make(4), make(4), note="empty batch")
    yield Sample(make(2, 4, 3, layout="transposed"), 2, make(4, layout="strided"), note="strided memory")


@samples("fused_group_norm", dtypes=FLOATS)
def _fused_group_norm(make: Make) -> Iterator[Sample]:
    for shape, G in GROUPS:
        yield Sample(make(*shape), G, make(shape[1]), make(shape[1]), 1e-5, note=_note(shape))
    yield Sample(make(2, 4, 3, layout="transposed"), 2, None, None, 0.1, note="strided memory")


@samples("fused_group_norm_grad", dtypes=FLOATS, related=SAVED)
def _fused_group_norm_grad(make: Make) -> Iterator[Sample]:
    for shape, G in GROUPS:
        for weight in (None, make(shape[1])):
            x = make(*shape)
            _, mean, rstd = op.fused_group_norm(x, G, None, None, 1e-5)
            yield Sample(make(*shape), x, mean, rstd, G, weight, 1e-5, note=_note(shape))


@error_samples("group_norm")
def _group_norm_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 4), 3, error=RuntimeError, match="divisible by num_groups")
    yield ErrorSample(make(2, 4), 0, error=RuntimeError, match="num_groups")
    yield ErrorSample(make(4), 2, error=RuntimeError, match="at least 2 dimensions")
    yield ErrorSample(make(2, 4), 2, make(2), error=RuntimeError, match="4 elements not 2")


@error_samples("fused_layer_norm")
@error_samples("fused_layer_norm_grad")
@error_samples("fused_rms_norm")
@error_samples("fused_rms_norm_grad")
@error_samples("fused_batch_norm")
@error_samples("fused_batch_norm_grad")
@error_samples("fused_group_norm")
@error_samples("fused_group_norm_grad")
def _no_tensor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")


# Over neighbours, and by length


@samples("local_response_norm", dtypes=FLOATS)
def _local_response_norm(make: Make) -> Iterator[Sample]:
    yield Sample(make(1, 4, 3), 3)
    yield Sample(make(2, 3, 2, 2), 2, 0.5, 0.5, 2.0, note="keywords")
    yield Sample(make(1, 2, 2, 2, 1), 5, alpha=1.0, note="more neighbours than channels")
    yield Sample(make(0, 2, 3), 2, note="empty batch")
    yield Sample(make(1, 4, 3, layout="transposed"), 2, note="strided memory")


@error_samples("local_response_norm")
def _local_response_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), 2, error=ValueError, match="3D or higher")


@samples("normalize", dtypes=(*FLOATS, *COMPLEX))
def _normalize(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 3))
    yield Sample(make(4), dim=0, note="vector")
    yield Sample(make(2, 3, domain=NONZERO), 1.0, -1, note="p 1")
    yield Sample(make(2, 3, domain=NONZERO), 3.0, 0, note="p 3")
    yield Sample(make(2, 2, 3), 2.0, (1, 2), note="matrices")
    yield Sample(make(2, 3), eps=100.0, note="short vectors")
    yield Sample(make(0, 3), note="empty")
    yield Sample(make(2, 3, layout="transposed"), note="strided memory")


@error_samples("normalize")
def _normalize_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), dim=2, error=IndexError, match="range")


def _scaled(make: Make) -> Iterator[tuple[Any, ...]]:
    for p in (1.0, 2.0, 3.0, 0.5, np.inf):
        for shape in ((2, 3), (4,), (2, 1, 3)):
            yield make(*shape, domain=NONZERO), p, "unit", 1e-12
            yield make(*shape, domain=NONZERO), p, "limit", 0.75
    yield make(2, 3), 2.0, "unit", 100.0
    yield make(2, 3), 2.0, "limit", 100.0
    yield make(2, 3, layout="transposed"), 2.0, "unit", 1e-12
    yield make(0, 3), 2.0, "unit", 1e-12


def _scaled_reference(input: Any, p: float, kind: str, bound: float) -> tuple[Any, Any]:
    sizes = np.abs(input)
    norms = sizes.max(-1, keepdims=True) if p == np.inf else (sizes**p).sum(-1, keepdims=True) ** (1 / p)
    factors = 1 / np.maximum(norms, bound) if kind == "unit" else np.where(norms > bound, bound / (norms + 1e-7), 1.0)
    return input * factors, norms[..., 0]


@samples(
    "fused_scaled_rows",
    dtypes=FLOATS,
    reference=_scaled_reference,
    no_special="a row with an infinity is nan or 0 by how the norm is computed; normalize and renorm are tried with them",
)
def _fused_scaled_rows(make: Make) -> Iterator[Sample]:
    for case in _scaled(make):
        yield Sample(*case, note=f"{case[2]}, p {case[1]}")


@samples("fused_scaled_rows_grad", dtypes=FLOATS, related=SAVED)
def _fused_scaled_rows_grad(make: Make) -> Iterator[Sample]:
    for case in _scaled(make):
        out, norms = op.fused_scaled_rows(*case)
        yield Sample(make(*out.shape), case[0], norms, *case[1:], note=f"{case[2]}, p {case[1]}")


def _response(make: Make) -> Iterator[tuple[Any, ...]]:
    for shape, size in (((2, 5, 3), 3), ((1, 4, 2, 2), 4), ((2, 3, 2), 1), ((2, 2, 2), 5)):
        yield make(*shape), size, 0.5, 0.75, 1.0
    yield make(3, 5, 4, layout="transposed"), 3, 0.5, 0.5, 2.0


@samples("fused_response_norm", dtypes=FLOATS)
def _fused_response_norm(make: Make) -> Iterator[Sample]:
    for case in _response(make):
        yield Sample(*case, note=f"size {case[1]}")


@samples("fused_response_norm_grad", dtypes=FLOATS, related=SAVED)
def _fused_response_norm_grad(make: Make) -> Iterator[Sample]:
    for case in _response(make):
        out, scales = op.fused_response_norm(*case)
        yield Sample(make(*out.shape), case[0], scales, *case[1:], note=f"size {case[1]}")


@error_samples("fused_response_norm")
@error_samples("fused_response_norm_grad")
@error_samples("fused_scaled_rows")
@error_samples("fused_scaled_rows_grad")
def _no_rows(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")


# With the statistics


@samples("native_layer_norm", dtypes=FLOATS)
def _native_layer_norm(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 5), (5,), make(5), make(5), 1e-5, note="rows")
    yield Sample(make(2, 3, 4), (3, 4), None, None, 0.1, note="planes")


@samples("native_group_norm", dtypes=FLOATS)
def _native_group_norm(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 4, 3), make(4), make(4), 2, 4, 3, 2, 1e-5, note="lines")
    yield Sample(make(2, 2, 2, 3), None, None, 2, 2, 6, 1, 0.1, note="planes")


@samples("native_batch_norm", dtypes=FLOATS, mutates=True, constants=("running_mean", "running_var"))
def _native_batch_norm(make: Make) -> Iterator[Sample]:
    yield Sample(make(3, 2), make(2), make(2), None, None, True, 0.1, 1e-5, note="batch")
    yield Sample(make(2, 2, 3), None, None, make(2), make(2, domain=POSITIVE), False, 0.1, 1e-5, note="running")


error_samples("native_layer_norm")(
    lambda make: [ErrorSample(make(2, 3), (2,), None, None, 1e-5, error=RuntimeError, match="expected input with shape")]
)
error_samples("native_group_norm")(
    lambda make: [ErrorSample(make(2, 4), None, None, 2, 4, 3, 2, 1e-5, error=RuntimeError, match="24 elements")]
)
error_samples("native_batch_norm")(
    lambda make: [ErrorSample(make(2, 3), None, None, None, None, False, 0.1, 1e-5, error=RuntimeError, match="to be defined")]
)
