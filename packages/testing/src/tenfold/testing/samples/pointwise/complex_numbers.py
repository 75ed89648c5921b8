"""Samples of elementwise operators of complex numbers, of comparisons with tolerance, and of writes as functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.generators import binary, binary_pairs, no_tensor, no_tensor_pair, unary
from tenfold.testing.samples import ANY, NONZERO, POSITIVE, Domain, ErrorSample, Make, Sample, error_samples, samples

A_BOOL = "the result is a Python bool"
REAL = (tenfold.float32, tenfold.float64)

COMPLEX = (tenfold.complex64, tenfold.complex128)
PARTS: dict[str, tuple[Any, Any]] = {
    "real": (np.real, None), "real_part": (np.real, COMPLEX), "imag": (np.imag, COMPLEX), "imag_part": (np.imag, COMPLEX),
    "conj_physical": (np.conj, None), "resolve_conj": (None, None), "resolve_neg": (None, None),
}  # fmt: skip
for _name, (_reference, _dtypes) in PARTS.items():
    samples(_name, reference=_reference, dtypes=_dtypes)(unary(ANY))
    error_samples(_name)(no_tensor)


def _pairs(make: Make) -> Iterator[Sample]:
    for note, a, b in binary_pairs(make, NONZERO, NONZERO):
        yield Sample(a, b, note=note)


def _pair_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2), make(3), error=RuntimeError, match="must match the size")


def _complex(real: Any, imag: Any) -> Any:
    """The parts side by side: a product with 1j would make NaN of infinities."""
    return np.stack(np.broadcast_arrays(real, imag), -1).astype(np.float64).view(np.complex128)[..., 0]


samples("complex", dtypes=REAL, reference=_complex)(_pairs)
samples("polar", dtypes=REAL, reference=lambda abs, angle: np.asarray(abs) * np.exp(1j * np.asarray(angle)))(_pairs)
for _name in ("complex", "polar"):
    error_samples(_name)(_pair_errors)

# Operator: domains of both operands and numbers as the second one.
TABLE: dict[str, tuple[Domain, Domain, tuple[Any, ...]]] = {
    "isclose": (ANY, ANY, ()), "allclose": (ANY, ANY, ()), "clamp_min": (NONZERO, Domain(-0.2, 0.2), (0,)),
    "clamp_max": (NONZERO, Domain(-0.2, 0.2), (0,)), "float_power": (POSITIVE, POSITIVE, (2, 0.5)),
    "ldexp": (ANY, Domain(-2, 3), ()),
}  # fmt: skip
for _name, (_first, _second, _numbers) in TABLE.items():
    samples(_name, data_dependent=A_BOOL if _name == "allclose" else "")(binary(_first, _second, _numbers))
    error_samples(_name)(no_tensor_pair)


@samples("equal", data_dependent=A_BOOL)
def _equal(make: Make) -> Iterator[Sample]:
    for shape in ((3,), (), (0,)):
        x = make(*shape)
        yield Sample(x, x.clone(), note="the same")
        yield Sample(x, make(*shape), note="other values")
    yield Sample(make(2), make(3), note="other shapes")


error_samples("equal")(lambda make: [ErrorSample(make(2), 1, error=TypeError, match="argument")])


@samples("copy")
def _copy(make: Make) -> Iterator[Sample]:
    for a, b in (((3,), (3,)), ((2, 3), (3,)), ((), ()), ((0,), (1,))):
        yield Sample(make(*a), make(*b))
    yield Sample(make(3, 4, layout="transposed"), make(3, 4, layout="strided"), note="strided memory")


error_samples("copy")(lambda make: [ErrorSample(make(2), make(3), error=RuntimeError, match="")])


@samples("fill")
def _fill(make: Make) -> Iterator[Sample]:
    for shape in ((3,), (2, 3), (), (0,)):
        yield Sample(make(*shape), 1, note="number")
        yield Sample(make(*shape), make(), note="0-d tensor")
    yield Sample(make(3, 4, layout="transposed"), 1, note="transposed")


error_samples("fill")(lambda make: [ErrorSample(make(2), make(3), error=RuntimeError, match="0-dimension")])
samples("zero")(unary(ANY))


@samples("fill_diagonal")
def _fill_diagonal(make: Make) -> Iterator[Sample]:
    for shape in ((3, 3), (2, 4), (5, 2), (2, 2, 2), (0, 2)):
        yield Sample(make(*shape), 2)
    yield Sample(make(7, 3), 2, wrap=True, note="starts again below the end")


error_samples("fill_diagonal")(lambda make: [ErrorSample(make(2), 1, error=RuntimeError, match="dimensions")])
error_samples("zero")(no_tensor)


@samples("sub_scaled")
@samples("add_scaled")
def _add_scaled(make: Make) -> Iterator[Sample]:
    for note, a, b in binary_pairs(make, ANY, ANY):
        yield Sample(a, b, 2, note=note)


for _name in ("add_scaled", "sub_scaled"):
    error_samples(_name)(lambda make: [ErrorSample(make(2), make(3), 2, error=RuntimeError, match="must match the size")])
