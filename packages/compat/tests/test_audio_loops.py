"""The loops that torchaudio has compiled: filters with feedback, computed one sample after the other to compare with."""

import sys

import numpy as np
import pytest

import tenfold
from tenfold.as_torch import audio_loops

NUMBERS = np.random.default_rng(0)


def _feedback(x, a, past):
    y = [*past]
    for value in x:
        y.append(value - sum(weight * before for weight, before in zip(a[1:], reversed(y), strict=False)))
    return y[len(past) :]


@pytest.mark.parametrize("scipy", [True, False])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_a_filter_writes_what_follows_from_what_was_before(monkeypatch, scipy, order):
    if not scipy:
        monkeypatch.setitem(sys.modules, "scipy.signal", None)
    x = NUMBERS.normal(size=(2, 3, 20))
    a = np.concatenate([np.ones((3, 1)), NUMBERS.normal(size=(3, order - 1)) * 0.2], 1)
    past = NUMBERS.normal(size=(2, 3, order - 1))
    y = tenfold.from_numpy(np.concatenate([past, np.zeros_like(x)], 2))
    given = tenfold.from_numpy(x.copy())
    audio_loops.lfilter_core_loop(given, tenfold.from_numpy(a[:, ::-1].copy()), y)
    for n in range(2):
        for c in range(3):
            np.testing.assert_allclose(y[n, c, order - 1 :].numpy(), _feedback(x[n, c], a[c], past[n, c]))
    assert given._version == 0
    assert np.array_equal(given.numpy(), x)


@pytest.mark.parametrize("scipy", [True, False])
def test_an_overdriven_waveform_has_no_constant(monkeypatch, scipy):
    if not scipy:
        monkeypatch.setitem(sys.modules, "scipy.signal", None)
    x, t = NUMBERS.normal(size=(2, 2, 20)).astype(np.float32)
    first, past = NUMBERS.normal(size=(2, 2)).astype(np.float32)
    out = tenfold.zeros(2, 20)
    audio_loops.overdrive_core_loop(*(tenfold.from_numpy(v) for v in (x, t, first, past)), out)
    for c in range(2):
        steps = np.diff(t[c], prepend=first[c])
        np.testing.assert_allclose(out[c].numpy(), x[c] / 2 + 0.75 * np.array(_feedback(steps, [1, -0.995], [past[c]])), 1e-5)
