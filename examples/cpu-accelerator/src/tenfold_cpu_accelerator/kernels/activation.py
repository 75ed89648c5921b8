"""Softmax and its logarithm. Their gradients are those that Tenfold has: an accelerated operator is still the same operator."""

from __future__ import annotations

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold_cpu_accelerator import functions, loops
from tenfold_cpu_accelerator.arrays import Array, Least, by_row

LEAST = Least(4096)


def _rows_suit(input: Array, dim: int) -> bool:
    return LEAST.suits(input) and dim in (-1, input.ndim - 1)


@kernel(op.softmax, device="cpu", when=_rows_suit, note=f"{LEAST.note}, over the last dimension")
def softmax(input: Array, dim: int) -> Array:
    return by_row(loops.SOFTMAX, functions.exp, input)


@kernel(op.log_softmax, device="cpu", when=_rows_suit, note=f"{LEAST.note}, over the last dimension")
def log_softmax(input: Array, dim: int) -> Array:
    return by_row(loops.LOG_SOFTMAX, functions.exp, input)
