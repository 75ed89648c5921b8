"""An operator that is right in everything but what a test plants in it, and which checks find that."""

from __future__ import annotations

from typing import Any

import numpy as np

import tenfold
from tenfold.autograd import gradient
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import primitive
from tenfold.dispatch.shape_rules import pointwise
from tenfold.tensor.tensor import Tensor
from tenfold.testing import check_operator
from tenfold.testing.generators import no_tensor, unary
from tenfold.testing.samples import error_samples, samples


def square_rule(input: Any) -> Meta:
    return pointwise(input)


def squared(input: Any) -> Any:
    with np.errstate(all="ignore"):  # infinity is a result, no accident
        return input * input


def doubled(input: Any) -> Any:
    with np.errstate(all="ignore"):
        return 2 * input


def plant(
    compute: Any = None,
    rule: Any = square_rule,
    slope: Any = None,
    kernel_options: Any = None,
    samples_from: Any = None,
    **options: Any,
) -> Any:
    """An operator input * input, right in everything but what is given here."""

    @primitive("pointwise", name="planted", rule=rule, **options)
    def declared(input: Tensor) -> Tensor:
        """The square of each element.

        >>> 3 * 3
        9
        """

    kernel(declared, device="cpu", **(kernel_options or {}))(compute or squared)
    if "nondifferentiable" not in options:
        gradient(declared, input=slope or (lambda g, input: g * 2 * conjugate(input)))
    samples(declared, reference=lambda input: input * input, dtypes=(tenfold.float32, tenfold.float64))(samples_from or unary())
    error_samples(declared)(no_tensor)
    return declared.op


def conjugate(x: Any) -> Any:
    return x.conj() if x.is_complex() else x


def failing(operator: Any) -> set[str]:
    return {failure.check for failure in check_operator(operator).failures}
