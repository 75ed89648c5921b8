"""Samples of the losses on classes, with the fused operators and gradients that they run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold import plugins
from tenfold.dispatch.operators import op
from tenfold.testing.samples import PROBABILITY, ErrorSample, Make, Sample, error_samples, samples

FLOATS = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64", "float16", "bfloat16"))
REDUCTIONS = ("mean", "sum", "none")
SHAPES: list[tuple[int, ...]] = [(4, 3), (2, 3, 2), (2, 3, 1, 2), (3,)]
IGNORED = 1  # the class that samples with `ignore_index` leave out
SAVED = "its totals are functions of its input, so differences in one argument alone mean nothing"


def targets(make: Make, shape: tuple[int, ...]) -> Any:
    """Classes for scores of this shape; the first is 0, so that not all of them are the ignored one."""
    sizes = (*shape[:1], *shape[2:]) if len(shape) > 1 else ()
    drawn = make.ints(*sizes, low=0, high=shape[1] if len(shape) > 1 else shape[0])
    return drawn if make.device.type == "meta" else drawn * _not_first(make, sizes)


def _not_first(make: Make, sizes: tuple[int, ...]) -> Any:
    factors = np.ones(sizes)
    factors.reshape(-1)[:1] = 0
    return make.of(factors, dtype=tenfold.int64)


def classes(shape: tuple[int, ...]) -> int:
    return shape[1] if len(shape) > 1 else shape[0]


def _by_index(make: Make) -> Iterator[Sample]:
    for shape in SHAPES:
        for reduction in REDUCTIONS:
            yield Sample(make(*shape), targets(make, shape), reduction=reduction, note=reduction)
        weight = make(classes(shape), domain=PROBABILITY)
        yield Sample(make(*shape), targets(make, shape), weight, note="weight")
        yield Sample(make(*shape), targets(make, shape), weight, ignore_index=IGNORED, note="weight, ignore_index")
    yield Sample(make(4, 3), targets(make, (4, 3)), ignore_index=IGNORED, reduction="none", note="ignore_index")
    yield Sample(make(0, 3), make.ints(0, low=0, high=3), reduction="sum", note="empty batch")
    yield Sample(make(4, 3, layout="transposed"), make.ints(4, low=0, high=3, layout="strided"), note="strided memory")


samples("nll_loss", dtypes=FLOATS, constants=("weight",))(_by_index)


@samples("cross_entropy", dtypes=FLOATS, constants=("weight",))
def _cross_entropy(make: Make) -> Iterator[Sample]:
    yield from _by_index(make)
    for shape in SHAPES[:2]:
        weight = make(classes(shape), domain=PROBABILITY)
        yield Sample(make(*shape), targets(make, shape), weight, label_smoothing=0.2, note="label smoothing")
        yield Sample(
            make(*shape), targets(make, shape), ignore_index=IGNORED, label_smoothing=0.2, reduction="none", note="all three"
        )
    for reduction in REDUCTIONS:
        yield Sample(make(4, 3), make(4, 3, domain=PROBABILITY), reduction=reduction, note=f"probabilities, {reduction}")
    yield Sample(make(3), make(3, domain=PROBABILITY), note="probabilities of one")
    weight = make(3, domain=PROBABILITY)
    yield Sample(make(2, 3, 2), make(2, 3, 2, domain=PROBABILITY), weight, label_smoothing=0.1, note="probabilities, all")


@error_samples("nll_loss")
@error_samples("cross_entropy")
def _class_errors(make: Make) -> Iterator[ErrorSample]:
    target = make.ints(4, low=0, high=3)
    yield ErrorSample(make(4, 3), make.ints(5, low=0, high=3), error=ValueError, match="batch_size")
    yield ErrorSample(make(2, 3, 4), make.ints(2, 3, low=0, high=3), error=RuntimeError, match="target size")
    yield ErrorSample(make(4, 3), target, make(4), error=RuntimeError, match="3 classes")
    yield ErrorSample(make(4, 3), target + 3, error=IndexError, match="out of bounds")
    yield ErrorSample(make(4, 3), target - 3, error=IndexError, match="out of bounds")
    yield ErrorSample(make(4, 3), make(4), error=RuntimeError, match="Long")
    yield ErrorSample(make(4, 3), target, reduction="product", error=ValueError, match="product")
    if plugins.layer("autograd") is not None:
        yield ErrorSample(make(4, 3), target, make(3).requires_grad_(), error=RuntimeError, match="not differentiable")


@error_samples("cross_entropy")
def _cross_entropy_errors(make: Make) -> Iterator[ErrorSample]:
    target = make.ints(4, low=0, high=3)
    yield ErrorSample(make(4, 3), target, label_smoothing=2.0, error=RuntimeError, match="label_smoothing")
    yield ErrorSample(make(4, 3), make(4, 3), ignore_index=1, error=RuntimeError, match="ignore_index")


FUSED: list[tuple[int, str]] = [(-100, "mean"), (-100, "sum"), (-100, "none"), (IGNORED, "mean"), (IGNORED, "none")]


def _fused(make: Make) -> Iterator[tuple[Any, Any, Any, int, str]]:
    for shape in SHAPES:
        for ignored, reduction in FUSED:
            weight = make(classes(shape), domain=PROBABILITY) if ignored >= 0 or reduction == "sum" else None
            yield make(*shape), targets(make, shape), weight, ignored, reduction
    yield make(4, 3, layout="transposed"), make.ints(4, low=0, high=3, layout="strided"), None, -100, "mean"


@samples("fused_nll_loss", dtypes=FLOATS, constants=("weight",))
def _fused_nll_loss(make: Make) -> Iterator[Sample]:
    for x, target, weight, ignored, reduction in _fused(make):
        yield Sample(x, target, weight, ignored, reduction, note=reduction)


@samples("fused_nll_loss_grad", dtypes=FLOATS, related=SAVED)
def _fused_nll_loss_grad(make: Make) -> Iterator[Sample]:
    for x, target, weight, ignored, reduction in _fused(make):
        out, total = op.fused_nll_loss(x, target, weight, ignored, reduction)
        yield Sample(make(*out.shape), x, target, weight, ignored, reduction, total, note=reduction)


@samples(
    "fused_cross_entropy",
    dtypes=FLOATS,
    constants=("weight",),
    no_special="of a row with an infinity the kernel's log(sum(exp)) is NaN; only the gradient reads it, which is NaN either way",
)
def _fused_cross_entropy(make: Make) -> Iterator[Sample]:
    for x, target, weight, ignored, reduction in _fused(make):
        for smoothing in (0.0, 0.3):
            yield Sample(x, target, weight, ignored, smoothing, reduction, note=reduction)


@samples("fused_cross_entropy_grad", dtypes=FLOATS, related=SAVED)
def _fused_cross_entropy_grad(make: Make) -> Iterator[Sample]:
    for x, target, weight, ignored, reduction in _fused(make):
        for smoothing in (0.0, 0.3):
            out, *saved = op.fused_cross_entropy(x, target, weight, ignored, smoothing, reduction)
            yield Sample(
                make(*out.shape), x, target, weight, ignored, smoothing, reduction, *saved, note=f"{reduction}, {smoothing}"
            )


def _soft(make: Make) -> Iterator[tuple[Any, ...]]:
    for shape in SHAPES:
        weight = make(classes(shape), domain=PROBABILITY)
        for reduction in REDUCTIONS:
            yield make(*shape), make(*shape, domain=PROBABILITY), None, 0.0, reduction
        yield make(*shape), make(*shape, domain=PROBABILITY), weight, 0.3, "mean"
    yield make(4, 3, layout="transposed"), make(4, 3, domain=PROBABILITY, layout="strided"), None, 0.3, "sum"


@samples(
    "fused_soft_cross_entropy",
    dtypes=FLOATS,
    constants=("target", "weight"),
    no_special="of a row with an infinity the kernel's log(sum(exp)) is NaN; only the gradient reads it, which is NaN either way",
)
def _fused_soft_cross_entropy(make: Make) -> Iterator[Sample]:
    for case in _soft(make):
        yield Sample(*case, note=f"{case[4]}, {case[3]}")


@samples("fused_soft_cross_entropy_grad", dtypes=FLOATS, related=SAVED)
def _fused_soft_cross_entropy_grad(make: Make) -> Iterator[Sample]:
    for case in _soft(make):
        out, saved = op.fused_soft_cross_entropy(*case)
        yield Sample(make(*out.shape), *case, saved, note=f"{case[4]}, {case[3]}")


@error_samples("fused_soft_cross_entropy")
@error_samples("fused_soft_cross_entropy_grad")
@error_samples("fused_nll_loss")
@error_samples("fused_nll_loss_grad")
@error_samples("fused_cross_entropy")
@error_samples("fused_cross_entropy_grad")
def _no_tensor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")
