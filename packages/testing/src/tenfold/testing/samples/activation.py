"""Samples of the activation functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.generators import no_tensor, unary
from tenfold.testing.samples import ANY, NONZERO, Domain, ErrorSample, Make, Sample, error_samples, samples
from tenfold.testing.samples.reduction.reductions import out_of_range


def _sigmoid(input: Any) -> Any:
    return 1 / (1 + np.exp(-input))


# Kinks at 0, and where hard functions change their slope.
BENDS = Domain(-4.0, 7.0, away=(-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0), margin=0.1)

# Operator: domain, keywords of a second set of samples, NumPy's formula for the defaults.
TABLE: dict[str, tuple[Domain, dict[str, Any], Any]] = {
    "relu": (NONZERO, {}, lambda input: np.maximum(input, 0)),
    "relu6": (BENDS, {}, lambda input: np.clip(input, 0, 6)),
    "sigmoid": (ANY, {}, _sigmoid),
    "logsigmoid": (ANY, {}, lambda input: -np.logaddexp(0, -input)),
    "gelu": (ANY, {"approximate": "tanh"}, None),
    "silu": (ANY, {}, lambda input: input * _sigmoid(input)),
    "mish": (ANY, {}, lambda input: input * np.tanh(np.log1p(np.exp(input)))),
    "softplus": (ANY, {"beta": 2.0, "threshold": 1.5}, None),
    "softsign": (NONZERO, {}, lambda input: input / (1 + np.abs(input))),
    "hardtanh": (BENDS, {"min_val": -0.7, "max_val": 2.0}, None),
    "hardsigmoid": (BENDS, {}, None),
    "hardswish": (BENDS, {}, None),
    "leaky_relu": (NONZERO, {"negative_slope": 0.2}, None),
    "elu": (NONZERO, {"alpha": 0.5}, None),
    "celu": (NONZERO, {"alpha": 0.5}, None),
    "selu": (NONZERO, {}, None),
    "hardshrink": (BENDS, {"lambd": 0.7}, None),
    "softshrink": (BENDS, {"lambd": 0.7}, None),
    "tanhshrink": (ANY, {}, None),
    "threshold": (BENDS, {}, None),
}


def _with_keywords(domain: Domain, keywords: dict[str, Any], rest: tuple[Any, ...] = ()) -> Any:
    def generate(make: Make) -> Iterator[Sample]:
        yield from unary(domain, *rest)(make)
        if keywords:
            yield Sample(make(3, 4, domain=domain), *rest, note="keywords", **keywords)
            yield Sample(make(3, 4, domain=domain, layout="transposed"), *rest, note="keywords, transposed", **keywords)

    return generate


for _name, (_domain, _keywords, _reference) in TABLE.items():
    _formula = (lambda f: lambda input, **keywords: f(input))(_reference) if _reference and not _keywords else None
    samples(_name, reference=_formula)(_with_keywords(_domain, _keywords, (0.3, 2.0) if _name == "threshold" else ()))
    if _name != "threshold":
        error_samples(_name)(no_tensor)


@error_samples("threshold")
def _threshold_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], 0.3, 2.0, error=TypeError, match="argument 'input'")


def _backward(*rest: Any) -> Any:
    """Gradients that are operators of their own: of a gradient and an input (or output) of one shape."""

    def generate(make: Make) -> Iterator[Sample]:
        for shape in ((3,), (2, 3), (0, 2)):
            yield Sample(make(*shape), make(*shape, domain=NONZERO), *rest, note=f"{len(shape)}-d")
        yield Sample(make(3, 4, layout="transposed"), make(3, 4, layout="strided", domain=NONZERO), *rest, note="strided memory")

    return generate


def _backward_errors(*rest: Any) -> Any:
    def generate(make: Make) -> Iterator[ErrorSample]:
        yield ErrorSample([1.0], make(1), *rest, error=TypeError, match="argument 'grad_output'")

    return generate


FLOATS = (tenfold.float32, tenfold.float64, tenfold.float16, tenfold.bfloat16)
for _name, _rest in {
    "softmax_backward": (0,),
    "log_softmax_backward": (0,),
    "threshold_backward": (0.0,),
    "gelu_backward": (),
    "silu_backward": (),
}.items():
    samples(_name, dtypes=FLOATS)(_backward(*_rest))
    error_samples(_name)(_backward_errors(*_rest))


# Of each unit whose slope is an operator the domain of its input and its numbers.
SLOPES: dict[str, tuple[Domain, float, float]] = {
    "threshold": (BENDS, 0.3, 0.0), "hardtanh": (BENDS, -0.7, 2.0), "leaky_relu": (NONZERO, 0.2, 0.0),
    "shrink": (BENDS, 0.7, 0.0), "hardsigmoid": (BENDS, 0.0, 0.0), "hardswish": (BENDS, 0.0, 0.0), "logsigmoid": (ANY, 0.0, 0.0),
    "mish": (ANY, 0.0, 0.0), "elu": (NONZERO, 0.5, 2.0), "selu": (NONZERO, 0.0, 0.0), "softplus": (ANY, 2.0, 1.5),
    "softsign": (NONZERO, 0.0, 0.0),
}  # fmt: skip
_SLOPE = "it is a gradient, which is compared with that of the unit's body"


@samples("fused_unit_grad", dtypes=FLOATS, no_reference=_SLOPE)
def _unit_grad(make: Make) -> Iterator[Sample]:
    for kind, (domain, a, b) in SLOPES.items():
        for shape in ((), (3, 4), (0, 2)):
            yield Sample(make(*shape), make(*shape, domain=domain), kind, a, b, note=kind)
        x = make(3, 4, domain=domain, layout="strided")
        yield Sample(make(3, 4, layout="transposed"), x, kind, a, b, note=f"{kind}, strided memory")


@samples("fused_prelu_grad", dtypes=FLOATS, no_reference=_SLOPE)
def _prelu_grad(make: Make) -> Iterator[Sample]:
    for shape, weights in (((2, 3), 3), ((2, 3, 4), 3), ((2, 3, 4), 1), ((5,), 1), ((), 1)):
        yield Sample(make(*shape), make(*shape, domain=NONZERO), make(weights))


@samples("fused_glu_grad", dtypes=FLOATS, no_reference=_SLOPE)
def _glu_grad(make: Make) -> Iterator[Sample]:
    for shape, dim in (((4,), 0), ((2, 6), 1), ((4, 3), 0), ((2, 4, 3), -2)):
        half = [n // 2 if d == dim % len(shape) else n for d, n in enumerate(shape)]
        yield Sample(make(*half), make(*shape), dim)


@error_samples("fused_unit_grad")
@error_samples("fused_prelu_grad")
@error_samples("fused_glu_grad")
def _no_slope(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")


def _along_dim(make: Make) -> Iterator[Sample]:
    for shape, dim in (((3,), 0), ((2, 3), 1), ((2, 3), -2), ((), 0), ((0, 3), 1), ((2, 3, 4), 1), ((3, 67), -1)):
        yield Sample(make(*shape), dim, note=f"{len(shape)}-d")
    for layout in ("transposed", "strided", "expanded", "flipped"):
        yield Sample(make(3, 4, layout=layout), 1, note=layout)


for _name in ("softmax", "log_softmax", "softmin"):
    samples(_name)(_along_dim)
    error_samples(_name)(out_of_range)


@samples("glu")
def _glu(make: Make) -> Iterator[Sample]:
    for shape, dim in (((4,), 0), ((2, 6), -1), ((4, 3), 0)):
        yield Sample(make(*shape), dim)


@samples("prelu")
def _prelu(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 3, domain=NONZERO), make(3))
    yield Sample(make(2, 3, 4, domain=NONZERO), make(1))


@error_samples("glu")
def _glu_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), 0, error=RuntimeError, match="even")


@error_samples("prelu")
def _prelu_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), make(2), error=RuntimeError, match="")
