"""Activations under the names and signatures of `torch.nn.functional`; most are core's operators themselves."""

from __future__ import annotations

import math
import warnings
from typing import Any

import tenfold as tf
from tenfold import (
    celu,
    elu,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    log_softmax as _log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    relu_,
    selu,
    selu_,
    sigmoid,
    silu,
    softmax as _softmax,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
    threshold_,
)
from tenfold.dispatch.spellings import as_float
from tenfold.tensor.tensor import Tensor

__all__ = [
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "relu_",
    "rrelu", "rrelu_", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink", "softsign",
    "tanh", "tanhshrink", "threshold", "threshold_",
]  # fmt: skip


def _softmax_dim(name: str, ndim: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along a dimension.

    >>> from tenfold.nn.functional import softmax
    >>> import tenfold
    >>> softmax(tenfold.zeros(2), dim=0)
    tensor([0.5000, 0.5000])
    """
    return _softmax(input, _softmax_dim("softmax", input.dim()) if dim is None else dim, dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax(-input).

    >>> from tenfold.nn.functional import softmin
    >>> import tenfold
    >>> softmin(tenfold.zeros(2), dim=0)
    tensor([0.5000, 0.5000])
    """
    return tf.softmax(-input, _softmax_dim("softmin", input.dim()) if dim is None else dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """log(softmax(input)), computed without overflow.

    >>> from tenfold.nn.functional import log_softmax
    >>> import tenfold
    >>> log_softmax(tenfold.zeros(2), dim=0)
    tensor([-0.6931, -0.6931])
    """
    return _log_softmax(input, _softmax_dim("log_softmax", input.dim()) if dim is None else dim, dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample from the Gumbel-softmax distribution; `hard` gives one-hot vectors with the gradient of the soft sample.

    Source: Jang, Gu and Poole, "Categorical Reparameterization with Gumbel-Softmax", 2017.

    >>> from tenfold.nn.functional import gumbel_softmax
    >>> import tenfold
    >>> gumbel_softmax(tenfold.zeros(1, 3), hard=True).sum().item()
    1.0
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -tf.empty_like(logits, memory_format=tf.contiguous_format).exponential_().log()
    soft = tf.softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return tf.zeros_like(logits).scatter(dim, index, 1.0) - soft.detach() + soft


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False) -> Tensor:
    """Leaky ReLU whose slope is drawn for each element in training, and the middle of the range else.

    Source: Xu et al., "Empirical Evaluation of Rectified Activations in Convolutional Network", 2015.

    >>> from tenfold.nn.functional import rrelu
    >>> import tenfold
    >>> rrelu(tenfold.tensor([-24.0, 1.0]))
    tensor([-5.5000,  1.0000])
    """
    for name, bound in (("lower", lower), ("upper", upper)):
        if not math.isfinite(as_float(bound, "rrelu", name)):
            raise RuntimeError(f"rrelu: {name} bound must be finite, got {bound}")
    if lower > upper:
        raise RuntimeError(f"rrelu: Lower bound should be less than or equal to the upper bound, got {lower} and {upper}")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    slopes = _slopes(input.detach(), lower, upper)
    return input.mul_(slopes) if inplace else input * slopes


def _slopes(input: Tensor, lower: float, upper: float) -> Tensor:
    """1 for positive elements; only the others take a random number, in the order of a contiguous tensor.

    On an accelerator each has one: how many others there are would have to be waited for.
    """
    if input.device.type not in ("cpu", "meta"):
        return tf.where(input <= 0, tf.empty_like(input).uniform_(lower, upper), 1.0)
    slopes = tf.ones_like(input, memory_format=tf.contiguous_format)
    if input.device.type != "meta":
        falling = input <= 0
        drawn = tf.empty(int(falling.sum()), dtype=tf.float64, device=input.device).uniform_(lower, upper)
        slopes[falling] = drawn.to(input.dtype)
    return slopes


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place version of `elu`; a backward pass refuses a negative `alpha`."""
    return elu(input, alpha, inplace=True)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place version of `celu`; a backward pass refuses a negative `alpha`."""
    return celu(input, alpha, inplace=True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """In-place version of `leaky_relu`; a backward pass refuses a negative slope."""
    return leaky_relu(input, negative_slope, inplace=True)


def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False) -> Tensor:
    """In-place version of `rrelu`."""
    return rrelu(input, lower, upper, training, inplace=True)
