"""erf, erfc and erfinv against the standard library, to a few units in the last place."""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np
import pytest

special = import_module("tenfold.cpu.erf")
POINTS = np.concatenate([np.linspace(-6, 6, 4801), np.logspace(-300, 1.4, 500), -np.logspace(-300, 1.4, 500)])


@pytest.mark.parametrize(("name", "bound"), [("erf", 1e-15), ("erfc", 3e-15)])
def test_float64_is_within_units_of_the_last_place(name: str, bound: float) -> None:
    expected = np.array([getattr(math, name)(x) for x in POINTS])
    np.testing.assert_allclose(getattr(special, name)(POINTS), expected, rtol=bound, atol=1e-300)


def test_float32_erf_is_within_three_units_of_the_last_place() -> None:
    x = POINTS[np.abs(POINTS) > 1e-37].astype(np.float32)
    got = special.erf(x)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, [math.erf(float(v)) for v in x], rtol=2.5e-7, atol=0)
    far = np.logspace(0.7, 38, 1000).astype(np.float32)
    assert (special.erf(far) == 1).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values(dtype: type) -> None:
    x = np.array([math.nan, math.inf, -math.inf, 0.0], dtype)
    np.testing.assert_array_equal(special.erf(x), np.array([math.nan, 1, -1, 0], dtype))
    np.testing.assert_array_equal(special.erfc(x), np.array([math.nan, 0, 2, 1], dtype))
    edges = np.array([math.nan, 1.0, -1.0, 1.5, 0.0], dtype)
    np.testing.assert_array_equal(special.erfinv(edges), np.array([math.nan, math.inf, -math.inf, math.nan, 0], dtype))


def test_erfinv_inverts_erf() -> None:
    y = np.concatenate([np.linspace(-3, 3, 1001), [1e-200, -1e-9]])
    # erf is flat in its tails: there one unit in the last place of erf(y) moves y by more.
    slope = 2 / math.sqrt(math.pi) * np.exp(-y * y)
    error = np.abs(special.erfinv(special.erf(y)) - y)
    assert (error <= 4e-16 / slope + 1e-15 * np.abs(y)).all()


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (70_000,)])
def test_shapes_and_inputs_are_kept(shape: tuple[int, ...]) -> None:
    for name in ("erf", "erfc", "erfinv"):
        x = np.full(shape, 0.25)
        got = getattr(special, name)(x)
        assert got.shape == shape
        assert (x == 0.25).all()
        assert (got == getattr(special, name)(np.array([0.25]))).all()


def test_transposed_and_half_precision() -> None:
    x = np.linspace(-2, 2, 12).reshape(3, 4)
    np.testing.assert_array_equal(special.erf(x.T), special.erf(x).T)
    half = special.erf(x.astype(np.float16))
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, special.erf(x), atol=1e-3)
