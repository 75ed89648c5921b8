"""Samples of the random operators: results are compared under one seed only, their distributions are core's tests'."""

from __future__ import annotations

from collections.abc import Iterator

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
