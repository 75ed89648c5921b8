"""Bessel functions and the Airy function."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.operators import primitive
from tenfold.dispatch.shape_rules import pointwise
from tenfold.tensor.tensor import Tensor

_REAL: dict[str, Any] = {"promote": "float", "out": True, "pointwise": True, "rule": pointwise, "accepts": "floating"}
_VALUE: dict[str, Any] = {**_REAL, "method": None, "nondifferentiable": "PyTorch defines no derivative of it"}


@primitive("special", inplace=True, **_REAL)
def i0(input: Tensor) -> Tensor:
    """Modified Bessel function of the first kind and order 0.

    >>> import tenfold
    >>> tenfold.i0(tenfold.tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])
    """


@primitive("special", method=None, **_REAL)
def special_i0e(input: Tensor) -> Tensor:
    """`i0` over exp(|input|), without overflow.

    >>> import tenfold
    >>> tenfold.special.i0e(tenfold.tensor([0.0, 1.0]))
    tensor([1.0000, 0.4658])
    """


@primitive("special", method=None, **_REAL)
def special_i1(input: Tensor) -> Tensor:
    """Modified Bessel function of the first kind and order 1.

    >>> import tenfold
    >>> tenfold.special.i1(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])
    """


@primitive("special", method=None, **_REAL)
def special_i1e(input: Tensor) -> Tensor:
    """`i1` over exp(|input|), without overflow.

    >>> import tenfold
    >>> tenfold.special.i1e(tenfold.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2079])
    """


@primitive("special", **_VALUE)
def special_bessel_j0(input: Tensor) -> Tensor:
    """Bessel function of the first kind and order 0.

    >>> import tenfold
    >>> tenfold.special.bessel_j0(tenfold.tensor([1.0, 2.0]))
    tensor([0.7652, 0.2239])
    """


@primitive("special", **_VALUE)
def special_bessel_j1(input: Tensor) -> Tensor:
    """Bessel function of the first kind and order 1.

    >>> import tenfold
    >>> tenfold.special.bessel_j1(tenfold.tensor([1.0, 2.0]))
    tensor([0.4401, 0.5767])
    """


@primitive("special", **_VALUE)
def special_bessel_y0(input: Tensor) -> Tensor:
    """Bessel function of the second kind and order 0.

    >>> import tenfold
    >>> tenfold.special.bessel_y0(tenfold.tensor([1.0, 2.0]))
    tensor([0.0883, 0.5104])
    """


@primitive("special", **_VALUE)
def special_bessel_y1(input: Tensor) -> Tensor:
    """Bessel function of the second kind and order 1.

    >>> import tenfold
    >>> tenfold.special.bessel_y1(tenfold.tensor([1.0, 2.0]))
    tensor([-0.7812, -0.1070])
    """


@primitive("special", **_VALUE)
def special_modified_bessel_i0(input: Tensor) -> Tensor:
    """Modified Bessel function of the first kind and order 0.

    >>> import tenfold
    >>> tenfold.special.modified_bessel_i0(tenfold.tensor([1.0, 2.0]))
    tensor([1.2661, 2.2796])
    """


@primitive("special", **_VALUE)
def special_modified_bessel_i1(input: Tensor) -> Tensor:
    """Modified Bessel function of the first kind and order 1.

    >>> import tenfold
    >>> tenfold.special.modified_bessel_i1(tenfold.tensor([1.0, 2.0]))
    tensor([0.5652, 1.5906])
    """


@primitive("special", **_VALUE)
def special_modified_bessel_k0(input: Tensor) -> Tensor:
    """Modified Bessel function of the second kind and order 0.

    >>> import tenfold
    >>> tenfold.special.modified_bessel_k0(tenfold.tensor([1.0, 2.0]))
    tensor([0.4210, 0.1139])
    """


@primitive("special", **_VALUE)
def special_modified_bessel_k1(input: Tensor) -> Tensor:
    """Modified Bessel function of the second kind and order 1.

    >>> import tenfold
    >>> tenfold.special.modified_bessel_k1(tenfold.tensor([1.0, 2.0]))
    tensor([0.6019, 0.1399])
    """


@primitive("special", **_VALUE)
def special_scaled_modified_bessel_k0(input: Tensor) -> Tensor:
    """`modified_bessel_k0` times exp(input), without underflow.

    >>> import tenfold
    >>> tenfold.special.scaled_modified_bessel_k0(tenfold.tensor([1.0, 2.0]))
    tensor([1.1445, 0.8416])
    """


@primitive("special", **_VALUE)
def special_scaled_modified_bessel_k1(input: Tensor) -> Tensor:
    """`modified_bessel_k1` times exp(input), without underflow.

    >>> import tenfold
    >>> tenfold.special.scaled_modified_bessel_k1(tenfold.tensor([1.0, 2.0]))
    tensor([1.6362, 1.0335])
    """


@primitive("special", **_VALUE)
def special_spherical_bessel_j0(input: Tensor) -> Tensor:
    """Spherical Bessel function of the first kind and order 0: sin(input) / input.

    >>> import tenfold
    >>> tenfold.special.spherical_bessel_j0(tenfold.tensor([1.0, 2.0]))
    tensor([0.8415, 0.4546])
    """


@primitive("special", **_VALUE)
def special_airy_ai(input: Tensor) -> Tensor:
    """The Airy function Ai, a solution of y'' = input y.

    >>> import tenfold
    >>> tenfold.special.airy_ai(tenfold.tensor([1.0, 2.0]))
    tensor([0.1353, 0.0349])
    """
