"""Elementwise operators of several arguments, and functions of one that NumPy lacks."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

from tenfold.testing.references import NO_REFERENCE, REFERENCES

Array = Any
erf = np.vectorize(math.erf, otypes=[np.float64])


def sign(input: Array) -> Array:
    """-1, 0 or 1; 0 also of NaN, which is neither above nor below."""
    if np.iscomplexobj(input):
        size = np.abs(input)
        return np.where(size == 0, 0, input / np.where(size == 0, 1, size))
    return (input > 0).astype(np.int64) - (input < 0).astype(np.int64) if input.dtype.kind != "b" else input


def truncated(a: Array, b: Array) -> Array:
    if np.result_type(a, b).kind == "f":
        return np.trunc(np.true_divide(a, b))
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


def div(input: Array, other: Array, rounding_mode: str | None = None) -> Array:
    if rounding_mode is None:
        return np.true_divide(input, other)
    return np.floor_divide(input, other) if rounding_mode == "floor" else truncated(input, other)


def clamp(input: Array, min: Any = None, max: Any = None) -> Array:
    if input.dtype.kind in "iu":  # numbers outside of what the dtype holds wrap around
        min, max = (bound if bound is None else np.asarray(bound).astype(input.dtype) for bound in (min, max))
    bounded = input if min is None else np.maximum(input, min)
    return bounded if max is None else np.minimum(bounded, max)


def xlogy(input: Array, other: Array) -> Array:
    return np.where(np.isnan(other), np.nan, np.where(np.equal(input, 0), 0, input * np.log(other)))


def logaddexp(input: Array, other: Array) -> Array:
    """Of complex numbers the branch that the larger one is on."""
    if not np.iscomplexobj(input):
        return np.logaddexp(input, other)
    first = input.real > other.real
    top: Array = np.where(first, input, other)
    rest: Array = np.where(first, other, input)
    return top + np.log1p(np.exp(rest - top))


def lerp(input: Array, end: Array, weight: Any) -> Array:
    """From the nearer end, so that both ends are met exactly."""
    near = np.where(np.abs(weight) < 0.5, input + weight * (end - input), end - (end - input) * (1 - weight))
    return near.astype(np.result_type(input, end))


def angle(input: Array) -> Array:
    if np.iscomplexobj(input):
        return np.angle(input)
    return np.where(np.isnan(input), np.nan, np.where(input < 0, np.pi, 0.0))


def _erfinv(x: float) -> float:
    if abs(x) >= 1 or x != x:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    if abs(x) < 1e-8:  # where (x + 1) / 2 would lose x
        return x * math.sqrt(math.pi) / 2
    return NormalDist().inv_cdf((x + 1) / 2) / math.sqrt(2)


def fill_diagonal(input: Array, fill_value: Any, wrap: bool = False) -> Array:
    filled = input.copy()
    if filled.size:
        np.fill_diagonal(filled, fill_value, wrap)
    return filled


def as_complex(input: Array) -> Array:
    return np.ascontiguousarray(input).astype(np.float64).view(np.complex128)[..., 0]


REFERENCES |= {
    "rsub": lambda input, other, alpha=1: other - alpha * input if alpha != 1 else other - input,
    "add_scaled": lambda input, other, alpha: input + alpha * other,
    "sub_scaled": lambda input, other, alpha: input + alpha * other,
    "float_power": np.float_power,
    "ldexp": lambda input, other: input * np.power(2.0, other),
    "div": div,
    "floor_divide": np.floor_divide,
    "floored_quotient": np.floor_divide,
    "truncated_quotient": truncated,
    "remainder": np.remainder,
    "fmod": np.fmod,
    "pow": np.power,
    "copysign": np.copysign,
    "heaviside": lambda input, values: np.where(np.equal(input, 0), values, input > 0),
    "logaddexp": logaddexp,
    "logaddexp2": np.logaddexp2,
    "xlogy": xlogy,
    "lerp": lerp,
    "addcmul": lambda input, tensor1, tensor2, value=1: input + value * tensor1 * tensor2,
    "addcdiv": lambda input, tensor1, tensor2, value=1: input + value * (tensor1 / tensor2),
    "clamp": clamp,
    "clamp_min": np.maximum,
    "clamp_max": np.minimum,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
    "gcd": np.gcd,
    "lcm": np.lcm,
    "isposinf": lambda input: np.equal(input, np.inf),
    "isneginf": lambda input: np.equal(input, -np.inf),
    "isclose": np.isclose,
    "allclose": np.allclose,
    "equal": np.array_equal,
    "sign": sign,
    "sgn": sign,
    "signbit": lambda input: np.signbit(input) if input.dtype.kind == "f" else np.less(input, 0),
    "angle": angle,
    "erf": erf,
    "erfc": np.vectorize(math.erfc, otypes=[np.float64]),
    "erfinv": np.vectorize(_erfinv, otypes=[np.float64]),
    "view_as_real": lambda input: np.stack([input.real, input.imag], -1),
    "view_as_complex": as_complex,
    "resolve_conj": lambda input: input,
    "resolve_neg": lambda input: input,
    "copy": lambda input, src, non_blocking=False: np.broadcast_to(src, np.shape(input)),
    "fill": np.full_like,
    "zero": np.zeros_like,
    "masked_fill": lambda input, mask, value: np.where(mask, np.asarray(value).astype(input.dtype), input),
    "fill_diagonal": fill_diagonal,
}
NO_REFERENCE["nextafter"] = "the next number is that of the dtype; references compute in double precision"
