"""Norms, likelihoods of classes, and rows added up at an index, in compiled loops."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.dispatch.kernels import table
from tenfold.llvm.kernels import nll, vector_norm
from tenfold.llvm.kernels.reduction import PIECE
from tenfold.llvm.session import session

pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
RNG = np.random.default_rng(0)


@pytest.fixture(params=[1, 2])
def threads(request):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(request.param)
    yield
    tenfold.set_num_threads(before)


@pytest.mark.parametrize("size", [vector_norm.LONG, PIECE - 3, PIECE, 3 * PIECE + 5])
@pytest.mark.filterwarnings("ignore:overflow")
def test_norms_of_all_elements(size, threads):
    x = RNG.standard_normal(size).astype(np.float32)
    for scale in (1, 1e30, 1e-30, 1e-20):  # whose squares are out of range, which NumPy's kernel and PyTorch find, too
        scaled = x * np.float32(scale)
        wanted = np.sqrt(np.square(scaled).astype(np.float64).sum())
        for shape, dim, keepdim in (((size,), None, False), ((1, size), None, True), ((size,), (0,), False)):
            got = vector_norm.vector_norm(scaled.reshape(shape), 2, dim, keepdim)
            assert got.dtype == np.float32
            assert got.shape == ((1,) * len(shape) if keepdim else ())
            np.testing.assert_allclose(got.item(), wanted, rtol=1e-6)


def test_norms_of_rows_and_of_what_is_no_number(threads):
    x = RNG.standard_normal((70, 3, 130)).astype(np.float32)
    x[0, 0, 5], x[1, 0, 6], x[2, 0, 7:9] = np.nan, -np.inf, (np.inf, np.nan)
    wanted = np.sqrt(np.square(x.astype(np.float64)).sum(-1))
    for dim, keepdim in ((-1, False), (2, True), ([-1], False)):
        got = vector_norm.vector_norm(x, 2.0, dim, keepdim)
        np.testing.assert_allclose(got.reshape(wanted.shape), wanted, rtol=1e-6)
        assert got.shape == ((70, 3, 1) if keepdim else (70, 3))
    for given, order, dim in (
        (x, 1, -1),
        (x, 2, 0),
        (x[..., ::2], 2, -1),
        (x[:0], 2, None),
        (x.astype(np.float64), 2, -1),
        (x[..., :1].copy(), 2, -1),
        (x, 2, (0, 1)),
    ):
        assert vector_norm.vector_norm(given, order, dim, False) is NotImplemented


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_likelihoods(reduction, dtype):
    x, target = RNG.standard_normal((300, 17)).astype(dtype), RNG.integers(0, 17, 300)
    picked = -x.astype(np.float64)[np.arange(300), target]
    loss, total = nll.fused_nll_loss(x, target, None, -100, reduction)
    np.testing.assert_allclose(loss, picked.mean() if reduction == "mean" else picked.sum(), rtol=1e-6)
    assert (loss.dtype, loss.shape, total.item()) == (dtype, (), 300)
    back = nll.fused_nll_loss_grad(np.asarray(2, dtype), x, target, None, -100, reduction, total)
    wanted = np.zeros_like(x)
    wanted[np.arange(300), target] = -2 / 300 if reduction == "mean" else -2
    np.testing.assert_allclose(back, wanted, rtol=1e-6)


def test_targets_that_are_no_class_are_left_to_the_kernel_beneath():
    x = np.ones((4, 3), np.float32)
    for target in ([0, 1, 2, 3], [0, -1, 1, 1], [0, 1, 2, -101]):
        assert nll.fused_nll_loss(x, np.array(target), None, -100, "mean") is NotImplemented
        given = (np.ones((), np.float32), x, np.array(target), None, -100, "mean", np.ones((), np.float32))
        assert nll.fused_nll_loss_grad(*given) is NotImplemented


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64])
@pytest.mark.parametrize("width", [3, 8, 77])
def test_rows_added_at_an_index(dtype, width, threads):
    put, put_into = table("cpu").index_put, table("cpu").index_put__into
    x, values = ((RNG.standard_normal((n, width)) * 9).astype(dtype) for n in (40, 600))
    for index in (RNG.integers(0, 40, 600), RNG.integers(-40, 0, 600)):
        wanted = x.copy()
        for i, row in zip(index, values, strict=True):
            wanted[i] += row
        before = x.copy()
        found = put(x, (index,), values, True)
        assert found.dtype == dtype
        if width < 8 or dtype not in (np.float32, np.float64):  # by the kernel beneath, which may add in another order
            np.testing.assert_allclose(found.astype(float), wanted.astype(float), rtol=1e-2)
            continue
        assert np.array_equal(found, wanted)
        assert np.array_equal(x, before)
        assert np.array_equal(put(x, (index.reshape(20, 30),), values.reshape(20, 30, width), True), wanted)
        assert put_into(before, (index,), values, True, out=before) is before
        assert np.array_equal(before, wanted)
    with pytest.raises(IndexError):
        put(x, (np.full(600, 40),), values, True)
