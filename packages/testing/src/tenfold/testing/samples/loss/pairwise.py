"""Samples of the losses that compare elements, scores or vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.generators import binary, binary_pairs
from tenfold.testing.samples import ANY, POSITIVE, PROBABILITY, Domain, ErrorSample, Make, Sample, error_samples, samples

FLOATS = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64", "float16", "bfloat16"))
REDUCTIONS = ("mean", "sum", "none")
LEFT, RIGHT = Domain(-1.9, -0.1), Domain(0.1, 1.9)  # two intervals that do not meet, so that no difference is 0

Losses = Callable[..., Any]


def reduced(losses: Losses) -> Any:
    """NumPy's reference from a formula for each element."""

    def reference(*args: Any, reduction: str = "mean", **keywords: Any) -> Any:
        values = losses(*args, **keywords)
        return values.mean() if reduction == "mean" else values.sum() if reduction == "sum" else values

    return reference


def elementwise(first: Domain, second: Domain, more: tuple[dict[str, Any], ...] = (), weight: bool = False) -> Any:
    """Samples of a loss of an input and a target of one shape; `more` has further keywords."""

    def generate(make: Make) -> Iterator[Sample]:
        for reduction in REDUCTIONS:
            for shape in ((3, 4), (), (2, 1, 3)):
                yield Sample(make(*shape, domain=first), make(*shape, domain=second), reduction=reduction, note=reduction)
        for keywords in more:
            note = ", ".join(f"{k}={v}" for k, v in keywords.items())
            yield Sample(make(3, 4, domain=first), make(3, 4, domain=second), note=note, **keywords)
        if weight:
            for reduction in REDUCTIONS:
                factors = make(3, 4, domain=PROBABILITY)
                yield Sample(
                    make(3, 4, domain=first), make(3, 4, domain=second), reduction=reduction, weight=factors, note="weight"
                )
        yield Sample(make(0, 4, domain=first), make(0, 4, domain=second), reduction="sum", note="empty")
        yield Sample(
            make(3, 4, domain=first, layout="transposed"), make(3, 4, domain=second, layout="strided"), note="strided memory"
        )

    return generate


def _smooth(input: Any, target: Any, beta: float = 1.0) -> Any:
    d = np.abs(input - target)
    return np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta) if beta else d


def _huber(input: Any, target: Any, delta: float = 1.0) -> Any:
    d = np.abs(input - target)
    return np.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))


samples("mse_loss", dtypes=FLOATS)(elementwise(ANY, ANY, weight=True))
samples("l1_loss", dtypes=FLOATS)(elementwise(LEFT, RIGHT, weight=True))
samples("smooth_l1_loss", dtypes=FLOATS, reference=reduced(_smooth))(elementwise(LEFT, RIGHT, ({"beta": 0.0}, {"beta": 5.0})))
samples("huber_loss", dtypes=FLOATS)(elementwise(LEFT, RIGHT, ({"delta": 0.15}, {"delta": 5.0}), weight=True))
samples("binary_cross_entropy", dtypes=FLOATS)(elementwise(PROBABILITY, PROBABILITY, weight=True))
samples("binary_entropies", dtypes=FLOATS)(binary(PROBABILITY, PROBABILITY, numbers=()))
samples("logit_entropies", dtypes=FLOATS)(binary(ANY, PROBABILITY, numbers=()))


@samples("binary_entropies_grad", dtypes=FLOATS)
def _binary_entropies_grad(make: Make) -> Iterator[Sample]:
    for note, x, y in binary_pairs(make, PROBABILITY, PROBABILITY):
        yield Sample(make(*(x * y).shape), x, y, note=note)


@samples("logit_entropies_grad", dtypes=FLOATS)
def _logit_entropies_grad(make: Make) -> Iterator[Sample]:
    for note, x, y in binary_pairs(make, ANY, PROBABILITY):
        yield Sample(make(*(x * y).shape), x, y, note=note)
    yield Sample(make(3, 4), make(3, 4), make(3, 4, domain=PROBABILITY), make(4, domain=POSITIVE), note="pos_weight")


