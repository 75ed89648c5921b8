"""Sums, extremes, softmax and normalization by compiled loops, against NumPy in float64."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import tenfold
from tenfold.dispatch import kernels
from tenfold.llvm.kernels import norm, reduction, softmax  # noqa: F401 - what is tested

SHAPES = [(200, 300), (40, 50, 60), (5, 7, 11, 130), (100_003,), (1, 20_000), (20_000, 1), (3, 1, 7, 2000)]
DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
PLAIN = {"total": np.sum, "mean": np.mean, "largest": np.max, "smallest": np.min}


def numbers(*shape, dtype=np.float32):
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def every_dim(shape):
    """None, each dimension, and each set of several."""
    yield None
    for count in range(1, len(shape) + 1):
        for dims in itertools.combinations(range(len(shape)), count):
            yield dims[0] if count == 1 else dims


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", PLAIN)
def test_reductions(kind, shape, dtype):
    x = numbers(*shape, dtype=dtype)
    for dim, keepdim in itertools.product(every_dim(shape), (False, True)):
        got = reduction.reduce(kind, x, dim, keepdim)
        assert got is not NotImplemented
        expected = PLAIN[kind](x.astype(np.longdouble), axis=dim, keepdims=keepdim)
        assert got.shape == expected.shape
        assert got.dtype == x.dtype
        # A sum is within (number of additions that an element goes through) x unit roundoff x the sum of the absolute values.
        scale = (np.mean if kind == "mean" else np.sum)(np.abs(x.astype(np.float64)), axis=dim, keepdims=keepdim)
        eps = {2: 2.0**-8 if dtype is ml_dtypes.bfloat16 else 2.0**-11, 4: 2.0**-24, 8: 2.0**-53}[x.itemsize]
        allowed = (2 * eps * np.abs(expected) + 4 * (2.0**-53 if x.itemsize == 8 else 2.0**-24) * scale) * (
            kind in ("total", "mean")
        )
        assert (np.abs(got.astype(np.longdouble) - expected) <= allowed).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_errors_do_not_grow_with_the_length(dtype):
    """A sum of equal numbers, which plain summation gets wrong in the third digit."""
    for shape, dim in (((3_000_000,), 0), ((2, 300_000), 1), ((300_000, 3), 0), ((2, 100_000, 5), 1)):
        x = np.full(shape, 0.1, dtype)
        got = reduction.reduce("total", x, dim, False)
        exact = np.asarray(np.longdouble(x.flat[0]) * shape[dim])
        assert np.abs(got - exact).max() <= 4 * np.spacing(dtype(exact))


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values(special, dtype):
    for shape, dim in (((64, 300), 1), ((64, 300), 0), ((40_000,), None), ((3, 70, 90), 1)):
        x = numbers(*shape, dtype=dtype)
        x.flat[x.size // 2] = special
        for kind, plain in PLAIN.items():
            got, expected = reduction.reduce(kind, x, dim, False), plain(x.astype(np.float64), axis=dim)
            np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
            np.testing.assert_array_equal(np.isinf(got), np.isinf(expected))
    both = np.array([np.inf, -np.inf, *range(20_000)], dtype)
    assert np.isnan(reduction.reduce("total", both, None, False))


def test_wrong_dimensions_are_left_to_the_kernel_beneath():
    x = tenfold.tensor(numbers(200, 300))
    for dim in (2, -3, (0, 0), (0, 5)):
        with pytest.raises((IndexError, RuntimeError)):
            x.sum(dim)


def test_layouts():
    x = numbers(300, 400)
    kernel = kernels.table("cpu").sum
    for view in (x.T, x[::2], x[:, ::-1], np.broadcast_to(x[0], (300, 400)), x.reshape(30, 10, 400).transpose(2, 0, 1)):
        for dim in range(view.ndim):
            np.testing.assert_allclose(kernel(view, dim, False), view.astype(np.float64).sum(dim), rtol=1e-4, atol=1e-4)


@pytest.fixture(params=[1, 2, 4])
def threads(request):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(request.param)
    yield
    tenfold.set_num_threads(before)


def test_threads_do_not_change_results(threads):
    x = np.random.default_rng(1).standard_normal((700, 1100)).astype(np.float32)
    expected = [reduction.reduce("total", x[:1].repeat(700, 0), dim, False) for dim in (None, 0, 1)]
    tenfold.set_num_threads(1)
    for dim, found in zip((None, 0, 1), expected):
        np.testing.assert_array_equal(reduction.reduce("total", x[:1].repeat(700, 0), dim, False), found)


# Softmax


def softmaxed(x):
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5,), (1, 1), (7, 3), (64, 513), (2, 3, 1000), (2, 5000)])
def test_softmax(shape, dtype):
    x = (numbers(*shape) * 4).astype(dtype)
    rtol, atol = {2: (1e-2, 1e-3), 4: (4e-6, 1e-30), 8: (1e-14, 0)}[x.itemsize]
    expected = softmaxed(x.astype(np.float64))
    table = kernels.table("cpu")
    np.testing.assert_allclose(table.softmax(x, -1).astype(np.float64), expected, rtol=rtol, atol=atol)
    logs = table.log_softmax(x, x.ndim - 1)
    np.testing.assert_allclose(logs.astype(np.float64), np.log(expected), rtol=rtol, atol=max(atol, rtol))
    g = numbers(*shape).astype(dtype)
    wide = g.astype(np.float64)
    out = table.softmax(x, -1)
    got = table.softmax_backward(g, out, -1).astype(np.float64)
    o = out.astype(np.float64)
    np.testing.assert_allclose(got, (wide - (wide * o).sum(-1, keepdims=True)) * o, rtol=rtol, atol=max(atol, rtol / 4))
    got = table.log_softmax_backward(g, logs, -1).astype(np.float64)
    expected = wide - np.exp(logs.astype(np.float64)) * wide.sum(-1, keepdims=True)
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol * 10)


def test_softmax_of_special_rows():
    x = numbers(6, 700)
    x[0, 3], x[1, 5], x[2], x[3, :-1], x[4] = np.nan, np.inf, -np.inf, -np.inf, 1e30
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(kernels.table("cpu").softmax(x, 1), softmaxed(x), rtol=1e-5)
        expected = np.log(softmaxed(x.astype(np.float64)))
    np.testing.assert_allclose(kernels.table("cpu").log_softmax(x, 1), expected, rtol=1e-5, atol=1e-5)


# Normalization


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize(("shape", "ndim"), [((8, 700), 1), ((3, 4, 5), 2), ((6,), 1), ((40, 1), 1), ((4, 20_000), 1)])
def test_layer_norm_and_its_gradients(shape, ndim, dtype):
    x, g = ((numbers(*shape) * 3 + 5).astype(dtype) for _ in range(2))
    w, b = (numbers(*shape[-ndim:]).astype(dtype) for _ in range(2))
    y, mean, rstd = norm.fused_layer_norm(x, ndim, w, b, 1e-5)
    axes = tuple(range(len(shape) - ndim, len(shape)))
    wide, gw, ww = x.astype(np.float64), g.astype(np.float64), w.astype(np.float64)
    center = wide.mean(axes, keepdims=True)
    scale = 1 / np.sqrt(wide.var(axes, keepdims=True) + 1e-5)
    normal = (wide - center) * scale
    tolerance = {"rtol": 2e-2 if dtype == np.float16 else 2e-4, "atol": 2e-2 if dtype == np.float16 else 3e-5}
    np.testing.assert_allclose(mean, center, rtol=1e-6)
    np.testing.assert_allclose(rstd, scale, rtol=1e-5)
    np.testing.assert_allclose(y, normal * ww + b, **tolerance)
    dx, dw, db = norm.fused_layer_norm_grad(g, x, mean, rstd, ndim, w, 1e-5)
    h = gw * ww
    expected = (h - h.mean(axes, keepdims=True) - normal * (h * normal).mean(axes, keepdims=True)) * scale
    lead = tuple(range(len(shape) - ndim))
    np.testing.assert_allclose(dx, expected, rtol=tolerance["rtol"], atol=tolerance["atol"] * max(1, np.abs(expected).max()))
    np.testing.assert_allclose(dw, (gw * normal).sum(lead), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(db, gw.sum(lead), rtol=1e-3, atol=1e-4)


def test_a_large_mean_does_not_spoil_the_deviations():
    x = (1e4 + numbers(4, 1000, dtype=np.float64)).astype(np.float32)
    y, *_ = norm.fused_layer_norm(x, 1, None, None, 0.0)
    wide = x.astype(np.float64)
    expected = (wide - wide.mean(1, keepdims=True)) / wide.std(1, keepdims=True)
    np.testing.assert_allclose(y, expected, atol=2e-5)
    constant = np.full((3, 999), 0.1, np.float32)
    np.testing.assert_array_equal(norm.fused_layer_norm(constant, 1, None, None, 1e-5)[0], np.zeros_like(constant))
