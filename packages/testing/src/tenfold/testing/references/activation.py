"""Activation functions, softmax, and gradients that are operators of their own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tenfold.testing.references import REFERENCES
from tenfold.testing.references.pointwise import erf

Array = Any
SELU = 1.6732632423543772848170429916717, 1.0507009873554804934193352946  # Klambauer et al. 2017, appendix A


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def elu(input: Array, alpha: float = 1.0) -> Array:
    return np.where(input > 0, input, alpha * np.expm1(np.minimum(input, 0)))


def softmax(input: Array, dim: int, dtype: Any = None) -> Array:
    if not np.ndim(input):
        return np.where(np.isfinite(input), 1.0, np.nan)
    e = np.exp(input - input.max(dim, keepdims=True, initial=-np.inf))
    return e / e.sum(dim, keepdims=True)


def log_softmax(input: Array, dim: int, dtype: Any = None) -> Array:
    if not np.ndim(input):
        return np.where(np.isfinite(input), 0.0, np.nan)
    shifted = input - input.max(dim, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum(dim, keepdims=True))


def _normal(x: Array) -> Array:
    """The standard normal distribution function."""
    return (1 + erf(x / math.sqrt(2))) / 2


def gelu(input: Array, approximate: str = "none") -> Array:
    """x Phi(x), Hendrycks and Gimpel 2016, or their formula with tanh; as in PyTorch NaN at minus infinity."""
    if approximate == "none":
        return input * _normal(input)
    return input * (1 + np.tanh(math.sqrt(2 / math.pi) * (input + 0.044715 * input**3))) / 2


def gelu_backward(grad_output: Array, input: Array, approximate: str = "none") -> Array:
    density = np.exp(-input * input / 2) / math.sqrt(2 * math.pi)
    return grad_output * (_normal(input) + input * density)


def silu_backward(grad_output: Array, input: Array) -> Array:
    s = sigmoid(input)
    return grad_output * s * (1 + input * (1 - s))


def glu(input: Array, dim: int = -1) -> Array:
    a, b = np.split(input, 2, dim)
    return a * sigmoid(b)


def prelu(input: Array, weight: Array) -> Array:
    slopes = weight.reshape(-1, *[1] * (input.ndim - 2)) if weight.size > 1 else weight
    return np.where(input > 0, input, slopes * input)


def softplus(input: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    return np.where(input * beta > threshold, input, np.log1p(np.exp(input * beta)) / beta)


def _total(x: Array, dim: int) -> Array:
    return x.sum(dim, keepdims=True) if np.ndim(x) else x


REFERENCES |= {
    "threshold": lambda input, threshold, value: np.where(input <= threshold, value, input),
    "hardtanh": lambda input, min_val=-1.0, max_val=1.0: np.clip(input, min_val, max_val),
    "hardsigmoid": lambda input: np.clip(input + 3, 0, 6) / 6,
    "hardswish": lambda input: input * np.clip(input + 3, 0, 6) / 6,
    "leaky_relu": lambda input, negative_slope=0.01: np.where(input > 0, input, negative_slope * input),
    "prelu": prelu,
    "elu": elu,
    "celu": lambda input, alpha=1.0: np.where(input > 0, input, alpha * np.expm1(np.minimum(input, 0) / alpha)),
    "selu": lambda input: SELU[1] * elu(input, SELU[0]),
    "softplus": softplus,
    "tanhshrink": lambda input: input - np.tanh(input),
    "hardshrink": lambda input, lambd=0.5: np.where(np.abs(input) <= lambd, 0, input),
    "softshrink": lambda input, lambd=0.5: np.where(np.abs(input) <= lambd, 0, input - np.sign(input) * lambd),
    "glu": glu,
    "gelu": gelu,
    "softmax": softmax,
    "log_softmax": log_softmax,
    "softmin": lambda input, dim, dtype=None: softmax(-input, dim),
    "gelu_backward": gelu_backward,
    "silu_backward": silu_backward,
    "threshold_backward": lambda grad_output, input, threshold: np.where(input <= threshold, 0, grad_output),
    "softmax_backward": lambda grad_output, output, dim: output * (grad_output - _total(grad_output * output, dim)),
    "log_softmax_backward": lambda grad_output, output, dim: grad_output - np.exp(output) * _total(grad_output, dim),
}
