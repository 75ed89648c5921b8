"""Layers' units: formulas in one pass each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.cuda.attaching import kernel
from tenfold.cuda.kernels.elementwise import run
from tenfold.dispatch.operators import op

for _name in ("leaky_relu", "celu", "mish", "silu", "silu_backward", "softsign", "tanhshrink", "logsigmoid", "elu"):

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
