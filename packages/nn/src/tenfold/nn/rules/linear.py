"""Gradients of the affine map."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.gradients import gradient
from tenfold.autograd.rules.passing import as_rows, turned
from tenfold.nn.arguments import conjugate
from tenfold.nn.ops.linear import linear


def _input(g: Any, weight: Any) -> Any:
    weight = conjugate(weight)
    return g.unsqueeze(-1) * weight if weight.dim() == 1 else g.matmul(weight)


def _weight(g: Any, input: Any, weight_shape: Any) -> Any:
    input = conjugate(input)
    if len(weight_shape) == 1:
        return turned(g.reshape(-1, 1)).mm(as_rows(input)).view(weight_shape)
    return turned(as_rows(g)).mm(as_rows(input))


# The bias first, as PyTorch's product does to which it is added: gradients reach leaves in this order.
gradient(linear, bias=lambda g: g, input=_input, weight=_weight, node="AddmmBackward0")