@error_samples("binary_entropies")
@error_samples("logit_entropies")
def _entropy_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], make(2), error=TypeError, match="argument")


@error_samples("binary_entropies_grad")
@error_samples("logit_entropies_grad")
def _entropy_gradient_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], make(2), make(2), error=TypeError, match="argument")


samples("soft_margin_loss", dtypes=FLOATS, reference=reduced(lambda input, target: np.log1p(np.exp(-target * input))))(
    elementwise(ANY, ANY)
)


@samples("binary_cross_entropy_with_logits", dtypes=FLOATS)
def _with_logits(make: Make) -> Iterator[Sample]:
    yield from elementwise(ANY, PROBABILITY, weight=True)(make)
    for reduction in REDUCTIONS:
        factors = make(4, domain=POSITIVE)
        yield Sample(
            make(3, 4), make(3, 4, domain=PROBABILITY), pos_weight=factors, reduction=reduction, note=f"pos_weight, {reduction}"
        )


@samples("kl_div", dtypes=FLOATS)
def _kl_div(make: Make) -> Iterator[Sample]:
    for reduction in ("sum", "none", "batchmean"):
        for shape in ((3, 4), (2, 1, 3)):
            yield Sample(make(*shape), make(*shape, domain=PROBABILITY), reduction=reduction, note=reduction)
        yield Sample(make(3, 4), make(3, 4), reduction=reduction, log_target=True, note=f"log_target, {reduction}")
    yield Sample(make(0, 4), make(0, 4), reduction="sum", note="empty")
    x, target = make(3, 4, layout="transposed"), make(3, 4, domain=PROBABILITY, layout="strided")
    yield Sample(x, target, reduction="sum", note="strided memory")


TOTALS = ({"full": True}, {"log_input": False}, {"log_input": False, "full": True, "reduction": "none"})
samples("poisson_nll_loss", dtypes=FLOATS)(elementwise(PROBABILITY, Domain(1.2, 3.0), TOTALS))


@samples("gaussian_nll_loss", dtypes=FLOATS)
def _gaussian(make: Make) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        yield Sample(make(3, 4), make(3, 4), make(3, 4, domain=POSITIVE), reduction=reduction, note=reduction)
    yield Sample(make(3, 4), make(3, 4), make(3, domain=POSITIVE), note="one variance a row")
    yield Sample(make(3, 4), make(3, 4), make(3, 1, domain=POSITIVE), True, note="full")
    yield Sample(make(3, 4), make(3, 4), 2.0, note="a number")
    yield Sample(make(0, 4), make(0, 4), make(0, 4), reduction="sum", note="empty")
    yield Sample(
        make(3, 4, layout="transposed"), make(3, 4, layout="strided"), make(3, 4, domain=POSITIVE), note="strided memory"
    )


@error_samples("gaussian_nll_loss")
def _gaussian_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, 4), make(3, 4), make(4), error=ValueError, match="incorrect size")
    yield ErrorSample(make(3, 4), make(3, 4), make(3, 4, low=-2, high=-1), error=ValueError, match="negative")
    yield ErrorSample(make(3, 4), make(3, 4), -1.0, error=ValueError, match="negative")
    yield ErrorSample(make(3, 4), make(3, 4), make(3, 4, domain=POSITIVE), reduction="product", error=ValueError, match="product")


# Of scores and vectors


def _signs(make: Make, *shape: int) -> Any:
    """1 and -1 in turn."""
    values = np.where(np.arange(int(np.prod(shape))) % 2, -1, 1)
    return make.of(values.reshape(shape), dtype=tenfold.int64)


@samples("hinge_embedding_loss", dtypes=FLOATS)
def _hinge(make: Make) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        for shape in ((3, 4), (), (2, 3)):
            yield Sample(make(*shape, domain=LEFT), _signs(make, *shape), reduction=reduction, note=reduction)
    yield Sample(make(3, 4, domain=PROBABILITY), _signs(make, 3, 4), 2.0, note="margin")
    yield Sample(make(3, 4, domain=LEFT, layout="transposed"), _signs(make, 3, 4), note="strided memory")


