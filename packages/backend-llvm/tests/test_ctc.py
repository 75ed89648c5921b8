"""Compiled connectionist temporal classification: what the operators' bodies give, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm import session
from tenfold.llvm.kernels import ctc as compiled
from tenfold.nn.ops.loss import ctc as ops

RNG = np.random.default_rng(0)
pytestmark = pytest.mark.skipif(session.session() is None, reason="no compiled kernels on this machine")
SIZES = [(5, 3, 4, 2), (9, 2, 5, 4), (1, 1, 2, 1), (6, 2, 4, 0), (0, 2, 3, 1), (40, 9, 30, 17)]


@pytest.fixture(params=[1, 2], autouse=True)
def threads(request):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(request.param)
    yield
    tenfold.set_num_threads(before)


@pytest.mark.parametrize("special", [None, np.nan, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", SIZES)
def test_the_bodies(case, dtype, special):
    T, N, C, S = case
    for zero_infinity in (False, True):
        scores = RNG.standard_normal((T, N, C))
        x = (scores - np.log(np.exp(scores).sum(2, keepdims=True))).astype(dtype)
        if special is not None and T:
            x[T // 2, 0, C // 2] = special
        labels, blank = RNG.integers(0, C, (N, S)), int(RNG.integers(0, C))
        sizes = RNG.integers(0, T + 1, N), RNG.integers(0, S + 1, N)
        given, grad = (x, labels, *sizes), RNG.standard_normal(N).astype(dtype)
        wrapped = [tenfold.from_numpy(a) for a in given]
        forwards = ops.fused_ctc.op.body(*wrapped, blank, zero_infinity)
        found = compiled.fused_ctc(*given, blank, zero_infinity)
        back = ops.fused_ctc_grad.op.body(tenfold.from_numpy(grad), *wrapped, *forwards, blank, zero_infinity)
        slopes = compiled.fused_ctc_grad(grad, *given, *found, blank, zero_infinity)
        for ours, theirs in zip((*found, slopes), (*forwards, back), strict=True):
            tolerance = 1e-4 if dtype == np.float32 else 1e-10
            assert ours.dtype == dtype
            np.testing.assert_allclose(ours, theirs.numpy(), rtol=tolerance, atol=tolerance)
    assert session.failures() == []


def test_memory_of_any_layout():
    x = np.log(RNG.dirichlet(np.ones(6), (4, 9)))  # (N, T, C)
    labels, sizes = RNG.integers(1, 6, (4, 3)), (np.array([9, 8, 9, 7]), np.array([3, 2, 0, 1]))
    expected = compiled.fused_ctc(np.ascontiguousarray(x.transpose(1, 0, 2)), labels, *sizes, 0, False)
    wide = np.zeros((9, 4, 12))
    wide[:, :, ::2] = x.transpose(1, 0, 2)
    steps_first = x.transpose(1, 0, 2)
    for view in (steps_first, wide[:, :, ::2], np.asfortranarray(steps_first), steps_first[::-1].copy()[::-1]):
        found = compiled.fused_ctc(view, labels, *sizes, 0, False)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)
        slopes = [compiled.fused_ctc_grad(np.ones(4), v, labels, *sizes, *found, 0, False) for v in (view, view.copy())]
        np.testing.assert_array_equal(*slopes)


@pytest.mark.parametrize("change", ["labels", "negative", "inputs", "lengths", "rows", "blank"])
def test_what_does_not_fit_is_left_alone(change):
    given = {"labels": np.ones((2, 2), np.int64), "inputs": np.array([3, 3]), "lengths": np.array([1, 2]), "blank": 0}
    given |= {
        "labels": {"labels": np.full((2, 2), 4)}, "negative": {"labels": np.full((2, 2), -1)},
        "inputs": {"inputs": np.array([4, 3])},
        "lengths": {"lengths": np.array([3, 1])}, "rows": {"labels": np.ones((3, 2), np.int64)}, "blank": {"blank": 4},
    }[change]  # fmt: skip
    x = np.zeros((3, 2, 4), np.float32)
    assert compiled.fused_ctc(x, given["labels"], given["inputs"], given["lengths"], given["blank"], False) is NotImplemented
