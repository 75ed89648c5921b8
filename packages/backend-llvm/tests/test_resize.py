"""Compiled interpolation, adaptive means and their gradients, against NumPy's kernels in float64."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm import session
from tenfold.llvm.kernels import resize

RNG = np.random.default_rng(0)
F = tenfold.nn.functional
MODES = [
    ((2, 5, 17, 13), {"size": (31, 29), "mode": "bilinear"}),
    ((2, 5, 17, 13), {"size": (31, 29), "mode": "bilinear", "align_corners": True}),
    ((3, 4, 16, 12), {"scale_factor": 0.5, "mode": "bicubic"}),
    ((3, 4, 30, 12), {"size": (7, 12), "mode": "bilinear", "antialias": True}),
    ((2, 4, 16, 11), {"scale_factor": 2, "mode": "nearest"}),
    ((2, 4, 16, 11), {"size": (5, 23), "mode": "nearest-exact"}),
    ((4, 9, 101), {"size": 77, "mode": "linear"}),
    ((2, 3, 7, 8, 9), {"size": (8, 8, 5), "mode": "trilinear"}),
    ((2, 3, 20, 20), {"size": (20, 9), "mode": "bicubic"}),
    ((2, 30, 7, 8), {"size": (15, 1), "mode": "bilinear"}),
]
POOLS = [
    ((3, 5, 32, 30), (7, 7)),
    ((3, 5, 9, 30), (7, 13)),
    ((40, 5, 11), (4,)),
    ((2, 3, 8, 9, 10), (3, 4, 5)),
    ((1, 9, 17, 9), (1, 4)),
]


@pytest.fixture(params=[1, 2])
def threads(request):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(request.param)
    yield
    tenfold.set_num_threads(before)


def agree(call, shape, dtype, monkeypatch, last):
    """The result and the gradient of a call, as the kernels beneath have them in float64."""
    x = RNG.standard_normal(shape)
    found = []
    for kind, least in ((dtype, 1), (np.float64, 1 << 60)):
        monkeypatch.setattr(resize, "LEAST", least)
        leaf = tenfold.from_numpy(x.astype(dtype).astype(kind))
        if last:
            leaf = leaf.contiguous(memory_format=tenfold.channels_last)
        leaf.requires_grad_()
        y = call(leaf)
        weights = tenfold.from_numpy(np.cos(np.arange(y.numel(), dtype=kind)).reshape(tuple(y.shape)))
        (y * (weights.contiguous(memory_format=tenfold.channels_last) if last else weights)).sum().backward()
        found.append((y.detach(), leaf.grad))
    for got, exact in zip(*found, strict=True):
        assert got.stride() == exact.stride()
        error = np.abs(got.numpy() - exact.numpy()).max()
        assert error <= (3e-6 if dtype == np.float32 else 1e-14) * max(1, np.abs(exact.numpy()).max())
    assert session.failures() == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "options"), MODES, ids=str)
def test_interpolation(shape, options, dtype, threads, monkeypatch):
    for last in (False, True)[: 1 + (len(shape) == 4)]:
        agree(lambda x: F.interpolate(x, **options), shape, dtype, monkeypatch, last)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "sizes"), POOLS, ids=str)
def test_adaptive_means(shape, sizes, dtype, threads, monkeypatch):
    pool = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[len(sizes) - 1]
    for last in (False, True)[: 1 + (len(shape) == 4)]:
        agree(lambda x: pool(x, sizes), shape, dtype, monkeypatch, last)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_stays_where_it_is_read(value, monkeypatch):
    x = RNG.standard_normal((1, 2, 12, 12)).astype(np.float32)
    x[0, 1, 4, 7] = value
    found = []
    for least in (1, 1 << 60):
        monkeypatch.setattr(resize, "LEAST", least)
        t = tenfold.from_numpy(x)
        found.append(
            [
                F.interpolate(t, scale_factor=2, mode="bilinear"),
                F.interpolate(t, size=(9, 8), mode="bicubic", align_corners=True),
                F.adaptive_avg_pool2d(t, 5),
            ]
        )
    for got, expected in zip(*found, strict=True):
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)


def test_what_is_left_to_the_kernels_beneath():
    x = RNG.standard_normal((1, 2, 12, 12)).astype(np.float32)
    plain = ((24, 24), (None, None), "linear", False, False)
    assert isinstance(resize._resample(x, *plain), np.ndarray)
    assert resize._resample(x.astype(np.float16), *plain) is NotImplemented
    assert resize._resample((x * 9).astype(np.uint8), *plain) is NotImplemented
    assert resize._resample(x, (24, 24), (None, None), "nearest", False, False) is NotImplemented
    assert resize._resample(x, (12, 12), (None, None), "linear", False, False) is NotImplemented
    assert resize._adaptive(x, (1, 1)) is resize._adaptive(x, (6, 4)) is NotImplemented
    assert resize._adaptive(x, (0, 5)) is NotImplemented


def test_few_elements_are_served():
    x = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
    assert resize._resample(x, (6, 8), (2.0, 2.0), "bilinear", False, False).shape == (1, 1, 6, 8)
    assert resize._resample_grad(x, (2, 2), (1.5, 2.0), "nearest", False, False).shape == (1, 1, 2, 2)
