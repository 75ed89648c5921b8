"""Samples of the special functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tenfold
from tenfold.testing.generators import binary, no_tensor, no_tensor_pair, unary
from tenfold.testing.samples import ANY, NONZERO, POSITIVE, UNIT, Domain, ErrorSample, Make, Sample, error_samples, samples

PROBABLE = Domain(0.1, 0.9)
DEGREES = Domain(0, 4)
ORDERS = Domain(1.2, 4.0)
NO_STEPS = "PyTorch defines no derivative of it"

UNARY = {
    "lgamma": POSITIVE, "digamma": POSITIVE, "i0": ANY, "special_i0e": NONZERO, "special_i1": NONZERO, "special_i1e": NONZERO,
    "special_erfcx": ANY, "special_ndtr": ANY, "special_ndtri": PROBABLE, "special_log_ndtr": ANY, "special_entr": POSITIVE,
}  # fmt: skip
for _name, _domain in UNARY.items():
    samples(_name)(unary(_domain))
    error_samples(_name)(no_tensor)

WITHOUT_DERIVATIVE = {
    "bessel_j0": ANY, "bessel_j1": ANY, "bessel_y0": POSITIVE, "bessel_y1": POSITIVE, "modified_bessel_i0": ANY,
    "modified_bessel_i1": ANY, "modified_bessel_k0": POSITIVE, "modified_bessel_k1": POSITIVE,
    "scaled_modified_bessel_k0": POSITIVE, "scaled_modified_bessel_k1": POSITIVE, "spherical_bessel_j0": NONZERO, "airy_ai": ANY,
}  # fmt: skip
for _name, _domain in WITHOUT_DERIVATIVE.items():
    samples(f"special_{_name}")(unary(_domain))
    error_samples(f"special_{_name}")(no_tensor)

_CHEBYSHEV = {f"{shift}chebyshev_polynomial_{kind}" for shift in ("", "shifted_") for kind in "tuvw"}
_OTHERS = {"hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"}
for _name in sorted(_CHEBYSHEV | _OTHERS):
    samples(f"special_{_name}")(binary(UNIT, DEGREES, (3,)))
    error_samples(f"special_{_name}")(no_tensor_pair)

samples("special_xlog1py")(binary(ANY, POSITIVE))
samples("special_zeta", constants=("input",))(binary(ORDERS, POSITIVE, ()))
for _name in ("igamma", "igammac"):
    samples(_name, constants=("input",))(binary(POSITIVE, POSITIVE, ()))
for _name in ("special_xlog1py", "special_zeta", "igamma", "igammac"):
    error_samples(_name)(no_tensor_pair)


@samples("polygamma")
def _polygamma(make: Make) -> Iterator[Sample]:
    for n in range(3):
        yield from unary(POSITIVE, n)(make)


@error_samples("polygamma")
def _polygamma_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2), -1, error=RuntimeError, match="negative n")


@samples("mvlgamma")
def _mvlgamma(make: Make) -> Iterator[Sample]:
    for p in (1, 3):
        yield from unary(Domain(2.0, 4.0), p)(make)


@error_samples("mvlgamma")
def _mvlgamma_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2), 0, error=RuntimeError, match="greater than or equal to 1")


FLOATING = (tenfold.float32, tenfold.float64, tenfold.float16, tenfold.bfloat16)
for _name in ("mantissa_exponent", "frexp"):
    samples(_name, dtypes=FLOATING, reference=np.frexp)(unary(NONZERO))


@error_samples("mantissa_exponent")
@error_samples("frexp")
def _frexp_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make.ints(2, low=0, high=3), error=RuntimeError, match="floating-point")
