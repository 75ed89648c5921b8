"""Samples of the random operators with a parameter for each element: results are compared under one seed only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.testing.samples import POSITIVE, PROBABILITY, Domain, ErrorSample, Make, Sample, error_samples, samples

SHAPES = ((), (3,), (2, 3), (0,))
FLOATING = (tenfold.float32, tenfold.float64)
IMPLICIT = "its derivative holds the probability below the sample fixed, not the random numbers"
UNDEFINED: dict[str, Any] = {
    "no_gradient": "as in PyTorch, it has none: it is itself a derivative",
    "no_second_gradient": "as in PyTorch, it has none",
    "no_forward": "as in PyTorch, it has no derivative",
    "no_special": "it is asked for samples only, which are finite and positive",
}


@samples("poisson", random=True, dtypes=FLOATING)
def _poisson(make: Make) -> Iterator[Sample]:
    for shape in SHAPES:
        yield Sample(make(*shape, domain=Domain(0.0, 30.0)), note=f"{len(shape)}-d")


@error_samples("poisson")
def _poisson_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make.of([-1.0]), error=RuntimeError, match="non-negative")
    yield ErrorSample(make.ints(2, low=0, high=3), error=NotImplementedError, match="floating point")


@samples("binomial", random=True, dtypes=FLOATING)
def _binomial(make: Make) -> Iterator[Sample]:
    for shape in SHAPES:
        yield Sample(make(*shape, domain=Domain(0.0, 90.0)).floor(), make(*shape, domain=PROBABILITY), note=f"{len(shape)}-d")


@error_samples("binomial")
def _binomial_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make.ints(2, low=0, high=3), make(2, domain=PROBABILITY), error=ValueError, match="for count")


@samples("_standard_gamma", random=True, dtypes=FLOATING, no_gradient=IMPLICIT, no_second_gradient=IMPLICIT)
def _standard_gamma(make: Make) -> Iterator[Sample]:
    for shape in SHAPES:
        yield Sample(make(*shape, domain=POSITIVE), note=f"{len(shape)}-d")


@samples("_sample_dirichlet", random=True, dtypes=FLOATING, no_gradient=IMPLICIT, no_second_gradient=IMPLICIT)
def _sample_dirichlet(make: Make) -> Iterator[Sample]:
    for shape in ((3,), (2, 3), (0, 2)):
        yield Sample(make(*shape, domain=POSITIVE), note=f"{len(shape)}-d")


@samples("_standard_gamma_grad", dtypes=FLOATING, **UNDEFINED)
def _standard_gamma_grad(make: Make) -> Iterator[Sample]:
    for shape in SHAPES:
        yield Sample(make(*shape, domain=POSITIVE), make(*shape, domain=POSITIVE), note=f"{len(shape)}-d")


@samples("_dirichlet_grad", dtypes=FLOATING, **UNDEFINED)
def _dirichlet_grad(make: Make) -> Iterator[Sample]:
    for shape in SHAPES:
        alpha = make(*shape, domain=POSITIVE)
        yield Sample(make(*shape, domain=Domain(0.1, 0.9)), alpha, alpha + make(*shape, domain=POSITIVE))


for _name in ("_standard_gamma", "_sample_dirichlet"):
    error_samples(_name)(lambda make: [ErrorSample(make.ints(2, low=1, high=3), error=NotImplementedError, match="floating")])
error_samples("_standard_gamma_grad")(lambda make: [ErrorSample([1.0], make(2), error=TypeError, match="argument")])
error_samples("_dirichlet_grad")(lambda make: [ErrorSample([1.0], make(2), make(2), error=TypeError, match="argument")])


# Fills of a tensor: further arguments, wrong ones.
for _name, _rest, _wrong, _match in (
    ("geometric_", (0.4,), (1.5,), "p"),
    ("cauchy_", (), (0.0, -1.0), "sigma"),
    ("log_normal_", (), (0.0, -1.0), "std"),
):
    samples(_name, random=True, mutates=True, dtypes=FLOATING)(
        (lambda rest: lambda make: [Sample(make(*s), *rest) for s in ((3,), (2, 3), (0,))])(_rest)
    )
    error_samples(_name)(
        (lambda rest, match: lambda make: [ErrorSample(make(2), *rest, error=RuntimeError, match=match)])(_wrong, _match)
    )
