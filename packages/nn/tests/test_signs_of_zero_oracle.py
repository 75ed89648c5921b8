"""Limits keep the input's zero, and borders have the value's."""

from __future__ import annotations

import itertools

import pytest

import tenfold

torch = pytest.importorskip("torch")
ZEROS = (0.0, -0.0)
CALLS = {
    "relu6": lambda m, x, zero: m.nn.functional.relu6(x),
    "hardtanh": lambda m, x, zero: m.nn.functional.hardtanh(x, zero, 1.0),
    "hardtanh below": lambda m, x, zero: m.nn.functional.hardtanh(x, -1.0, zero),
    "clamp": lambda m, x, zero: x.clamp(zero, 1.0),
    "clamp below": lambda m, x, zero: x.clamp(-1.0, zero),
    "clamp from": lambda m, x, zero: x.clamp(min=zero),
    "clamp to": lambda m, x, zero: x.clamp(max=zero),
    "clamp in place": lambda m, x, zero: x.clone().clamp_(zero, 1.0),
    "clamp from in place": lambda m, x, zero: x.clone().clamp_min_(zero),
    "clamp to in place": lambda m, x, zero: x.clone().clamp_max_(zero),
    "pad": lambda m, x, zero: m.nn.functional.pad(x, (1, 2), value=zero),
    "pad planes": lambda m, x, zero: m.nn.functional.pad(x.reshape(1, 1, 1, -1), (1, 1, 1, 1), value=zero),
    "pad twice": lambda m, x, zero: [m.nn.functional.pad(x, (1, 2), value=v) for v in (0.0, zero)][1],
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", CALLS)
def test_signs(name, dtype):
    for given, zero, size, step in itertools.product(ZEROS, ZEROS, (1, 7, 8, 64, 1000), (1, 2)):

        def signs(m, given=given, zero=zero, size=size, step=step):
            x = m.full((size * step,), given, dtype=getattr(m, dtype))[::step]
            return m.signbit(CALLS[name](m, x, zero)).tolist()

        assert signs(tenfold) == signs(torch), (given, zero, size, step)
