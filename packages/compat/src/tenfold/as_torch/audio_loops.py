"""What torchaudio has compiled loops for, and Python loops that take a thousand times as long: filters with feedback.

Both write their result into a tensor that they are given, as the loops do.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenfold.tensor.tensor import host

Array = NDArray[Any]


def lfilter_core_loop(input_signal_windows: Any, a_coeffs_flipped: Any, padded_output_waveform: Any) -> None:
    """A filter's feedback: y[n] = x[n] - sum over k > 0 of a[k] y[n - k], where a[0] = 1.

    Shape: x (N, C, T); a (C, K), its last coefficient first; y (N, C, K - 1 + T), whose first K - 1 values are what was before.
    """
    x, a, y = (host(t.detach()) for t in (input_signal_windows, a_coeffs_flipped, padded_output_waveform))
    before = a.shape[1] - 1
    for channel in range(a.shape[0]):
        past = y[:, channel, :before]
        y[:, channel, before:] = _feedback(x[:, channel], a[channel, ::-1], past)


def overdrive_core_loop(waveform: Any, temp: Any, last_in: Any, last_out: Any, output_waveform: Any) -> None:
    """Half of a waveform and three quarters of its distortion t, without what is constant in that.

    Formula: out = waveform / 2 + 3 y / 4, where y[n] = t[n] - t[n - 1] + 0.995 y[n - 1].
    Shape: waveform, temp and the result (C, T), what was before (C).
    """
    x, t, first, past, out = (host(v.detach()) for v in (waveform, temp, last_in, last_out, output_waveform))
    steps = np.diff(t, axis=-1, prepend=first[:, None])
    out[:] = x * 0.5 + _feedback(steps, np.array([1, -0.995], t.dtype), past[:, None]) * 0.75


def _feedback(x: Array, a: Array, past: Array) -> Array:
    """y[..., n] = x[..., n] - sum of a[k] y[..., n - k]; `past` are the values before the first, the latest last."""
    try:
        signal = importlib.import_module("scipy.signal")
    except ModuleNotFoundError:
        return _feedback_by_steps(x, a, past)
    if len(a) == 1:
        return x
    # What SciPy starts from are the parts of the next values that are known already.
    known = [-(a[k:] * past[..., ::-1][..., : len(a) - k]).sum(-1) for k in range(1, len(a))]
    filtered: Array = signal.lfilter(np.ones(1, x.dtype), a, x, zi=np.stack(known, -1).astype(x.dtype))[0]
    return filtered


def _feedback_by_steps(x: Array, a: Array, past: Array) -> Array:
    y = np.concatenate([past, x], -1)
    before = past.shape[-1]
    weights = a[:0:-1]
    for n in range(x.shape[-1] if before else 0):
        y[..., n + before] -= (y[..., n : n + before] * weights).sum(-1)
    return y[..., before:]
