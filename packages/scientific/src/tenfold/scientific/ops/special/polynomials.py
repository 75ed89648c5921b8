"""Orthogonal polynomials of a degree n, one for each element; a negative degree gives 0."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.operators import Number, primitive
from tenfold.dispatch.shape_rules import pointwise
from tenfold.tensor.tensor import Tensor

_OPTIONS: dict[str, Any] = {
    "method": None, "promote": "float", "out": True, "pointwise": True, "rule": pointwise, "accepts": "floating",
    "nondifferentiable": "PyTorch defines no derivative of it",
}  # fmt: skip


@primitive("special", **_OPTIONS)
def special_chebyshev_polynomial_t(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Chebyshev polynomial of the first kind: T_n = 2 x T_(n-1) - T_(n-2), from 1 and x.

    >>> import tenfold
    >>> tenfold.special.chebyshev_polynomial_t(tenfold.tensor([0.5]), 2)
    tensor([-0.5000])
    """


@primitive("special", **_OPTIONS)
def special_chebyshev_polynomial_u(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Chebyshev polynomial of the second kind: U_n = 2 x U_(n-1) - U_(n-2), from 1 and 2 x.

    >>> import tenfold
    >>> tenfold.special.chebyshev_polynomial_u(tenfold.tensor([0.5]), 2)
    tensor([0.])
    """


@primitive("special", **_OPTIONS)
def special_chebyshev_polynomial_v(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Chebyshev polynomial of the third kind: V_n = 2 x V_(n-1) - V_(n-2), from 1 and 2 x - 1.

    >>> import tenfold
    >>> tenfold.special.chebyshev_polynomial_v(tenfold.tensor([0.5]), 2)
    tensor([-1.])
    """


@primitive("special", **_OPTIONS)
def special_chebyshev_polynomial_w(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Chebyshev polynomial of the fourth kind: W_n = 2 x W_(n-1) - W_(n-2), from 1 and 2 x + 1.

    >>> import tenfold
    >>> tenfold.special.chebyshev_polynomial_w(tenfold.tensor([0.5]), 2)
    tensor([1.])
    """


@primitive("special", **_OPTIONS)
def special_shifted_chebyshev_polynomial_t(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """`chebyshev_polynomial_t` at 2 x - 1.

    >>> import tenfold
    >>> tenfold.special.shifted_chebyshev_polynomial_t(tenfold.tensor([0.5]), 2)
    tensor([-1.])
    """


@primitive("special", **_OPTIONS)
def special_shifted_chebyshev_polynomial_u(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """`chebyshev_polynomial_u` at 2 x - 1.

    >>> import tenfold
    >>> tenfold.special.shifted_chebyshev_polynomial_u(tenfold.tensor([0.5]), 2)
    tensor([-1.])
    """


@primitive("special", **_OPTIONS)
def special_shifted_chebyshev_polynomial_v(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """`chebyshev_polynomial_v` at 2 x - 1.

    >>> import tenfold
    >>> tenfold.special.shifted_chebyshev_polynomial_v(tenfold.tensor([0.5]), 2)
    tensor([-1.])
    """


@primitive("special", **_OPTIONS)
def special_shifted_chebyshev_polynomial_w(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """`chebyshev_polynomial_w` at 2 x - 1.

    >>> import tenfold
    >>> tenfold.special.shifted_chebyshev_polynomial_w(tenfold.tensor([0.5]), 2)
    tensor([-1.])
    """


@primitive("special", **_OPTIONS)
def special_hermite_polynomial_h(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Physicists' Hermite polynomial: H_n = 2 x H_(n-1) - 2 (n - 1) H_(n-2), from 1 and 2 x.

    >>> import tenfold
    >>> tenfold.special.hermite_polynomial_h(tenfold.tensor([0.5]), 2)
    tensor([-1.])
    """


@primitive("special", **_OPTIONS)
def special_hermite_polynomial_he(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Probabilists' Hermite polynomial: He_n = x He_(n-1) - (n - 1) He_(n-2), from 1 and x.

    >>> import tenfold
    >>> tenfold.special.hermite_polynomial_he(tenfold.tensor([0.5]), 2)
    tensor([-0.7500])
    """


@primitive("special", **_OPTIONS)
def special_laguerre_polynomial_l(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Laguerre polynomial: n L_n = (2 n - 1 - x) L_(n-1) - (n - 1) L_(n-2), from 1 and 1 - x.

    >>> import tenfold
    >>> tenfold.special.laguerre_polynomial_l(tenfold.tensor([0.5]), 2)
    tensor([0.1250])
    """


@primitive("special", **_OPTIONS)
def special_legendre_polynomial_p(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Legendre polynomial: n P_n = (2 n - 1) x P_(n-1) - (n - 1) P_(n-2), from 1 and x.

    >>> import tenfold
    >>> tenfold.special.legendre_polynomial_p(tenfold.tensor([0.5]), 2)
    tensor([-0.1250])
    """
