"""Gradients of the affine map."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.autograd.gradients import gradient
from tenfold.autograd.rules.passing import TOGETHER, as_rows, is_unseen, turned
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.kernels import table
from tenfold.nn.arguments import conjugate
from tenfold.nn.ops.linear import linear
from tenfold.tensor.tensor import wrap

MATRIX = 2  # dimensions


def _input(g: Any, weight: Any) -> Any:
    weight = conjugate(weight)
    return g.unsqueeze(-1) * weight if weight.dim() == 1 else g.matmul(weight)


def _weight(g: Any, input: Any, weight_shape: Any) -> Any:
    input = conjugate(input)
    if len(weight_shape) == 1:
        return turned(g.reshape(-1, 1)).mm(as_rows(input)).view(weight_shape)
    return turned(as_rows(g)).mm(as_rows(input))


def _all(g: Any, input: Any, weight: Any, weight_shape: Any) -> tuple[Any, Any, Any]:
    """The three; where nobody can see how, by the kernels themselves: an operator's call costs more than a small product."""
    whole, kernels = TOGETHER.get("linear"), table("cpu")
    if whole is not None and (found := whole(g, input, weight, kernels)) is not None:
        return found  # type: ignore[no-any-return]
    if g._key is not CPU:
        whole = TOGETHER.get(f"linear on {g._key.type}")
        if whole is not None and (found := whole(g, input, weight)) is not None:
            return found  # type: ignore[no-any-return]
    a, x, w = g._array, input._array, weight._array
    dtype = a.dtype
    if (
        not is_unseen(g) or not input._key is weight._key is CPU or not type(x) is type(w) is np.ndarray
        or a.ndim < MATRIX or w.ndim != MATRIX or dtype.kind != "f" or not dtype == x.dtype == w.dtype
    ):  # fmt: skip
        return g, _input(g, weight), _weight(g, input, weight_shape)
    shape = x.shape
    if a.ndim > MATRIX:
        a, x = a.reshape(-1, a.shape[-1]), x.reshape(-1, x.shape[-1])
    of_bias, of_input = kernels.sum(a, 0, False), kernels.mm(a, w)
    return wrap(of_bias, CPU), wrap(of_input.reshape(shape), CPU), wrap(kernels.mm(a.T, x), CPU)


# The bias first, as PyTorch's product does to which it is added: gradients reach leaves in this order.
gradient(linear, bias=lambda g: g, input=_input, weight=_weight, together=_all, node="AddmmBackward0")
