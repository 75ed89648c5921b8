"""Functions of the normal distribution, entropies and logarithms."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from tenfold import return_types
from tenfold.dispatch.accepted import Only
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import Number, composite, op, primitive
from tenfold.dispatch.shape_rules import pointwise
from tenfold.tensor.tensor import Tensor

_REAL: dict[str, Any] = {"promote": "float", "out": True, "pointwise": True, "rule": pointwise, "accepts": "floating"}


@primitive("special", method=None, **_REAL)
def special_erfcx(input: Tensor) -> Tensor:
    """Scaled complementary error function: exp(input^2) erfc(input), without overflow for large inputs.

    >>> import tenfold
    >>> tenfold.special.erfcx(tenfold.tensor([0.0, 1.0]))
    tensor([1.0000, 0.4276])
    """


@composite("special", method=None, promote="float", out=True)
def special_ndtr(input: Tensor) -> Tensor:
    """The normal distribution function: the probability of less than input, (1 + erf(input / sqrt(2))) / 2.

    >>> import tenfold
    >>> tenfold.special.ndtr(tenfold.tensor([0.0, 1.0]))
    tensor([0.5000, 0.8413])
    """
    return 0.5 * op.erfc(input * -sqrt(0.5))


@primitive("special", method=None, **_REAL)
def special_ndtri(input: Tensor) -> Tensor:
    """The argument at which the normal distribution function has this value; infinite at 0 and 1.

    >>> import tenfold
    >>> tenfold.special.ndtri(tenfold.tensor([0.5, 0.8413]))
    tensor([0.0000, 0.9998])
    """


@primitive("special", method=None, **_REAL)
def special_log_ndtr(input: Tensor) -> Tensor:
    """Logarithm of the normal distribution function, exact for negative inputs.

    >>> import tenfold
    >>> tenfold.special.log_ndtr(tenfold.tensor([0.0, -10.0]))
    tensor([ -0.6931, -53.2313])
    """


@primitive("special", method=None, **_REAL)
def special_entr(input: Tensor) -> Tensor:
    """Entropy: -input log(input), 0 at 0, -inf below.

    >>> import tenfold
    >>> tenfold.special.entr(tenfold.tensor([0.0, 0.5, -1.0]))
    tensor([0.0000, 0.3466,   -inf])
    """


@primitive("special", method=None, **_REAL)
def special_xlog1py(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Product with a logarithm: input log(1 + other), 0 where input is 0 and other is not nan.

    >>> import tenfold
    >>> tenfold.special.xlog1py(tenfold.tensor([0.0, 2.0]), tenfold.tensor([-1.0, 1.0]))
    tensor([0.0000, 1.3863])
    """


@primitive("special", method=None, accepts=Only("floating", RuntimeError, "torch.frexp() only supports floating-point dtypes"))
def mantissa_exponent(input: Tensor) -> tuple[Tensor, Tensor]:
    """Mantissa of size 0.5 to 1 and exponent of two: what `frexp` runs.

    >>> import tenfold
    >>> tenfold.op.mantissa_exponent(tenfold.tensor(5.0))
    (tensor(0.6250), tensor(3, dtype=tenfold.int32))
    """


@mantissa_exponent.rule
def _(input: Any) -> tuple[Meta, Meta]:
    return pointwise(input), Meta(input.shape, np.int32)


@composite("special", out="named")
def frexp(input: Tensor) -> Any:
    """Mantissa (of size 0.5 to 1, or 0) and exponent with input = mantissa 2^exponent.

    >>> import tenfold
    >>> tenfold.frexp(tenfold.tensor([5.0])).exponent
    tensor([3], dtype=tenfold.int32)
    """
    return return_types.frexp(*mantissa_exponent(input))
