"""NumPy kernels of the elementwise operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cpu.quiet import quiet
from tenfold.kernels import kernel
from tenfold.operators import op
from tenfold.promotion import number_dtype


@kernel(op.where, device="cpu")
def where(condition: Any, input: Any, other: Any) -> Any:
    if type(input) in (int, float, bool, complex) and type(other) in (int, float, bool, complex):
        return np.where(condition, _default(input, other), _default(other, input))
    return np.where(condition, input, other)


def _default(number: Any, other: Any) -> Any:
    return np.asarray(number, number_dtype(number + other if type(number) is not bool else number).numpy)


@kernel(op.truncated_quotient, device="cpu")
def truncated_quotient(input: Any, other: Any) -> Any:
    result_type = np.result_type(input, other)
    if result_type.kind in "iu":
        quotient = np.floor_divide(input, other)
        inexact = np.multiply(quotient, other) != input
        return quotient + (inexact & ((np.asarray(input) < 0) != (np.asarray(other) < 0))).astype(result_type)
    return np.trunc(np.true_divide(input, other))


for _operator, _ufunc in {
    op.add: np.add, op.sub: np.subtract, op.mul: np.multiply, op.neg: np.negative, op.gt: np.greater, op.eq: np.equal,
    op.div: quiet(np.true_divide), op.exp: quiet(np.exp), op.log: quiet(np.log), op.sqrt: quiet(np.sqrt),
    op.pow: quiet(np.power), op.floor_divide: quiet(np.floor_divide),
}.items():  # fmt: skip
    kernel(_operator, device="cpu")(_ufunc)
