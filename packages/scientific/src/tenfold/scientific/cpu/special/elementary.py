"""Kernels in NumPy: entropies, spherical waves, mantissas, and the polynomials by their recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.cpu.half import is_half, widened
from tenfold.cpu.quiet import quiet
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op

# x, the two values before, and the degree before: the value of the next degree.
Step = Callable[[Any, Any, Any, int], Any]


@kernel(op.special_entr, device="cpu")
@widened
@quiet
def special_entr(input: Any) -> Any:
    inside = -input * np.log(input)
    edge = np.where(input == 0, np.zeros((), input.dtype), np.full((), -np.inf, input.dtype))
    return np.where((input > 0) | np.isnan(input), inside, edge)


@kernel(op.special_xlog1py, device="cpu")
@widened
@quiet
def special_xlog1py(input: Any, other: Any) -> Any:
    dtype = (input if isinstance(input, np.ndarray) else other).dtype
    input, other = np.asarray(input, dtype), np.asarray(other, dtype)
    return np.where((input == 0) & ~np.isnan(other), np.zeros((), dtype), input * np.log1p(other))


@kernel(op.special_spherical_bessel_j0, device="cpu")
@widened
@quiet
def special_spherical_bessel_j0(input: Any) -> Any:
    limit = np.where(input == 0, np.ones((), input.dtype), np.zeros((), input.dtype))
    return np.where((input == 0) | np.isinf(input), limit, np.sin(input) / input)


@kernel(op.mantissa_exponent, device="cpu")
def mantissa_exponent(input: Any) -> Any:
    mantissa, exponent = np.frexp(input.astype(np.float32) if is_half(input) else input)
    return mantissa.astype(input.dtype, copy=False), np.asarray(exponent, np.int32)


def _polynomial(first: Callable[[Any], Any], step: Step, shifted: bool = False) -> Any:
    """A kernel that goes from degree to degree, up to the highest asked for, and picks each element's."""

    def polynomial(input: Any, n: Any) -> Any:
        dtype = (input if isinstance(input, np.ndarray) else n).dtype
        if dtype.kind == "c":
            raise TypeError("polynomials of complex numbers")
        x, degree = np.broadcast_arrays(np.asarray(input, dtype), np.trunc(np.asarray(n, dtype)))
        degree = np.where(np.isfinite(degree), degree, -1)  # no degree is as one below 0
        x = 2 * x - 1 if shifted else x
        before, value = np.ones(x.shape, dtype), np.asarray(first(x), dtype)
        result = np.where(degree == 1, value, np.where(degree < 0, np.zeros((), dtype), before))
        for k in range(1, int(np.max(degree, initial=0))):
            before, value = value, step(x, value, before, k)
            result = np.where(degree == k + 1, value, result)
        return result.astype(dtype, copy=False)

    return widened(quiet(polynomial))


def _chebyshev(x: Any, value: Any, before: Any, k: int) -> Any:
    return 2 * x * value - before


_CHEBYSHEV = {"t": lambda x: x, "u": lambda x: 2 * x, "v": lambda x: 2 * x - 1, "w": lambda x: 2 * x + 1}
for _kind, _first in _CHEBYSHEV.items():
    kernel(getattr(op, f"special_chebyshev_polynomial_{_kind}"), device="cpu")(_polynomial(_first, _chebyshev))
    kernel(getattr(op, f"special_shifted_chebyshev_polynomial_{_kind}"), device="cpu")(_polynomial(_first, _chebyshev, True))

for _operator, _start, _step in (
    (op.special_hermite_polynomial_h, lambda x: 2 * x, lambda x, value, before, k: 2 * (x * value - k * before)),
    (op.special_hermite_polynomial_he, lambda x: x, lambda x, value, before, k: x * value - k * before),
    (
        op.special_laguerre_polynomial_l,
        lambda x: 1 - x,
        lambda x, value, before, k: ((2 * k + 1 - x) * value - k * before) / (k + 1),
    ),
    (op.special_legendre_polynomial_p, lambda x: x, lambda x, value, before, k: ((2 * k + 1) * x * value - k * before) / (k + 1)),
):
    kernel(_operator, device="cpu")(_polynomial(_start, _step))
