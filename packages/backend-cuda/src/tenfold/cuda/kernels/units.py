"""Layers' units: formulas in one pass each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.elementwise import largest, run
from tenfold.dispatch.operators import op

HALF_BYTES = 2

for _name in ("leaky_relu", "celu", "mish", "silu", "silu_backward", "softsign", "tanhshrink", "logsigmoid", "elu",
              "hardsigmoid", "hardswish", "selu"):  # fmt: skip

    def _formula(name: str) -> Callable[..., Any]:
        def activation(*operands: Any) -> Any:
            return run(name, *operands)

        activation.__name__ = name
        return activation

    kernel(getattr(op, _name), device="cuda")(_formula(_name))


@kernel(op.softplus, device="cuda")
def softplus(input: Any, beta: float, threshold: float) -> Any:
    return run("softplus", input, beta, threshold)


@kernel(op.gelu, device="cuda")
def gelu(input: Any, approximate: str) -> Any:
    name = {"none": "gelu", "tanh": "gelu_tanh"}.get(approximate)
    return NotImplemented if name is None else run(name, input)


@kernel(op.gelu_backward, device="cuda")
def gelu_backward(grad_output: Any, input: Any, approximate: str) -> Any:
    name = {"none": "gelu_backward", "tanh": "gelu_tanh_backward"}.get(approximate)
    return NotImplemented if name is None else run(name, grad_output, input)


@kernel(op.hardshrink, device="cuda")
def hardshrink(input: Any, lambd: float) -> Any:
    if not _is_floating(input):
        return NotImplemented
    # Half precision rounds the limit, too.
    return run("hardshrink", input, float(np.asarray(lambd, input.dtype)) if input.dtype.itemsize == HALF_BYTES else lambd)


@kernel(op.softshrink, device="cuda")
def softshrink(input: Any, lambd: float) -> Any:
    return (
        run("softshrink", input, float(lambd)) if _is_floating(input) and 0 <= lambd <= largest(input.dtype) else NotImplemented
    )


@kernel(op.threshold, device="cuda")
def threshold(input: Any, threshold: float, value: float) -> Any:
    """Of floating-point numbers, with a value that they hold."""
    if not _is_floating(input) or largest(input.dtype) < abs(value) < float("inf"):
        return NotImplemented
    return run("threshold", input, float(threshold), float(value))


@kernel(op.prelu, device="cuda")
def prelu(input: Any, weight: Any) -> Any:
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.dtype != input.dtype or weight.ndim > 1 or weight.size not in (1, channels):
        return NotImplemented
    return run("prelu", input, weight.reshape((-1,) + (1,) * (input.ndim - 2)) if input.ndim > 1 else weight.reshape(()))


@kernel(op.glu, device="cuda")
def glu(input: Any, dim: int) -> Any:
    if not input.ndim or not -input.ndim <= dim < input.ndim or input.shape[dim] % 2:
        return NotImplemented
    half, lead = input.shape[dim] // 2, (slice(None),) * (dim % input.ndim)
    return run("glu", input[(*lead, slice(0, half))], input[(*lead, slice(half, None))])


def _is_floating(array: Any) -> bool:
    return array.dtype.kind in "fV"
