"""Kernels over whole rows and fused optimizer steps against the operators' bodies and rules on the CPU."""

from __future__ import annotations

import math

import numpy as np
import pytest
from both_devices import assert_close, both, drawn

import tenfold
from tenfold import nn, optim
from tenfold.dispatch.devices import AcceleratorError
from tenfold.nn import functional as F

DTYPES = [tenfold.float32, tenfold.bfloat16, tenfold.float16, tenfold.float64]
SHAPES = [(3, 5), (1, 1), (70, 33), (2, 3, 4), (2, 300)]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_and_its_gradient(name, shape, dtype):
    for expected, got in both(lambda x: getattr(F, name)(x, -1), drawn(shape, dtype) * 20):
        assert_close(got, expected, 2)


def test_softmax_of_what_hurts():
    inf, nan = float("inf"), float("nan")
    x = tenfold.tensor([[1.0, inf, 0.0], [nan, 1.0, 2.0], [-inf, -inf, -inf], [3e38, -3e38, 0.0], [-inf, 0.0, -inf]])
    for name in ("softmax", "log_softmax"):
        assert_close(getattr(F, name)(x.cuda(), 1), getattr(F, name)(x, 1))
    assert F.softmax(tenfold.zeros(0, 4, device="cuda"), 1).shape == (0, 4)
    assert_close(F.softmax(x.cuda().t(), 1), F.softmax(x.t(), 1))


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16], ids=lambda d: d.name)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_along_other_dimensions(name, dtype):
    hurt = drawn((5, 7), dtype) * 20
    hurt[0, 0], hurt[1, 1], hurt[:, 2], hurt[3, 3] = math.inf, math.nan, -math.inf, -math.inf
    many, turned = drawn((2, 600, 3), dtype) * 20, drawn((2, 20, 3), dtype).transpose(0, 1)  # 512 rows at a time
    for x, dim in ((hurt, 0), (drawn((2, 3, 70), dtype), 1), (many, 1), (turned, 1), (drawn((4, 1, 2), dtype), 1)):
        for expected, got in both(lambda x, dim=dim: getattr(F, name)(x, dim), x):
            assert_close(got, expected, 4)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("shape", [(5, 4), (2, 4, 3), (4,), (2, 2100)], ids=str)
def test_cross_entropy_with_probabilities(shape, dtype):
    x, C = drawn(shape, dtype) * 3, shape[min(len(shape) - 1, 1)]
    target, weight = drawn(shape, dtype, 3).abs(), drawn((C,), dtype, 4).abs()
    for reduction in ("none", "sum", "mean"):
        for smoothing in (0.0, 0.3):

            def loss(x, reduction=reduction, smoothing=smoothing):
                w = weight.to(x.device) if smoothing else None
                return F.cross_entropy(x, target.to(x.device), w, reduction=reduction, label_smoothing=smoothing)

            for expected, got in both(loss, x / C if C > 100 else x):
                assert_close(got, expected, 16 if dtype.itemsize == 2 else 8)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("affine", [True, False])
def test_norms_and_their_gradients(shape, dtype, affine):
    size = shape[-1:]
    x, w, b = drawn(shape, dtype), drawn(size, dtype, 1), drawn(size, dtype, 2)
    parameters = (w, b) if affine else ()
    for expected, got in both(lambda x, *p: F.layer_norm(x, size, *p), x * 3 + 2, *parameters):
        assert_close(got, expected, 8)
    for expected, got in both(lambda x, *p: F.rms_norm(x, size, *p), x, *parameters[:1]):
        assert_close(got, expected, 8)


def test_norm_over_several_dimensions_and_of_constant_rows():
    x = drawn((2, 3, 4), tenfold.float32)
    for expected, got in both(lambda x: F.layer_norm(x, (3, 4)), x):
        assert_close(got, expected, 4)
    constant = tenfold.full((2, 7), 1e4 / 3, device="cuda")
    assert F.layer_norm(constant, (7,)).abs().max().item() == 0.0


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weighted", [True, False])
def test_cross_entropy_and_its_gradient(dtype, reduction, weighted):
    N, C = 70, 11
    x = drawn((N, C), dtype) * 5
    target = tenfold.tensor(np.random.default_rng(3).integers(0, C, N))
    target[::7] = -100
    weight = drawn((C,), dtype, 4).abs() if weighted else None

    for smoothing in (0.0, 0.3):

        def loss(x, smoothing=smoothing):
            w = None if weight is None else weight.to(x.device)
            return F.cross_entropy(x, target.to(x.device), w, reduction=reduction, label_smoothing=smoothing)

        for expected, got in both(loss, x):
            assert_close(got, expected, 4)


