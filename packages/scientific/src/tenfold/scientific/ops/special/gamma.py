"""The gamma function's logarithm, its derivatives and its incomplete forms; the zeta function."""

from __future__ import annotations

from math import log, pi
from typing import Any

from tenfold.dispatch.operators import Number, composite, op, primitive
from tenfold.dispatch.shape_rules import pointwise
from tenfold.dispatch.spellings import as_int
from tenfold.tensor.tensor import Tensor

_REAL: dict[str, Any] = {"promote": "float", "out": True, "pointwise": True, "rule": pointwise, "accepts": "floating"}


@primitive("special", inplace=True, **_REAL)
def lgamma(input: Tensor) -> Tensor:
    """Logarithm of the gamma function's size: log |Gamma(input)|, infinite at 0, -1, -2, ...

    >>> import tenfold
    >>> tenfold.lgamma(tenfold.tensor([1.0, 3.0]))
    tensor([0.0000, 0.6931])
    """


@primitive("special", inplace=True, **_REAL)
def digamma(input: Tensor) -> Tensor:
    """Derivative of `lgamma`: Gamma'(input) / Gamma(input).

    >>> import tenfold
    >>> tenfold.digamma(tenfold.tensor([1.0, 2.0]))
    tensor([-0.5772,  0.4228])
    """


def _polygamma(input: Any, n: int) -> Any:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return pointwise(input)


@primitive("special", accepts="floating", promote="float", inplace=True, out=True, pointwise=True, rule=_polygamma)
def polygamma(input: Tensor, n: Any) -> Tensor:
    """The n-th derivative of `digamma`; as a function it is called with n first, `polygamma(n, input)`.

    >>> import tenfold
    >>> tenfold.polygamma(1, tenfold.tensor([1.0]))
    tensor([1.6449])
    """


@polygamma.overload
def _(input: Any, n: Any, out: Any = None) -> Any:
    if hasattr(n, "_array") and not getattr(input, "shape", ()):
        return polygamma(n, as_int(input, "polygamma", "n"), out=out)
    return NotImplemented if type(n) is int else polygamma(input, as_int(n, "polygamma", "n"), out=out)


@composite("special", inplace=True, out=True)
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """Logarithm of the multivariate gamma function of dimension p: p (p - 1) / 4 log(pi) + sum of lgamma(input - i / 2), i < p.

    >>> import tenfold
    >>> tenfold.mvlgamma(tenfold.tensor([2.0]), 2)
    tensor([0.4516])
    """
    if p < 1:
        raise RuntimeError("mvlgamma: p has to be greater than or equal to 1")
    if input.dtype.category == 0:
        raise RuntimeError("mvlgamma: The input tensor may not be a boolean tensor; convert it to an integer or floating dtype")
    halves = op.arange(p, device=input.device) * -0.5
    return lgamma(input.unsqueeze(-1) + halves.to(input.dtype if input.dtype.category > 1 else halves.dtype)).sum(-1) + (
        p * (p - 1) * log(pi) / 4
    )


@primitive("special", inplace=True, **_REAL)
def igamma(input: Tensor, other: Tensor) -> Tensor:
    """Lower incomplete gamma function: the integral of t^(input - 1) exp(-t) from 0 to other, over Gamma(input).

    >>> import tenfold
    >>> tenfold.igamma(tenfold.tensor([1.0]), tenfold.tensor([1.0]))
    tensor([0.6321])
    """


@primitive("special", inplace=True, **_REAL)
def igammac(input: Tensor, other: Tensor) -> Tensor:
    """Upper incomplete gamma function: 1 - igamma(input, other).

    >>> import tenfold
    >>> tenfold.igammac(tenfold.tensor([1.0]), tenfold.tensor([1.0]))
    tensor([0.3679])
    """


@primitive("special", method=None, **_REAL)
def special_zeta(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Hurwitz' zeta function: the sum of (k + other)^-input over k = 0, 1, ...

    >>> import tenfold
    >>> tenfold.special.zeta(2, tenfold.tensor([1.0]))
    tensor([1.6449])
    """
