"""Samples of the elementwise operators."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.generators import binary, no_tensor, no_tensor_pair, unary
from tenfold.testing.samples import ANY, NONZERO, POSITIVE, UNIT, Domain, ErrorSample, Make, Sample, error_samples, samples

ABOVE_ONE = Domain(1.1, 4.0)
NO_INTEGERS = Domain(-2.9, 2.9, away=(-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0), margin=0.1)
NO_HALVES = Domain(-2.4, 2.4, away=(-2.5, -1.5, -0.5, 0.5, 1.5, 2.5), margin=0.1)
SMALL = Domain(-1.2, 1.2)

# Operator: domain, NumPy's function (None: there is none in NumPy).
UNARY: dict[str, tuple[Domain, Any]] = {
    "abs": (NONZERO, np.abs),
    "neg": (ANY, np.negative),
    "positive": (ANY, np.positive),
    "exp": (ANY, np.exp),
    "exp2": (ANY, np.exp2),
    "expm1": (ANY, np.expm1),
    "log": (POSITIVE, np.log),
    "log2": (POSITIVE, np.log2),
    "log10": (POSITIVE, np.log10),
    "log1p": (POSITIVE, np.log1p),
    "sqrt": (POSITIVE, np.sqrt),
    "rsqrt": (POSITIVE, lambda input: 1 / np.sqrt(input)),
    "square": (ANY, np.square),
    "reciprocal": (NONZERO, lambda input: 1 / np.asarray(input)),
    "sin": (ANY, np.sin),
    "cos": (ANY, np.cos),
    "tan": (SMALL, np.tan),
    "asin": (UNIT, np.arcsin),
    "acos": (UNIT, np.arccos),
    "atan": (ANY, np.arctan),
    "sinh": (ANY, np.sinh),
    "cosh": (ANY, np.cosh),
    "tanh": (ANY, np.tanh),
    "asinh": (ANY, np.arcsinh),
    "acosh": (ABOVE_ONE, np.arccosh),
    "atanh": (UNIT, np.arctanh),
    "floor": (NO_INTEGERS, np.floor),
    "ceil": (NO_INTEGERS, np.ceil),
    "trunc": (NO_INTEGERS, np.trunc),
    "round": (NO_HALVES, np.round),
    "frac": (NO_INTEGERS, lambda input: input - np.trunc(input)),
    "sign": (NONZERO, None),
    "isnan": (ANY, np.isnan),
    "isinf": (ANY, np.isinf),
    "isfinite": (ANY, np.isfinite),
    "logical_not": (ANY, np.logical_not),
    "signbit": (NONZERO, None),
    "sgn": (NONZERO, None),
    "erf": (ANY, None),
    "erfc": (ANY, None),
    "erfinv": (UNIT, None),
    "sinc": (NONZERO, np.sinc),
    "deg2rad": (ANY, lambda input: input * (np.pi / 180)),
    "rad2deg": (ANY, lambda input: input * (180 / np.pi)),
    "logit": (Domain(0.1, 0.9), lambda input: np.log(input / (1 - input))),
    "bitwise_not": (ANY, np.invert),
    "isreal": (ANY, np.isreal),
    "isposinf": (ANY, None),
    "isneginf": (ANY, None),
    "conj": (ANY, np.conj),
    "angle": (NONZERO, None),
    "nan_to_num": (ANY, np.nan_to_num),
}

# Operator: domains, numbers tried as the second operand, NumPy's function.
BINARY: dict[str, tuple[Domain, Domain, tuple[Any, ...], Any]] = {
    "mul": (ANY, ANY, (2, 1.5, True), np.multiply),
    "floor_divide": (ANY, NONZERO, (2, 1.5), None),
    "floored_quotient": (ANY, NONZERO, (2, 1.5), None),
    "truncated_quotient": (NO_INTEGERS, NONZERO, (2, 1.5), None),
    "remainder": (ANY, NONZERO, (2, 1.5), None),
    "fmod": (ANY, NONZERO, (2, 1.5), None),
    "maximum": (ANY, ANY, (), np.maximum),
    "minimum": (ANY, ANY, (), np.minimum),
    "fmax": (ANY, ANY, (), np.fmax),
    "fmin": (ANY, ANY, (), np.fmin),
    "atan2": (NONZERO, NONZERO, (), np.arctan2),
    "hypot": (NONZERO, NONZERO, (), np.hypot),
    "copysign": (NONZERO, NONZERO, (-2,), None),
    "logaddexp": (ANY, ANY, (), None),
    "logaddexp2": (ANY, ANY, (), None),
    "nextafter": (ANY, ANY, (), None),
    "xlogy": (ANY, POSITIVE, (2,), None),
    "heaviside": (NONZERO, ANY, (), None),
    "eq": (ANY, ANY, (2, 1.5), np.equal),
    "ne": (ANY, ANY, (2, 1.5), np.not_equal),
    "lt": (ANY, ANY, (2, 1.5), np.less),
    "le": (ANY, ANY, (2, 1.5), np.less_equal),
    "gt": (ANY, ANY, (2, 1.5), np.greater),
    "ge": (ANY, ANY, (2, 1.5), np.greater_equal),
    "logical_and": (ANY, ANY, (), np.logical_and),
    "logical_or": (ANY, ANY, (), np.logical_or),
    "logical_xor": (ANY, ANY, (), np.logical_xor),
    "bitwise_and": (ANY, ANY, (2,), np.bitwise_and),
    "bitwise_or": (ANY, ANY, (2,), np.bitwise_or),
    "bitwise_xor": (ANY, ANY, (2,), np.bitwise_xor),
    "bitwise_left_shift": (Domain(0, 5), Domain(0, 3), (2,), None),
    "bitwise_right_shift": (Domain(0, 5), Domain(0, 3), (2,), None),
    "gcd": (Domain(-9, 9), Domain(-9, 9), (), None),
    "lcm": (Domain(-9, 9), Domain(-9, 9), (), None),
}

# Where the reference, which computes in double precision, says another thing of a narrower dtype's extremes.
NO_SPECIAL = {
    "sinc": "pi x overflows in the dtype of x, not in the reference's",
    "nan_to_num": "the largest number, which stands for infinity, is that of the dtype",
}

# Operators of two floating-point tensors only.
NO_WHOLE = {"hypot", "nextafter", "logaddexp", "logaddexp2"}

for _name, (_domain, _reference) in UNARY.items():
    samples(_name, reference=_reference, no_special=NO_SPECIAL.get(_name, ""))(unary(_domain))
    error_samples(_name)(no_tensor)

for _name, (_first, _second, _numbers, _reference) in BINARY.items():
    samples(_name, reference=_reference)(binary(_first, _second, _numbers))
    # What accepts no integers is given numbers it would take, so that it is the shape that it refuses.
    error_samples(_name)(partial(no_tensor_pair, integers=False) if _name in NO_WHOLE else no_tensor_pair)


def _with_alpha(make: Make, numbers: tuple[Any, ...] = (2, 1.5)) -> Iterator[Sample]:
    yield from binary(ANY, numbers=numbers)(make)
    if make.dtype.category:
        yield Sample(make(3), make(3), alpha=2, note="alpha")
        yield Sample(make(2, 3), 3, alpha=2, note="alpha, number")
    if make.dtype.category >= 2:
        yield Sample(make(3), make(3), alpha=-0.5, note="fractional alpha")
        yield Sample(make(3), make.ints(3, low=-3, high=4), note="with integers")


def _wrong_alpha(make: Make) -> Iterator[ErrorSample]:
    yield from no_tensor_pair(make)
    whole = make.ints(2, low=0, high=3)
    yield ErrorSample(whole, whole, alpha=0.5, error=RuntimeError, match="alpha must not be a floating point")


for _name, _reference in {
    "add": lambda input, other, alpha=1: np.add(input, np.multiply(other, alpha) if alpha != 1 else other),
    "sub": lambda input, other, alpha=1: np.subtract(input, np.multiply(other, alpha) if alpha != 1 else other),
    "rsub": None,
}.items():
    # True has a sum, and no difference.
    samples(_name, reference=_reference)(partial(_with_alpha, numbers=(2, 1.5, True)) if _name == "add" else _with_alpha)
    error_samples(_name)(no_tensor_pair if _name == "rsub" else _wrong_alpha)


@samples("div")
def _div(make: Make) -> Iterator[Sample]:
    yield from binary(ANY, NONZERO)(make)
    if make.dtype.category in (1, 2):
        for mode in ("floor", "trunc"):
            yield Sample(make(2, 3, domain=NO_INTEGERS), make(3, domain=Domain(1.2, 1.4)), rounding_mode=mode, note=mode)
            yield Sample(make(4, domain=NO_INTEGERS), 2, rounding_mode=mode, note=f"{mode}, number")


@error_samples("div")
def _div_errors(make: Make) -> Iterator[ErrorSample]:
    yield from no_tensor_pair(make)
    yield ErrorSample(make(2), make(2), rounding_mode="up", error=RuntimeError, match="rounding_mode")


@samples("pow")
def _pow(make: Make) -> Iterator[Sample]:
    exponents = Domain(0, 3) if make.dtype.category < 2 else Domain(-1.5, 2.5)
    yield from binary(POSITIVE, exponents, (2, 3))(make)
    yield Sample(2, make(3, domain=exponents), note="number as base")
    yield Sample(2, make(domain=exponents), note="number as base, 0-d exponent")
    if make.dtype.category >= 2:
        yield Sample(make(4, domain=NONZERO), 2, note="square of both signs")
        yield Sample(make(4, domain=POSITIVE), 0.5, note="root")
        yield Sample(make(4, domain=POSITIVE), -1, note="reciprocal")


@error_samples("pow")
def _pow_errors(make: Make) -> Iterator[ErrorSample]:
    yield from no_tensor_pair(make)
    whole = make.ints(2, low=1, high=3)
    yield ErrorSample(whole, -1, error=RuntimeError, match="negative integer powers")


@samples("where", reference=np.where)
def _where(make: Make) -> Iterator[Sample]:
    for c, a, b in (((3,), (3,), (3,)), ((), (2, 3), (2, 3)), ((2, 1), (1, 3), ()), ((0,), (1,), (0,)), ((2, 3), (3,), (2, 1))):
        yield Sample(make.bools(*c), make(*a), make(*b), note="broadcast")
    for layout in ("transposed", "strided", "expanded", "flipped"):
        yield Sample(make.bools(3, 4, layout=layout), make(3, 4, layout=layout), make(3, 4), note=layout)
    if make.dtype is tenfold.float32:
        yield Sample(make.bools(2, 3), make(2, 3), 0.5, note="number")
        yield Sample(make.bools(2, 3), 1, make(3), note="number")


@error_samples("where")
def _where_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2), make(2), make(2), error=RuntimeError, match="expected condition to be a boolean tensor")
    yield ErrorSample(make.bools(2), make(3), make(2), error=RuntimeError, match="must match the size")


def _clamp_samples(make: Make) -> Iterator[Sample]:
    for x in (make(3), make(), make(0), make(2, 3, layout="transposed")):
        yield Sample(x, -1, 1, note="both bounds")
        yield Sample(x, min=0, note="lower bound")
        yield Sample(x, max=1, note="upper bound")
    yield Sample(
        make(2, 3, domain=NONZERO), make(3, domain=Domain(-0.2, -0.1)), make(2, 1, domain=Domain(0.1, 0.2)), note="tensors"
    )


samples("clamp")(_clamp_samples)


@error_samples("clamp")
def _clamp_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2), error=RuntimeError, match="At least one")


@samples("lerp")
def _lerp(make: Make) -> Iterator[Sample]:
    for a, b in (((3,), (3,)), ((2, 1), (1, 3)), ((), ()), ((0,), (1,))):
        yield Sample(make(*a), make(*b), 0.3, note="number")
        yield Sample(make(*a), make(*b), make(*b), note="tensor")
    yield Sample(make(3, 4, layout="transposed"), make(3, 4, layout="strided"), make(3, 4), note="strided memory")


@error_samples("lerp")
def _lerp_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2), make(3), 0.5, error=RuntimeError, match="must match the size")


def _three(domain: Domain) -> Any:
    def generate(make: Make) -> Iterator[Sample]:
        for a, b, c in (((3,), (3,), (3,)), ((2, 3), (3,), (2, 1)), ((), (), ()), ((0,), (1,), (0,))):
            yield Sample(make(*a), make(*b), make(*c, domain=domain))
        yield Sample(
            make(3, 4, layout="transposed"),
            make(3, 4, layout="strided"),
            make(3, 4, layout="flipped", domain=domain),
            note="strided memory",
        )
        if make.dtype.category:
            yield Sample(make(3), make(3), make(3, domain=domain), value=2, note="value")

    return generate


def _three_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2), make(3), make(2), error=RuntimeError, match="must match the size")


for _name, _domain in (("addcmul", ANY), ("addcdiv", NONZERO)):
    samples(_name)(_three(_domain))
    error_samples(_name)(_three_errors)
