"""Affine maps of the last dimension."""

from __future__ import annotations

from math import prod
from typing import Any

import tenfold as tf
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite
from tenfold.tensor.tensor import Tensor


@composite("linear", accepts="integer floating complex", method=None, promote="same", out="same")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Affine map: input @ weight.T + bias.

    Shape: (*, I), (O, I) or (I), (O) or () -> (*, O) or (*). Dtype: the same for all.
    Raises: RuntimeError when the sizes or dtypes differ.

    >>> import tenfold
    >>> tenfold.nn.functional.linear(tenfold.tensor([1.0, 2.0]), tenfold.tensor([[3.0, 4.0]]), tenfold.tensor([0.5]))
    tensor([11.5000])
    """
    check_linear(input, weight)
    out = tf.matmul(input, weight if weight.dim() == 1 else weight.transpose(0, 1))
    return out if bias is None else out + bias


def check_linear(input: Tensor, weight: Tensor) -> None:
    """Refuse sizes that do not fit, with PyTorch's exception type."""
    if not input._array.shape:
        raise RuntimeError(f"linear: both arguments to linear need to be at least 1D, but they are 0D and {weight.dim()}D")
    if len(weight._array.shape) not in (1, 2):
        raise RuntimeError(f"linear: expected input (*, I) and weight (O, I), got {list(input.shape)} and {list(weight.shape)}")
    if input._array.shape[-1] != weight._array.shape[-1]:
        raise RuntimeError(
            f"linear: mat1 and mat2 shapes cannot be multiplied ({_as_matrices(input.shape, weight.shape)}); "
            f"the last sizes must be equal"
        )


def _as_matrices(input: Any, weight: Any) -> str:
    """The shapes of the product (N, I) (I, O) that `linear` is."""
    turned = "x".join(map(str, reversed(weight)))
    return f"{prod(input[:-1])}x{input[-1]} and {turned}"


@linear.rule
def _(input, weight, bias):  # type: ignore[no-untyped-def]
    if not input.ndim:
        raise RuntimeError(f"linear: both arguments to linear need to be at least 1D, but they are 0D and {weight.ndim}D")
    I = input.shape[-1]
    if weight.ndim not in (1, 2) or weight.shape[-1] != I:
        raise RuntimeError(
            f"linear: mat1 and mat2 shapes cannot be multiplied ({_as_matrices(input.shape, weight.shape)}); "
            f"expected input (*, I) and weight (O, I)"
        )
    if bias is not None and bias.shape not in ((), (1,), tuple(weight.shape[:-1])):
        raise RuntimeError(f"linear: expected a bias of shape {list(weight.shape[:-1])}, got {list(bias.shape)}")
    return Meta((*input.shape[:-1], *weight.shape[:-1]), input.dtype)


@composite("linear", method=None)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Bilinear map: out[*, o] = input1[*, i] weight[o, i, j] input2[*, j] + bias[o].

    Shape: (*, I), (*, J), (O, I, J), (O) -> (*, O). Raises: RuntimeError when the sizes differ.

    >>> import tenfold
    >>> tenfold.bilinear(tenfold.ones(2), tenfold.ones(3), tenfold.ones(1, 2, 3))
    tensor([6.])
    """
    lead, sizes = tuple(input1.shape[:-1]), tuple(weight.shape[1:])
    if lead != tuple(input2.shape[:-1]) or weight.dim() != 3 or sizes != (input1.shape[-1], input2.shape[-1]):
        raise RuntimeError(
            f"bilinear(): expected (*, I), (*, J) and a weight (O, I, J), got {list(input1.shape)}, {list(input2.shape)} "
            f"and {list(weight.shape)}"
        )
    O, I, J = weight.shape
    if bias is not None and (tuple(bias.shape) != (O,) or bias.dtype is not weight.dtype):
        raise RuntimeError(
            f"bilinear(): expected a bias of shape [{O}] and {weight.dtype}, got {list(bias.shape)} and {bias.dtype}"
        )
    left = tf.matmul(input1.reshape(-1, I), weight.transpose(0, 1).reshape(I, O * J)).view(-1, O, J)
    out = tf.matmul(left, input2.reshape(-1, J, 1)).reshape(*lead, O)
    return out if bias is None else out + bias
