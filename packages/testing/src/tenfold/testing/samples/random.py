"""Samples of the random operators: results are compared under one seed only, their distributions are core's tests'."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.testing.samples import PROBABILITY, ErrorSample, Make, Sample, error_samples, samples


def _sized(make: Make) -> Iterator[Sample]:
    for size in ((), (3,), (2, 3), (0,), (40,)):
        yield Sample(size, device=make.device, note=f"{len(size)}-d")


def _like(make: Make) -> Iterator[Sample]:
    for shape in ((), (3,), (2, 3), (0,)):
        yield Sample(make(*shape), note=f"{len(shape)}-d")
    yield Sample(make(2, 3, layout="transposed"), note="transposed")


for _name in ("rand", "randn"):
    samples(_name, random=True)(_sized)
for _name in ("rand_like", "randn_like"):
    samples(_name, random=True)(_like)


@samples("randint", random=True)
def _randint(make: Make) -> Iterator[Sample]:
    for arguments in ((5, (3,)), (-2, 5, (2, 3)), (1, ()), (3, (0,))):
        yield Sample(*arguments, device=make.device, note=f"{arguments}")


@error_samples("randint")
def _randint_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(0, (3,), error=RuntimeError, match="to")


@samples("randperm", random=True)
def _randperm(make: Make) -> Iterator[Sample]:
    for n in (0, 1, 9):
        yield Sample(n, device=make.device)


@samples("bernoulli", random=True)
def _bernoulli(make: Make) -> Iterator[Sample]:
    for shape in ((), (5,), (2, 3), (0,)):
        yield Sample(make(*shape, domain=PROBABILITY), note=f"{len(shape)}-d")


@samples("multinomial", random=True)
def _multinomial(make: Make) -> Iterator[Sample]:
    yield Sample(make(4, domain=PROBABILITY), 2)
    yield Sample(make(2, 4, domain=PROBABILITY), 6, replacement=True, note="with replacement")


@samples("randint_like", random=True)
def _randint_like(make: Make) -> Iterator[Sample]:
    for shape in ((), (3,), (0,)):
        yield Sample(make(*shape), 5)
        yield Sample(make(*shape), 1, 5)


@samples("normal", random=True)
def _normal(make: Make) -> Iterator[Sample]:
    yield Sample(0.0, 1.0, (2, 3), device=make.device)
    yield Sample(make(3, dtype=tenfold.float32), 2.0, note="means")


_rest: tuple[Any, ...]
# Operators that fill a tensor with random numbers: further arguments, wrong ones.
for _name, _rest in (
    ("uniform_", (0.0, 2.0)), ("normal_", (1.0, 2.0)), ("random_", (0, 5)), ("exponential_", (2.0,)),
    ("bernoulli_", (0.4,)),
):  # fmt: skip
    samples(_name, random=True, mutates=True, dtypes=(tenfold.float32, tenfold.float64))(
        (lambda rest: lambda make: [Sample(make(*s), *rest) for s in ((3,), (2, 3), (0,))])(_rest)
    )
for _name, _rest, _match in (
    ("uniform_", (2.0, 1.0), "from"),
    ("normal_", (0.0, -1.0), "std"),
    ("random_", (5, 5), "from"),
    ("exponential_", (-1.0,), "lambd"),
    ("bernoulli_", (1.5,), "p"),
):
    error_samples(_name)(
        (lambda rest, match: lambda make: [ErrorSample(make(2), *rest, error=RuntimeError, match=match)])(_rest, _match)
    )

for _name in ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "native_dropout"):
    samples(_name, random=True)(
        lambda make: [Sample(make(4, 3, 2), 0.4, True), Sample(make(4, 3), 0.4, False), Sample(make(4, 3), 0.0, True)]
    )
    error_samples(_name)(lambda make: [ErrorSample(make(2, 2), 1.5, True, error=RuntimeError, match="between 0 and 1")])

samples("fused_dropout", random=True)(
    lambda make: [Sample(make(4, 3, 2), 0.4, whole, 1.5, *rest) for whole in (False, True) for rest in ((0.0, 0.0), (0.5, -0.25))]
)
error_samples("fused_dropout")(lambda make: [ErrorSample([1.0], error=TypeError, match="argument")])
error_samples("fused_dropout_grad")(lambda make: [ErrorSample([1.0], error=TypeError, match="argument")])


@samples("fused_dropout_grad", reference=lambda grad, mask, scale: grad * (mask * scale))
def _fused_dropout_grad(make: Make) -> Iterator[Sample]:
    for shape, kept in (((4, 3, 2), (4, 3, 2)), ((4, 3, 2), (4, 3, 1)), ((0, 3), (0, 3)), ((), ())):
        yield Sample(make(*shape), make.ints(*kept, low=0, high=1) != 0, 1.5)


for _name, _rest in (("rand_like", ()), ("randn_like", ()), ("randint_like", (5,))):
    error_samples(_name)(
        (lambda rest: lambda make: [ErrorSample([1.0], *rest, error=TypeError, match="argument 'input'")])(_rest)
    )
error_samples("bernoulli")(lambda make: [ErrorSample(make.of([2.0]), error=RuntimeError, match="p")])
error_samples("multinomial")(lambda make: [ErrorSample(make(3, domain=PROBABILITY), 4, error=RuntimeError, match="")])
