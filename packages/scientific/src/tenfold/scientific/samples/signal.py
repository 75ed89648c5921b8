"""Samples of windows and short-time Fourier transforms."""

from __future__ import annotations

from collections.abc import Iterator

import tenfold
from tenfold.testing.samples import POSITIVE, ErrorSample, Make, Sample, error_samples, samples

REAL = (tenfold.float32, tenfold.float64)
WINDOWS = ("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window")


def _window(make: Make) -> Iterator[Sample]:
    for n in (0, 1, 5):
        for periodic in (True, False):
            yield Sample(n, periodic, dtype=make.dtype, device=make.device, note=f"{n} points")


def _window_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(-1, error=RuntimeError, match="non-negative")
    yield ErrorSample(3, dtype=tenfold.int64, error=RuntimeError, match="floating point")


for _name in WINDOWS:
    samples(_name, dtypes=REAL)(_window)
    error_samples(_name)(_window_errors)


@samples("stft", dtypes=REAL)
def _stft(make: Make) -> Iterator[Sample]:
    yield Sample(make(12), 4, window=make(4), return_complex=True)
    yield Sample(make(2, 12), 4, 2, window=make(4, domain=POSITIVE), return_complex=True, note="batch, window")
    yield Sample(make(12), 6, 3, 4, make(4), return_complex=True, note="a narrower window")
    yield Sample(make(12), 4, window=make(4), center=False, onesided=False, return_complex=True, note="not centred, both sides")
    for mode in ("constant", "replicate", "circular"):
        yield Sample(make(12), 4, window=make(4), pad_mode=mode, normalized=True, return_complex=True, note=mode)
    yield Sample(make(12), 4, window=make(4), return_complex=False, note="pairs of real numbers")


@error_samples("stft")
def _stft_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(12), 4, error=RuntimeError, match="return_complex")
    yield ErrorSample(make(12), 4, 0, return_complex=True, error=RuntimeError, match="hop_length > 0")
    yield ErrorSample(make(12), 4, window=make(3), return_complex=True, error=RuntimeError, match="window")


@samples("istft", dtypes=(tenfold.complex64, tenfold.complex128))
def _istft(make: Make) -> Iterator[Sample]:
    window = make(4, dtype=_part(make), domain=POSITIVE)
    yield Sample(make(3, 5), 4, window=window)
    yield Sample(make(2, 3, 5), 4, 2, window=window, note="batch, window")
    yield Sample(make(4, 5), 4, window=window, onesided=False, return_complex=True, note="complex signal")
    yield Sample(make(3, 5), 4, window=window, normalized=True, length=6, note="length")


def _part(make: Make) -> tenfold.dtype:
    return tenfold.float64 if make.dtype is tenfold.complex128 else tenfold.float32


@error_samples("istft")
def _istft_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(3, 5), 4, error=RuntimeError, match="complex-valued")
    yield ErrorSample(make(4, 5, dtype=tenfold.complex64), 6, onesided=False, error=RuntimeError, match="frequency dimension")
