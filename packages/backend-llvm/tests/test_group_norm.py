"""Compiled group normalization, and normalization and pooling of images channels last, against definitions in float64."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import batch_norm, group_norm, little_norms, pool
from tenfold.llvm.session import session

pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
RNG = np.random.default_rng(0)
SHAPES = [(4, 6, 5, 7), (2, 12, 40), (1, 4, 3, 4, 5), (3, 8, 2, 4), (2, 2, 2049)]
TOLERANCE = {np.float32: 3e-6, np.float64: 1e-14}


@pytest.fixture(params=[1, 2])
def threads(request):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(request.param)
    yield
    tenfold.set_num_threads(before)


def definition(x, groups, weight, bias, eps, grad):
    """The result, the statistics, and the gradients of input, weight and bias."""
    x, grad = x.astype(np.float64), grad.astype(np.float64)
    rows = x.reshape(*x.shape[:1], groups, -1)
    mean, rstd = rows.mean(2), 1 / np.sqrt(rows.var(2) + eps)
    y = ((rows - mean[..., None]) * rstd[..., None]).reshape(x.shape)
    wide = (1, -1, *[1] * (x.ndim - 2))
    w = np.ones(x.shape[1]) if weight is None else weight.astype(np.float64)
    out = y * w.reshape(wide) + (0.0 if bias is None else bias.astype(np.float64).reshape(wide))
    h, yr = (grad * w.reshape(wide)).reshape(rows.shape), y.reshape(rows.shape)
    back = (h - h.mean(2, keepdims=True) - yr * (h * yr).mean(2, keepdims=True)) * rstd[..., None]
    axes = (0, *range(2, x.ndim))
    return out, mean, rstd, back.reshape(x.shape), (grad * y).sum(axes), grad.sum(axes)


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_against_the_definition(shape, dtype, given, threads):
    x, grad = (RNG.standard_normal(shape).astype(dtype) for _ in range(2))
    x += dtype(3)
    weight, bias = (RNG.standard_normal(shape[1]).astype(dtype) if given else None for _ in range(2))
    for groups in (g for g in (1, 2, shape[1]) if shape[1] % g == 0):
        wanted = definition(x, groups, weight, bias, 1e-5, grad)
        found = group_norm.fused_group_norm(x, groups, weight, bias, 1e-5)
        assert found is not NotImplemented
        back = group_norm.fused_group_norm_grad(grad, x, *found[1:], groups, weight, 1e-5)
        assert back is not NotImplemented
        for got, expected in zip((*found, *back), wanted, strict=True):
            assert got.dtype == dtype
            assert np.abs(got - expected).max() <= 8 * TOLERANCE[dtype] * max(1, np.abs(expected).max())


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", [(4, 6, 5, 7), (3, 16, 20, 30), (2, 8, 10, 12, 14), (1, 64, 40, 9)], ids=str)
def test_channels_last(shape, dtype, threads):
    lying = (shape[0], *shape[2:], shape[1])
    x, grad = (np.moveaxis(RNG.standard_normal(lying).astype(dtype), -1, 1) for _ in range(2))
    x += np.arange(shape[0], dtype=dtype).reshape(-1, *[1] * (len(shape) - 1)) * dtype(2)
    weight, bias = (RNG.standard_normal(shape[1]).astype(dtype) for _ in range(2))
    for groups in (1, 2, shape[1]):
        for w, b in ((weight, bias), (None, None)):
            found = group_norm.fused_group_norm(x, groups, w, b, 1e-5)
            back = group_norm.fused_group_norm_grad(grad, x, *found[1:], groups, w, 1e-5)
            mixed = group_norm.fused_group_norm_grad(np.ascontiguousarray(grad), x, *found[1:], groups, w, 1e-5)
            wanted = definition(x, groups, w, b, 1e-5, grad)
            for got, expected in zip((*found, *back, *mixed), (*wanted, *wanted[3:]), strict=True):
                assert got.dtype == dtype
                assert np.abs(got - expected).max() <= 8 * TOLERANCE[dtype] * max(1, np.abs(expected).max())
            assert np.moveaxis(found[0], 1, -1).flags.c_contiguous
            assert np.moveaxis(back[0], 1, -1).flags.c_contiguous


@pytest.mark.filterwarnings("error")
def test_numbers_that_are_none(threads):
    """They fill their groups, in both orders of memory, and nobody is warned."""
    x = RNG.standard_normal((2, 16, 30, 40)).astype(np.float32)
    x[0, 3, 4, 5], x[1, 9, 1, 1] = np.inf, np.nan
    x[1, 4:8] += 1e6  # beside which the first sample's numbers keep their digits
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    for a in (x, last):
        out, *statistics = group_norm.fused_group_norm(a, 4, None, None, 1e-5)
        back = group_norm.fused_group_norm_grad(a, a, *statistics, 4, None, 1e-5)[0]
        for found in (out, back):
            none = np.isnan(found).reshape(2, 4, -1)
            assert none[0, 0].all()
            assert none[1, 2].all()
            assert none.any(2).sum() == 2
        alone = group_norm.fused_group_norm(x[:1], 4, None, None, 1e-5)[0]
        np.testing.assert_allclose(out[:1], alone, rtol=1e-5, atol=1e-5)


def test_other_forms_are_left_to_the_kernel_beneath():
    x = np.ones((2, 6, 9), np.float32)
    for given, groups in ((x, 4), (x, 0), (x[:, :, ::2], 2), (x[0], 2), (x[:0], 2)):
        assert group_norm.fused_group_norm(given, groups, None, None, 1e-5) is NotImplemented
    assert group_norm.fused_group_norm(x, 2, np.ones(6), None, 1e-5) is NotImplemented


def last(x):
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)


def is_last(x):
    return np.moveaxis(x, 1, -1).flags.c_contiguous


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_batch_norm_channels_last(dtype, training, threads):
    x, g = (RNG.standard_normal((6, 16, 9, 10)).astype(dtype) for _ in range(2))
    w, b, mean = (RNG.standard_normal(16).astype(dtype) for _ in range(3))
    arguments = (w, b, mean, np.ones(16, dtype), training, 1e-5)
    plain, other = (batch_norm.fused_batch_norm(f(x), *arguments) for f in (np.asarray, last))
    assert is_last(other[0])
    back, turned = (
        batch_norm.fused_batch_norm_grad(f(g), f(x), w, plain[1], plain[3], training, 1e-5) for f in (np.asarray, last)
    )
    assert is_last(turned[0])
    for got, expected in zip((*other, *turned), (*plain, *back), strict=True):  # columns are added in another order
        np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE[dtype] * abs(expected).max())
    assert batch_norm.fused_batch_norm(last(x[:, :4]), *(a[:4] for a in arguments[:4]), training, 1e-5)[0].shape == (6, 4, 9, 10)


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(2, 2, 0), (3, 2, 1), (3, 1, 1)])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_pooling_channels_last(dtype, kernel, stride, padding, threads):
    x = RNG.standard_normal((3, 16, 9, 10)).astype(dtype)
    x[0, 3, 4, 4], x[1, 2, 0, 0] = np.nan, -np.inf
    options = ((kernel,) * 2, (stride,) * 2, (padding,) * 2, (1, 1), False)
    plain, other = (pool._max_pool(f(x), *options) for f in (np.asarray, last))
    assert all(map(is_last, other))
    assert all(np.array_equal(p, q, equal_nan=True) for p, q in zip(plain, other, strict=True))
    g = RNG.standard_normal(plain[0].shape).astype(dtype)
    back, turned = (pool._max_pool_grad(f(g), f(plain[1]), x.shape, 2) for f in (np.asarray, last))
    assert is_last(turned)
    assert np.array_equal(back, turned)


def test_a_group_is_one_threads_work_up_to_its_size(monkeypatch):
    """The steps between several programs had taken longer than these, for arrays of a hundred thousand elements."""
    assert little_norms._plan((8, 32, 28, 28), False, 1, 16) is not None
    assert little_norms._plan((16, 64, 32, 32), False, 4, 16) is not None
    assert little_norms._plan((16, 64, 32, 32), False, 1, 16) is None  # of which more threads take less time
    x, grad = (RNG.standard_normal((8, 32, 28, 28)).astype(np.float32) for _ in range(2))
    x += np.float32(100)
    weight = RNG.standard_normal(32).astype(np.float32)
    monkeypatch.setattr(group_norm, "_call", None)
    for groups in (1, 8):
        wanted = definition(x, groups, weight, weight, 1e-5, grad)
        found = group_norm.fused_group_norm(x, groups, weight, weight, 1e-5)
        back = group_norm.fused_group_norm_grad(grad, x, *found[1:], groups, weight, 1e-5)
        for got, expected in zip((*found, *back), wanted, strict=True):
            assert np.abs(got - expected).max() <= 1e-5 * max(1, np.abs(expected).max())
