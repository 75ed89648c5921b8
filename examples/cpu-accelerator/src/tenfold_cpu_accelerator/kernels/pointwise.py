"""Elementwise functions."""

from __future__ import annotations

from collections.abc import Callable

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold_cpu_accelerator import functions
from tenfold_cpu_accelerator.arrays import Array, Least, elementwise
from tenfold_cpu_accelerator.expressions import Value


def accelerated(function: Callable[[Value], Value]) -> Callable[[Array], Array]:
    def run(input: Array) -> Array:
        return elementwise(function, input)

    return run


for _operator, _function, _least in (
    (op.exp, functions.exp, Least(65536)),
    (op.sigmoid, functions.sigmoid, Least(16384)),
):
    kernel(_operator, device="cpu", when=_least.suits, note=_least.note)(accelerated(_function))
