"""Division by a norm of neighbours: local response norm, vectors of length one."""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.ops.padding import constant_pad
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes


@composite("norm", method=None)
def local_response_norm(
    input: Tensor, size: int, alpha: float | Tensor = 0.0001, beta: float | Tensor = 0.75, k: float | Tensor = 1.0
) -> Tensor:
    """Local response norm: x / (k + alpha * mean of x^2 over `size` neighbouring channels) ** beta.

    Shape: (N, C, *S) -> the same. Source: Krizhevsky, Sutskever and Hinton, 2012, section 3.3.

    >>> import tenfold
    >>> tenfold.local_response_norm(tenfold.ones(1, 1, 1), 1, alpha=3.0, beta=1.0)
    tensor([[[0.2500]]])
    """
    if input.dim() < 3:
        raise ValueError(f"local_response_norm: Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    if size < 1:
        raise RuntimeError(f"local_response_norm: size should be greater than zero, but got {size}")
    if not (input.is_floating_point() or input.dtype is dtypes.int64):
        raise NotImplementedError(
            f"\"local_response_norm\" not implemented for '{dtypes.type_name(input.dtype)}': got {input.dtype.name}, "
            f"accepted are int64 and floating dtypes; convert the input, as by .float()"
        )
    C = input.shape[1]
    squares = constant_pad(input * input, (0, 0) * (input.dim() - 2) + (size // 2, (size - 1) // 2), 0)
    total = squares[:, :C]
    for i in range(1, size):
        total = total + squares[:, i : i + C]
    return input / (total * (alpha / size) + k) ** beta


@composite("norm", method=None, out=True)
def normalize(input: Tensor, p: Any = 2.0, dim: Any = 1, eps: float | Tensor = 1e-12) -> Tensor:
    """x / max(norm(x), eps) along a dimension, with the p-norm.

    >>> import tenfold
    >>> tenfold.op.normalize(tenfold.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    return input / tf.norm(input, p, dim, keepdim=True).clamp_min(eps).expand(input.shape)
