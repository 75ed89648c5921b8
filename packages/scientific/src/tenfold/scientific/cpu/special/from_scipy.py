"""Kernels that SciPy has: one row for each operator. SciPy is the extra `scipy`, imported when one of them first runs."""

from __future__ import annotations

import importlib
import sys
from operator import index
from typing import Any

import numpy as np

from tenfold.cpu.half import widened
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import Operator, op

UNARY = { op.digamma: "psi", op.i0: "i0", op.special_i0e: "i0e", op.special_i1: "i1", op.special_i1e: "i1e",
    op.special_erfcx: "erfcx", op.special_ndtri: "ndtri", op.special_log_ndtr: "log_ndtr", op.special_bessel_j0: "j0",
    op.special_bessel_j1: "j1", op.special_bessel_y0: "y0", op.special_bessel_y1: "y1", op.special_modified_bessel_i0: "i0",
    op.special_modified_bessel_i1: "i1", op.special_modified_bessel_k0: "k0", op.special_modified_bessel_k1: "k1",
    op.special_scaled_modified_bessel_k0: "k0e", op.special_scaled_modified_bessel_k1: "k1e",
}  # fmt: skip
BINARY = {op.igamma: "gammainc", op.igammac: "gammaincc", op.special_zeta: "zeta"}


def scipy_special(name: str, operator: Operator) -> Any:
    """A function of scipy.special; ModuleNotFoundError that says how to install it."""
    try:
        module = sys.modules.get("scipy.special") or importlib.import_module("scipy.special")
        return getattr(module, name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f'{operator.name} is computed by SciPy, which is not installed: pip install "tenfold-scientific[scipy]"',
            name="scipy",
        ) from error


@kernel(op.lgamma, device="cpu")
@widened
def lgamma(input: Any) -> Any:
    values = np.asarray(scipy_special("gammaln", op.lgamma)(input))
    values[input == -np.inf] = np.inf  # as C has it
    return values


def _unary(operator: Operator, name: str) -> Any:
    def function(input: Any) -> Any:
        return scipy_special(name, operator)(input)

    return widened(function)


def _binary(operator: Operator, name: str) -> Any:
    def function(input: Any, other: Any) -> Any:
        array = input if isinstance(input, np.ndarray) else other
        return np.asarray(scipy_special(name, operator)(input, other)).astype(array.dtype, copy=False)

    return widened(function)


for _operator, _name in UNARY.items():
    kernel(_operator, device="cpu")(_unary(_operator, _name))
for _operator, _name in BINARY.items():
    kernel(_operator, device="cpu")(_binary(_operator, _name))


@kernel(op.polygamma, device="cpu")
@widened
def polygamma(input: Any, n: Any) -> Any:
    n = index(n)
    if n < 0:
        raise TypeError("polygamma of a negative order")
    if n == 0:
        return scipy_special("psi", op.polygamma)(input)
    # As SciPy's own function has it, which computes psi besides, and takes a third of its time to ask what it was given.
    factor = (-1.0) ** (n + 1) * scipy_special("gamma", op.polygamma)(n + 1.0)
    values = factor * scipy_special("zeta", op.polygamma)(n + 1.0, input.astype(np.float64))
    if n == 1:  # among its poles, without end
        values = np.where(input == -np.inf, np.nan, values)
    return np.asarray(values).astype(input.dtype, copy=False)


@kernel(op.special_airy_ai, device="cpu")
@widened
def special_airy_ai(input: Any) -> Any:
    value = scipy_special("airy", op.special_airy_ai)(input)[0]
    return np.where((input > 1e3) & (input < np.inf), np.zeros((), value.dtype), value)  # where SciPy gives up