@pytest.mark.parametrize("shape", [(2, 5, 7), (2, 5, 3, 4), (5,)], ids=str)
@pytest.mark.parametrize("last", [False, True])
def test_cross_entropy_of_more_dimensions(shape, last):
    x, target = drawn(shape, tenfold.float32), tenfold.tensor(np.random.default_rng(3).integers(0, 5, (*shape[:1], *shape[2:])))
    target = target[0] if len(shape) == 1 else target
    if last and len(shape) > 2:
        x = x.movedim(1, -1).contiguous().movedim(-1, 1)
    weight = drawn((5,), tenfold.float32, 4).abs()
    for reduction in ("none", "mean"):

        def loss(x, reduction=reduction):
            options = {"reduction": reduction, "label_smoothing": 0.1, "ignore_index": 2}
            return F.cross_entropy(x, target.to(x.device), weight.to(x.device), **options)

        for expected, got in both(loss, x):
            assert_close(got, expected, 4)


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16, tenfold.float64], ids=lambda d: d.name)
def test_rows_that_are_gone_over_in_blocks(dtype):
    C = 8193 + 4096
    x = drawn((2, C), dtype) * 5
    x[0, 5000], x[1, ::2] = 60.0, -math.inf
    for name in ("softmax", "log_softmax"):
        for expected, got in both(lambda x, name=name: getattr(F, name)(x, -1), x):
            assert_close(got, expected, 8)
    target, weight = tenfold.tensor([C - 1, 4097]), drawn((C,), dtype, 4).abs()
    for reduction in ("none", "mean"):
        for w in (None, weight):

            def loss(x, w=w, reduction=reduction):
                options = {"reduction": reduction, "label_smoothing": 0.1 if reduction == "mean" and dtype.itemsize > 2 else 0.0}
                return F.cross_entropy(x.clamp_min(-99), target.to(x.device), w if w is None else w.to(x.device), **options)

            for expected, got in both(loss, x):
                assert_close(got, expected, 8)


def test_long_rows_of_what_hurts():
    C = 9000
    x = tenfold.zeros(4, C)
    x[0, 8999], x[1, 3], x[2] = math.nan, math.inf, -math.inf
    target = tenfold.tensor([0, 3, 0, -100])
    for name in ("softmax", "log_softmax"):
        expected, got = (getattr(F, name)(x.to(d), -1) for d in ("cpu", "cuda"))
        assert_close(got, expected)
    expected, got = (F.cross_entropy(x.to(d), target.to(d), reduction="none") for d in ("cpu", "cuda"))
    assert_close(got, expected)
    with pytest.raises(AcceleratorError, match="cross_entropy was out of bounds"):
        F.cross_entropy(x.cuda(), tenfold.tensor([0, C, 0, 0], device="cuda")).item()


def test_cross_entropy_of_what_hurts():
    x = tenfold.tensor([[float("nan"), 1.0], [1e38, -1e38], [0.0, 1.0]])
    target = tenfold.tensor([-100, 1, 0])
    for expected, got in both(lambda x: F.cross_entropy(x, target.to(x.device), reduction="none"), x):
        assert_close(got, expected)
    ignored = tenfold.full((2,), -100)
    expected, got = (F.cross_entropy(tenfold.zeros(2, 3, device=d), ignored.to(d)) for d in ("cpu", "cuda"))
    assert_close(got, expected)
    with pytest.raises(AcceleratorError, match="cross_entropy was out of bounds"):
        F.cross_entropy(tenfold.zeros(2, 3, device="cuda"), tenfold.tensor([0, 3], device="cuda")).item()


def test_a_step_counts_as_a_write():
    p = tenfold.ones(4, device="cuda", requires_grad=True)
    loss = (p * p).sum()
    p.grad = tenfold.ones(4, device="cuda")
    optim.AdamW([p]).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_model_trains_as_on_the_cpu():
    losses = []
    for device in ("cpu", "cuda"):
        tenfold.manual_seed(0)
        model = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3)).to(device)
        optimizer = optim.AdamW(model.parameters(), lr=0.05)
        x, target = drawn((10, 6), tenfold.float32).to(device), (tenfold.arange(10) % 3).to(device)
        for _ in range(4):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), target)
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert abs(losses[0] - losses[1]) < 1e-4
