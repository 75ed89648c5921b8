"""Samples of the losses that are one operator where a device has a kernel for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.samples import ANY, POSITIVE, PROBABILITY, Domain, ErrorSample, Make, Sample, error_samples, samples

FLOATS = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64", "float16", "bfloat16"))
LEFT, RIGHT, ABOVE = Domain(-1.9, -0.1), Domain(0.1, 1.9), Domain(2.1, 2.9)  # that do not meet: no difference is 0 or a margin
# Of each kind the domains of input, target and the third operand, and the numbers a and b.
KINDS: dict[str, tuple[Domain, Domain, Domain | None, float, float]] = {
    "square": (ANY, ANY, None, 0.0, 0.0),
    "absolute": (LEFT, RIGHT, None, 0.0, 0.0),
    "bent": (LEFT, RIGHT, None, 5.0, 2.0),
    "binary": (PROBABILITY, PROBABILITY, None, 0.0, 0.0),
    "logits": (ANY, PROBABILITY, POSITIVE, 0.0, 0.0),
    "labels": (ANY, PROBABILITY, None, 0.0, 0.0),
    "divergence": (ANY, PROBABILITY, None, 0.0, 0.0),
    "log_divergence": (ANY, ANY, None, 0.0, 0.0),
    "soft_margin": (ANY, ANY, None, 0.0, 0.0),
    "log_poisson": (ANY, POSITIVE, None, 0.0, 0.0),
    "poisson": (POSITIVE, POSITIVE, None, 1e-3, 0.0),
    "full_log_poisson": (ANY, ABOVE, None, 0.0, 0.0),
    "full_poisson": (POSITIVE, ABOVE, None, 1e-3, 0.0),
    "hinge": (LEFT, RIGHT, None, 0.25, 0.0),
    "ranking": (LEFT, RIGHT, ABOVE, 0.25, 0.0),
    "gaussian": (ANY, ANY, POSITIVE, 1e-3, 0.5),
}
CONSTANTS = ("target", "weight", "third")


def _cases(make: Make) -> Iterator[tuple[Any, ...]]:
    for kind, (first, second, other, a, b) in KINDS.items():
        for divisor, shape in ((0, (3, 4)), (1, (2, 1, 3)), (12, (3, 4)), (1, ())):
            third = None if other is None else make(*shape, domain=other)
            weight = make(*shape[-1:], domain=POSITIVE) if divisor == 12 else None
            yield make(*shape, domain=first), make(*shape, domain=second), weight, third, kind, a, b, divisor
    alike = make.of(np.where(np.arange(12) % 3, 1.0, -1.0).reshape(3, 4))
    yield make(3, 4, domain=RIGHT), alike, None, None, "alike", 0.05, 0.0, 12
    layouts = make(3, 4, layout="transposed"), make(3, 4, layout="strided")
    yield (*layouts, None, None, "square", 0.0, 0.0, 12)
    yield make(0, 4), make(0, 4), None, None, "square", 0.0, 0.0, 1


@samples("fused_pointwise_loss", dtypes=FLOATS, constants=CONSTANTS)
def _pointwise_loss(make: Make) -> Iterator[Sample]:
    for case in _cases(make):
        yield Sample(*case, note=f"{case[4]}, over {case[7]}")


@samples("fused_pointwise_loss_grad", dtypes=FLOATS)
def _pointwise_loss_grad(make: Make) -> Iterator[Sample]:
    for case in _cases(make):
        yield Sample(make(*(() if case[7] else case[0].shape)), *case, note=f"{case[4]}, over {case[7]}")
        if case[4] == "gaussian":
            yield Sample(make(*(() if case[7] else case[0].shape)), *case[:4], "variance", *case[5:], note="variance")


@error_samples("fused_pointwise_loss")
@error_samples("fused_pointwise_loss_grad")
def _no_tensor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")
