"""Means without NaN, membership, histograms and norms of windows on the device, against the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.nn import functional as F

pytest.importorskip("tenfold.scientific")
FLOATS = [tenfold.float32, tenfold.float64, tenfold.float16, tenfold.bfloat16]


def same(call, *given, rtol=1e-5):
    expected, got = call(*given), call(*(x.cuda() for x in given))
    assert got.device.type == "cuda"
    assert got.dtype is expected.dtype
    a, b = (x.cpu().double().numpy() for x in (got, expected))
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol / 10, equal_nan=True)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
@pytest.mark.parametrize("dim", [None, 0, 1, (0, 1)], ids=str)
def test_means_of_numbers(dim, dtype):
    x = np.random.default_rng(0).standard_normal((6, 9))
    x[x > 0.8] = x[2] = np.nan
    numbers, rtol = tenfold.tensor(x).to(dtype), 1e-5 if dtype.itemsize > 2 else 2e-2
    same(lambda x: x.nanmean(dim), numbers, rtol=rtol)
    same(lambda x: x.nanmean(dim, True), numbers, rtol=rtol)


@pytest.mark.parametrize("dtype", [tenfold.int64, tenfold.float32], ids=lambda d: d.name)
@pytest.mark.parametrize("count", [0, 1, 16, 17])
@pytest.mark.parametrize("invert", [False, True])
def test_membership(invert, count, dtype):
    rng = np.random.default_rng(1)
    x, known = (tenfold.tensor(rng.integers(-9, 9, n)).to(dtype) for n in ((7, 3), count))
    if dtype.is_floating_point:
        x[0, 0] = float("nan")
        known[:1] = float("nan")
    same(lambda x, known: tenfold.isin(x, known, invert=invert), x, known)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
@pytest.mark.parametrize("given", [(), (7,), (10, -1, 1), (5, 2, 2)], ids=str)
def test_histograms_by_their_own_ends(given, dtype):
    x = tenfold.tensor(np.random.default_rng(2).standard_normal(50) * 4).to(dtype)
    expected = x.float().histc(*given)
    assert x.cuda().histc(*given).cpu().float().equal(expected)


@pytest.mark.parametrize("order", [1, 1.5, 2, 2.0, 4])
def test_norms_of_windows_and_their_gradients_at_windows_of_zeros(order):
    values = np.abs(np.random.default_rng(3).standard_normal((2, 3, 8, 8))) + 0.1
    if order % 2 == 0:
        values[0, 0, :4, :4] = 0
        values[:, 1] *= -1
    x = tenfold.tensor(values)
    same(lambda x: F.lp_pool2d(x, order, 2), x)

    def slope(x):
        x = x.clone().requires_grad_()
        F.lp_pool2d(x, order, 2).sum().backward()
        return x.grad

    same(slope, x)
    assert not slope(x).isnan().any()
