"""Samples of the Fourier transforms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

REAL = (tenfold.float32, tenfold.float64)
COMPLEX = (tenfold.complex64, tenfold.complex128)
NORMS = ("backward", "ortho", "forward")


@samples("complex_transform", dtypes=(*REAL, *COMPLEX))
def _complex_transform(make: Make) -> Iterator[Sample]:
    for divisor in ("none", "root", "count"):
        yield Sample(make(5), (0,), True, divisor, note=divisor)
        yield Sample(make(2, 3, 4), (0, 2), False, divisor, note=f"{divisor}, backward")
    yield Sample(make(0, 3), (1,), True, "none", note="empty")
    yield Sample(make(3, 4, layout="transposed"), (1,), True, "none", note="strided memory")


@samples("real_transform", dtypes=REAL)
def _real_transform(make: Make) -> Iterator[Sample]:
    for divisor in ("none", "root", "count"):
        yield Sample(make(5), 0, divisor, note=divisor)
        yield Sample(make(2, 4, 3), 1, divisor, note=f"{divisor}, an even number")
    yield Sample(make(3, 4, layout="transposed"), 1, "none", note="strided memory")


@samples("real_inverse_transform", dtypes=COMPLEX)
def _real_inverse_transform(make: Make) -> Iterator[Sample]:
    for divisor in ("none", "root", "count"):
        yield Sample(make(3), 0, 5, divisor, note=divisor)
        yield Sample(make(2, 3, 2), 1, 4, divisor, note=f"{divisor}, an even number")
    yield Sample(make(1, 2), 0, 1, "none", note="one point")


@error_samples("complex_transform")
def _complex_transform_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), (1,), True, "none", error=IndexError, match="out of range")


@error_samples("real_transform")
def _real_transform_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), 1, "none", error=IndexError, match="out of range")


@error_samples("real_inverse_transform")
def _real_inverse_transform_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, dtype=tenfold.complex64), 1, 4, "none", error=IndexError, match="out of range")


def _one(make: Make) -> Iterator[Sample]:
    for norm in (None, *NORMS):
        yield Sample(make(5), norm=norm, note=str(norm))
    yield Sample(make(2, 3), 4, 0, note="filled")
    yield Sample(make(2, 6), 3, note="cut")
    yield Sample(make(3, 4, layout="transposed"), dim=-2, note="strided memory")


def _one_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), 0, error=RuntimeError, match="Invalid number of data points")
    yield ErrorSample(make(3), norm="other", error=RuntimeError, match="Invalid normalization mode")
    yield ErrorSample(make(3), dim=1, error=IndexError, match="out of range")
    yield ErrorSample(make(), error=IndexError, match="no dimensions")


def _several(make: Make) -> Iterator[Sample]:
    for norm in (None, *NORMS):
        yield Sample(make(3, 4), norm=norm, note=str(norm))
    yield Sample(make(2, 3, 4), (4, 2), (0, 2), note="filled and cut")
    yield Sample(make(2, 3, 4), (-1, 2), (0, 1), note="a size of its own")
    yield Sample(make(3, 4, layout="transposed"), dim=(1, 0), note="strided memory")


def _several_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, 3), (2,), (0, 1), error=RuntimeError, match="same length")
    yield ErrorSample(make(3, 3), dim=(0, 0), error=RuntimeError, match="must be unique")
    yield ErrorSample(make(3, 3), (0, 2), error=RuntimeError, match="Invalid number of data points")


def _no_complex(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, 3, dtype=tenfold.complex64), error=RuntimeError, match="input tensor, but got ComplexFloat")


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _dtypes: Any = REAL if _name in ("rfft", "ihfft") else (*REAL, *COMPLEX)
    samples(f"fft_{_name}", dtypes=_dtypes)(_one)
    error_samples(f"fft_{_name}")(_one_errors)
    for _end in "2n":
        samples(f"fft_{_name}{_end}", dtypes=_dtypes)(_several)
        error_samples(f"fft_{_name}{_end}")(_several_errors)
    if _dtypes is REAL:
        for _end in ("", "2", "n"):
            error_samples(f"fft_{_name}{_end}")(_no_complex)


@samples("fft_fftshift")
@samples("fft_ifftshift")
def _shift(make: Make) -> Iterator[Sample]:
    yield Sample(make(5))
    yield Sample(make(4, 3), note="all dimensions")
    yield Sample(make(4, 3), 1, note="dim")


@error_samples("fft_fftshift")
@error_samples("fft_ifftshift")
def _shift_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3), 2, error=IndexError, match="out of range")
    yield ErrorSample(make(), error=RuntimeError, match="shifts")


@samples("fft_fftfreq", dtypes=REAL)
@samples("fft_rfftfreq", dtypes=REAL)
def _frequencies(make: Make) -> Iterator[Sample]:
    for n in (1, 4, 5):
        yield Sample(n, 0.5, dtype=make.dtype, device=make.device)


@error_samples("fft_fftfreq")
@error_samples("fft_rfftfreq")
def _frequency_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(3, dtype=tenfold.int64, error=RuntimeError, match="floating point or complex")