@samples("margin_ranking_loss", dtypes=FLOATS)
def _ranking(make: Make) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        for shape in ((3, 4), (5,)):
            yield Sample(
                make(*shape, domain=LEFT), make(*shape, domain=RIGHT), _signs(make, *shape), reduction=reduction, note=reduction
            )
    yield Sample(make(4, domain=LEFT), make(4, domain=RIGHT), _signs(make, 4), 5.0, note="margin")
    yield Sample(make(4, domain=LEFT, layout="strided"), make(4, domain=RIGHT, layout="flipped"), _signs(make, 4), note="strided")


@error_samples("margin_ranking_loss")
def _ranking_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), make(3), make(1, 3), error=RuntimeError, match="same dimension")
    yield ErrorSample(make(3), make(3), make(3), reduction="product", error=ValueError, match="product")


SCORES = Domain(-0.45, 0.45)  # no difference reaches a margin of 1


@samples("multi_margin_loss", dtypes=FLOATS)
def _multi_margin(make: Make) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        yield Sample(make(4, 3, domain=SCORES), make.ints(4, low=0, high=3), reduction=reduction, note=reduction)
        yield Sample(
            make(4, 3, domain=SCORES), make.ints(4, low=0, high=3), 2, 0.95, make(3, domain=PROBABILITY), reduction=reduction,
            note=f"squares, margin, weight, {reduction}",
        )  # fmt: skip
    yield Sample(make(3, domain=SCORES), make.ints(low=0, high=3), note="one sample")
    yield Sample(
        make(4, 3, domain=SCORES, layout="transposed"), make.ints(4, low=0, high=3, layout="strided"), note="strided memory"
    )


@error_samples("multi_margin_loss")
def _multi_margin_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(4, 3), make.ints(4, low=0, high=3), 3, error=ValueError, match="p == 1 and p == 2")
    yield ErrorSample(make(4, 3), make.ints(5, low=0, high=3), error=RuntimeError, match="target size")
    yield ErrorSample(make(4, 3), make.ints(4, low=0, high=3), reduction="product", error=ValueError, match="product")


@samples("multilabel_margin_loss", dtypes=FLOATS)
def _multilabel_margin(make: Make) -> Iterator[Sample]:
    labels = make.of([[2, 0, -1, 3], [1, -1, 0, 0], [-1, 2, 2, 2]], dtype=tenfold.int64)
    for reduction in REDUCTIONS:
        yield Sample(make(3, 4, domain=SCORES), labels, reduction=reduction, note=reduction)
    yield Sample(make(4, domain=SCORES), labels[0], note="one sample")
    yield Sample(make(3, 4, domain=SCORES, layout="transposed"), labels, note="strided memory")


@error_samples("multilabel_margin_loss")
def _multilabel_margin_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, 4), make.ints(3, 3, low=0, high=3), error=RuntimeError, match="target size")
    yield ErrorSample(make(3, 4), make.ints(3, 4, low=0, high=3), reduction="product", error=ValueError, match="product")


@samples("multilabel_soft_margin_loss", dtypes=FLOATS)
def _multilabel_soft(make: Make) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        yield Sample(make(3, 4), make(3, 4, domain=PROBABILITY), reduction=reduction, note=reduction)
    yield Sample(make(3, 4), make(3, 4, domain=PROBABILITY), make(4, domain=PROBABILITY), note="weight")
    yield Sample(make(4), make(4, domain=PROBABILITY), note="one sample")
    yield Sample(make(3, 4, layout="transposed"), make(3, 4, domain=PROBABILITY, layout="strided"), note="strided memory")


