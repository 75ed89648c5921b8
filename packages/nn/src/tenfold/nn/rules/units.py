"""Gradients of layers' units in closed form, which are in ops/units/slopes.py."""

# ruff: noqa: PLW0108  a rule is read by the names of its parameters, so it needs a lambda of its own
from __future__ import annotations

from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient, gradients
from tenfold.nn.ops.units.gates import gelu_backward, silu_backward
from tenfold.nn.ops.units.slopes import fused_glu_grad, fused_prelu_grad, slope

gradient(op.gelu, input=lambda g, input, approximate: gelu_backward(g, input, approximate))
gradient(op.silu, input=lambda g, input: silu_backward(g, input))
gradient(op.threshold, input=lambda g, input, threshold: slope("threshold", g, input, threshold))
gradient(
    op.hardtanh, node="HardtanhBackward0", input=lambda g, input, min_val, max_val: slope("hardtanh", g, input, min_val, max_val)
)
gradient(op.leaky_relu, input=lambda g, input, negative_slope: slope("leaky_relu", g, input, negative_slope))
gradient(op.hardshrink, input=lambda g, input, lambd: slope("shrink", g, input, lambd))
gradient(op.softshrink, input=lambda g, input, lambd: slope("shrink", g, input, lambd))
gradient(op.hardsigmoid, input=lambda g, input: slope("hardsigmoid", g, input))
gradient(op.logsigmoid, node="LogSigmoidBackward0", input=lambda g, input: slope("logsigmoid", g, input))
gradient(op.hardswish, input=lambda g, input: slope("hardswish", g, input))
gradient(op.mish, input=lambda g, input: slope("mish", g, input))
gradient(op.elu, input=lambda g, input, alpha: slope("elu", g, input, alpha, 1.0))
gradient(op.celu, input=lambda g, input, alpha: slope("elu", g, input, alpha, 1 / alpha))
gradient(op.selu, node="EluBackward0", input=lambda g, input: slope("selu", g, input))
gradient(op.softplus, input=lambda g, input, beta, threshold: slope("softplus", g, input, beta, threshold))
gradient(op.softsign, node="DivBackward0", input=lambda g, input: slope("softsign", g, input))
gradient(op.glu, input=lambda g, input, dim: fused_glu_grad(g, input, dim))


@gradients(op.prelu, "input", "weight", node="PreluKernelBackward0")
def _prelu(g: Any, input: Any, weight: Any) -> Any:
    return fused_prelu_grad(g, input, weight)
