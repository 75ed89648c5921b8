"""Gradients of the affine map."""

from __future__ import annotations

from math import prod
from typing import Any

from tenfold.autograd.gradients import gradient
from tenfold.nn.arguments import conjugate
from tenfold.nn.ops.linear import linear


def _input(g: Any, weight: Any) -> Any:
    weight = conjugate(weight)
    return g.unsqueeze(-1) * weight if weight.dim() == 1 else g.matmul(weight)


def _weight(g: Any, input: Any, weight_shape: Any) -> Any:
    input = conjugate(input)
    if input.dim() == 2 and len(weight_shape) == 2:
        return g.transpose(0, 1).mm(input)
    N = prod(input.shape[:-1])
    rows, g = input.reshape(N, input.shape[-1]), g.reshape(N, prod(weight_shape[:-1]))
    return g.transpose(0, 1).mm(rows).view(weight_shape)


gradient(linear, input=_input, weight=_weight, bias=lambda g: g, node="AddmmBackward0")
