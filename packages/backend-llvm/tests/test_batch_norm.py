"""Compiled batch normalization, against its definition in float64."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import batch_norm

RNG = np.random.default_rng(0)
SHAPES = [(4, 3, 16, 16), (2, 5, 9), (1, 7, 3, 4, 5), (8, 64, 4, 4), (3, 2, 2049), (7, 5), (9, 40), (3, 4, 1, 1), (2, 3, 70000)]


def definition(x, weight, bias, mean, variance, training, eps, grad):
    """The result, mean, variance, and the gradients of input, weight and bias."""
    x, grad = x.astype(np.float64), grad.astype(np.float64)
    axes, wide = (0, *range(2, x.ndim)), (1, -1, *[1] * (x.ndim - 2))
    if training:
        mean, variance = x.mean(axes), x.var(axes)
    mean, variance = np.float64(mean), np.float64(variance)
    rstd = (1 / np.sqrt(variance + eps)).reshape(wide)
    y = (x - mean.reshape(wide)) * rstd
    w = 1.0 if weight is None else weight.astype(np.float64).reshape(wide)
    out = y * w + (0.0 if bias is None else bias.astype(np.float64).reshape(wide))
    h = grad * w
    back = (h - h.mean(axes, keepdims=True) - y * (h * y).mean(axes, keepdims=True)) * rstd if training else h * rstd
    return out, mean, variance, back, (grad * y).sum(axes), grad.sum(axes)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_against_the_definition(shape, dtype, given, training):
    x, grad = (RNG.standard_normal(shape).astype(dtype) for _ in range(2))
    x += dtype(3)
    weight, bias, mean = (RNG.standard_normal(shape[1]).astype(dtype) for _ in range(3))
    variance = RNG.random(shape[1]).astype(dtype) + dtype(0.5)
    weight, bias = (weight, bias) if given else (None, None)
    found = batch_norm.fused_batch_norm(x, weight, bias, mean, variance, training, 1e-5)
    assert found is not NotImplemented
    back = batch_norm.fused_batch_norm_grad(grad, x, weight, found[1], found[3], training, 1e-5)
    expected = definition(x, weight, bias, mean, variance, training, 1e-5, grad)
    limit = 3e-6 if dtype == np.float32 else 1e-14
    for ours, right in zip((*found[:3], *back), expected, strict=True):
        assert ours.dtype == dtype
        np.testing.assert_allclose(ours, right, rtol=0, atol=limit * max(1, abs(right).max()))


def test_far_from_zero():
    """A mean of a million standard deviations leaves the digits that float32 has."""
    x = (RNG.standard_normal((4, 3, 32, 32)) + 1e4).astype(np.float32)
    out, mean, variance, _ = batch_norm.fused_batch_norm(x, None, None, None, None, True, 1e-5)
    right, *_ = definition(x, None, None, None, None, True, 1e-5, x)
    np.testing.assert_allclose(variance, x.astype(np.float64).var((0, 2, 3)), rtol=1e-6)
    np.testing.assert_allclose(mean, x.astype(np.float64).mean((0, 2, 3)), rtol=1e-7)
    np.testing.assert_allclose(out, right, atol=1e-3)


def test_numbers_that_hurt_stay_in_their_channel():
    x = RNG.standard_normal((3, 4, 8, 8)).astype(np.float32)
    x[0, 1, 0, 0], x[1, 2, 3, 3] = np.nan, np.inf
    out, mean, *_ = batch_norm.fused_batch_norm(x, None, None, None, None, True, 1e-5)
    assert np.isnan(out[:, 1]).all()
    assert np.isnan(mean[1])
    assert not np.isfinite(out[:, 2]).any() or np.isnan(out[:, 2]).any()
    assert np.isfinite(out[:, [0, 3]]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(4, 3, 5, 7), (2, 40, 9, 3), (1, 16, 4, 4), (2, 5, 3, 4, 5), (8, 24, 40, 41)], ids=str)
def test_channels_last(shape, dtype):
    """The results lie as the input does, whatever the gradient's order."""
    x, grad = (np.moveaxis(RNG.standard_normal((shape[0], *shape[2:], shape[1])).astype(dtype), -1, 1) for _ in range(2))
    weight, bias, mean = (RNG.standard_normal(shape[1]).astype(dtype) for _ in range(3))
    variance = RNG.random(shape[1]).astype(dtype) + dtype(0.5)
    limit = 3e-6 if dtype == np.float32 else 1e-14
    for training in (True, False):
        for g in (grad, np.ascontiguousarray(grad)):
            out = batch_norm.fused_batch_norm(x, weight, bias, mean, variance, training, 1e-5)
            back = batch_norm.fused_batch_norm_grad(g, x, weight, out[1], out[3], training, 1e-5)
            expected = definition(x, weight, bias, mean, variance, training, 1e-5, grad)
            for ours, right in zip((*out[:3], *back), expected, strict=True):
                np.testing.assert_allclose(ours, right, rtol=0, atol=limit * max(1, abs(right).max()))
            assert np.moveaxis(out[0], 1, -1).flags.c_contiguous


@pytest.mark.parametrize("last", [True, False])
def test_running_statistics_and_tangents(last):
    """A step moves them as PyTorch's formula does, and what they were told keeps no tangent."""
    x = tenfold.randn(3, 4, 5, 5)
    x = x.contiguous(memory_format=tenfold.channels_last) if last else x
    mean, variance = tenfold.zeros(4), tenfold.ones(4)
    tenfold.nn.functional.batch_norm(x, mean, variance, training=True, momentum=0.25)
    numbers = x.numpy().astype(np.float64)
    np.testing.assert_allclose(mean.numpy(), 0.25 * numbers.mean((0, 2, 3)), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(variance.numpy(), 0.75 + 0.25 * numbers.var((0, 2, 3), ddof=1), rtol=1e-5)
    _, tangent = tenfold.func.jvp(lambda v: tenfold.nn.functional.batch_norm(v, mean, variance, training=True), (x,), (x,))
    assert tenfold.isfinite(tangent).all()
    assert not mean.requires_grad


def test_what_the_kernel_beneath_does():
    x = RNG.standard_normal((16, 3, 4)).astype(np.float32)
    for given, vector in (
        (x[:0], None),
        (x.astype(np.float16), None),
        (x, np.ones(3)),
        (x, np.ones(4, np.float32)),
        (x[0, 0], None),
    ):
        assert batch_norm.fused_batch_norm(given, vector, None, None, None, True, 1e-5) is NotImplemented
    images = tenfold.randn(2, 3, 8, 8).contiguous(memory_format=tenfold.channels_last)
    assert tenfold.nn.BatchNorm2d(3)(images).is_contiguous(memory_format=tenfold.channels_last)
    with pytest.raises(ValueError, match="running_mean and running_var"):
        tenfold.op.fused_batch_norm(tenfold.randn(2, 3, 8, 8), None, None, None, None, False, 1e-5)