@samples("cosine_embedding_loss", dtypes=FLOATS)
def _cosine_embedding(make: Make) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        yield Sample(make(4, 3, domain=RIGHT), make(4, 3, domain=RIGHT), _signs(make, 4), reduction=reduction, note=reduction)
    yield Sample(make(4, 3, domain=RIGHT), make(4, 3, domain=RIGHT), _signs(make, 4), 0.1, note="margin")
    yield Sample(make(3), make(3), _signs(make), note="one sample")
    yield Sample(
        make(4, 3, domain=RIGHT, layout="transposed"), make(4, 3, domain=RIGHT, layout="strided"), _signs(make, 4),
        note="strided memory",
    )  # fmt: skip


@error_samples("cosine_embedding_loss")
def _cosine_embedding_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(4, 3), make(4, 3), make(4, 3), error=RuntimeError, match="1D target")
    yield ErrorSample(make(4), make(4), make(4), error=RuntimeError, match="1D target")
    yield ErrorSample(make(4, 3), make(4, 3), make(4), reduction="product", error=ValueError, match="product")


def _distances(a: Any, b: Any) -> Any:
    """A distance of the user's own."""
    return ((a - b) * (a - b)).sum(-1)


def _triplets(make: Make, layout: str = "contiguous") -> Any:
    """Positives are nearer than negatives, by less than the margin of 5 that samples give."""
    return tuple(make(4, 3, domain=d, layout=layout) for d in (LEFT, Domain(-0.05, 0.05), RIGHT))


@samples("triplet_margin_loss", dtypes=FLOATS)
def _triplet(make: Make) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        yield Sample(*_triplets(make), 5.0, reduction=reduction, note=reduction)
    yield Sample(*_triplets(make), 9.0, 1.0, note="p 1")
    yield Sample(*_triplets(make), 9.0, swap=True, note="swap")
    yield Sample(*(t[0] for t in _triplets(make)), margin=5.0, note="one sample")
    yield Sample(*_triplets(make, "transposed"), 5.0, eps=0.01, note="strided memory")


@samples("triplet_margin_with_distance_loss", dtypes=FLOATS)
def _triplet_with_distance(make: Make) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        yield Sample(*_triplets(make), margin=5.0, reduction=reduction, note=reduction)
    yield Sample(*_triplets(make), margin=50.0, distance_function=_distances, swap=True, note="a distance, swap")
    yield Sample(*_triplets(make, "transposed"), margin=5.0, note="strided memory")


@error_samples("triplet_margin_loss")
@error_samples("triplet_margin_with_distance_loss")
def _triplet_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(4, 3), make(4, 3), make(3), error=RuntimeError, match="same number of dimensions")
    yield ErrorSample(make(4, 3), make(4, 3), make(4, 3), margin=-1.0, error=ValueError, match="margin")
    yield ErrorSample(make(4, 3), make(4, 3), make(4, 3), reduction="product", error=ValueError, match="product")


@error_samples("mse_loss")
@error_samples("l1_loss")
@error_samples("smooth_l1_loss")
@error_samples("huber_loss")
@error_samples("binary_cross_entropy")
@error_samples("binary_cross_entropy_with_logits")
@error_samples("kl_div")
@error_samples("poisson_nll_loss")
@error_samples("soft_margin_loss")
@error_samples("hinge_embedding_loss")
@error_samples("multilabel_soft_margin_loss")
def _reduction_errors(make: Make) -> Iterator[ErrorSample]:
    a, b = (make(3, domain=PROBABILITY) for _ in range(2))
    yield ErrorSample(a, b, reduction="product", error=ValueError, match="product")


@error_samples("binary_cross_entropy")
@error_samples("binary_cross_entropy_with_logits")
def _size_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, domain=PROBABILITY), make(3, 1), error=ValueError, match="size")


@error_samples("binary_cross_entropy")
def _probability_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, low=2, high=3), make(3), error=RuntimeError, match="between 0 and 1")


@error_samples("mse_loss")
@error_samples("l1_loss")
@error_samples("huber_loss")
def _weight_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), make(3), weight=make(2), error=ValueError, match="same size")


@error_samples("smooth_l1_loss")
def _beta_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), make(3), beta=-1.0, error=RuntimeError, match="beta")


@error_samples("huber_loss")
def _delta_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), make(3), delta=0.0, error=RuntimeError, match="delta")
