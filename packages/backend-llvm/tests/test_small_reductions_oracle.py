"""Reductions of small arrays, and extremes with their positions in vectors, against PyTorch."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import positions, reduction
from tenfold.llvm.kernels.spread import spread

torch = pytest.importorskip("torch")
SHAPES = ((1,), (7,), (16,), (17,), (33,), (64, 100), (3, 40, 5), (3, 5, 40), (2, 9, 33), (4, 31, 16), (200, 3), (40, 1000))


def _numbers(shape, dtype, kind):
    rng = np.random.default_rng(7)
    x = rng.integers(-3, 4, shape).astype(dtype)
    if kind == "nan":
        x.reshape(-1)[rng.integers(0, x.size, max(1, x.size // 9))] = np.nan
    elif kind == "zeros":
        x = np.where(rng.random(shape) > 0.5, 0.0, -0.0).astype(dtype)
    elif kind == "infinite":
        x = np.where(rng.random(shape) > 0.5, np.inf, -np.inf).astype(dtype)
    return x


@pytest.mark.parametrize("kind", ["equal", "nan", "zeros", "infinite"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_extremes_and_their_positions(shape, dtype, kind):
    x = _numbers(shape, dtype, kind)
    mine, theirs = tenfold.from_numpy(x), torch.from_numpy(x)
    for name, dim, keepdim in itertools.product(("max", "min"), range(len(shape)), (False, True)):
        found, wanted = (getattr(t, name)(dim, keepdim) for t in (mine, theirs))
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())
        np.testing.assert_array_equal(np.signbit(found[0].numpy()), np.signbit(wanted[0].numpy()))
        there = getattr(mine, f"arg{name}")(dim, keepdim).numpy()
        np.testing.assert_array_equal(there, wanted[1].numpy())
    assert mine.argmax().item() == theirs.argmax().item()


@pytest.mark.parametrize("name", ["largest", "smallest"])
def test_compiled_loops_find_columns_of_large_arrays(name):
    x = np.zeros((300, 200), np.float32)
    assert positions.with_position(name, x, 0, False) is not NotImplemented
    assert positions.position(name, x, 0, False) is not NotImplemented


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin"])
def test_dimensions_that_are_no_neighbours(name, dtype):
    x = np.random.default_rng(1).standard_normal((3, 4, 5, 6, 2))
    mine, theirs = (lib.from_numpy(x).to(getattr(lib, dtype)) for lib in (tenfold, torch))
    dims = [(0, 2), (0, 2, 3), (1, 3), (0, 4), (-1, 1), (3, 0), (0, 1), (2, 3), (0, 2, 4), (0, 1, 2, 3, 4), (4,)]
    for dim, keepdim in itertools.product(dims, (False, True)):
        found, wanted = (getattr(t, name)(dim, keepdim) for t in (mine, theirs))
        assert (tuple(found.shape), found.stride()) == (tuple(wanted.shape), wanted.stride())
        limit = {"float32": 1e-5, "float64": 1e-13, "bfloat16": 2e-2}[dtype]
        np.testing.assert_allclose(found.double().numpy(), wanted.double().numpy(), rtol=limit, atol=limit)


def test_dimensions_that_are_wrong_are_left_to_the_kernel_beneath():
    x = np.ones((3, 4, 5), np.float32)
    assert reduction.reduce("total", x, (0, 2), False).tolist() == [15.0] * 4
    for dim in ((0, 0), (0, 3), (0, -3), (0, True)):
        assert reduction.reduce("total", x, dim, False) is NotImplemented


@pytest.mark.parametrize("shape", [(8, 10), (20, 3), (500, 3), (600, 3), (4, 40, 6), (2, 300, 5)])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_before_few_neighbours(name, shape):
    x = np.random.default_rng(2).standard_normal(shape)
    found = []
    for lib in (tenfold, torch):
        given = lib.from_numpy(x).requires_grad_()
        made = getattr(lib, name)(given, -2)
        found.append((made.detach().numpy(), lib.autograd.grad(made, given, made.detach() + 1)[0].numpy()))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)  # sums of thousands cancel


def test_the_first_few_along_any_dimension():
    x = np.random.default_rng(3).integers(0, 9, (6, 7, 1, 5)).astype(np.float32)
    for dim, largest in itertools.product((0, 1, -1), (False, True)):
        found, wanted = (lib.from_numpy(x).topk(3, dim, largest)[0] for lib in (tenfold, torch))
        np.testing.assert_array_equal(found.numpy(), wanted.numpy())
        assert found.stride() == wanted.stride()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["std", "var"])
def test_spread_of_half_precision(name, dtype):
    x = np.random.default_rng(1).standard_normal((3, 5, 40)).astype(np.float32) * 3 + 1
    x[0, 0, 0], x[1, 2, 3] = np.nan, np.inf
    mine, theirs = (lib.from_numpy(x).to(getattr(lib, dtype)) for lib in (tenfold, torch))
    for how in ({}, {"dim": 0}, {"dim": (0, 2)}, {"dim": -1, "correction": 0}, {"dim": 1, "keepdim": True}):
        for turn in (False, True):
            found, wanted = (getattr(t.transpose(0, 2) if turn else t, name)(**how) for t in (mine, theirs))
            assert (tuple(found.shape), str(found.dtype)[8:]) == (tuple(wanted.shape), str(wanted.dtype)[6:])
            np.testing.assert_allclose(found.float().numpy(), wanted.float().numpy(), rtol=0.008)
    halves = mine[0].numpy() if dtype == "float16" else mine[0].detach()._array
    assert spread(name, halves, 0, None, False, None) is not NotImplemented
