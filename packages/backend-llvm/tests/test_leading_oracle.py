"""The first few of a row: PyTorch's numbers and its positions, whichever of equals it names."""

from __future__ import annotations

import random

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import tenfold  # noqa: E402
from tenfold.llvm import session as sessions  # noqa: E402
from tenfold.llvm.kernels import positions  # noqa: E402

pytestmark = pytest.mark.skipif(sessions.session() is None, reason="no compiled kernels on this machine")
DTYPES = ("float32", "float64", "float16", "bfloat16")
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def served(monkeypatch):
    """How many calls compiled code served."""
    calls = []
    run = positions.LEADING.run
    monkeypatch.setattr(positions.LEADING, "run", lambda *given: calls.append(1) or run(*given))
    return calls


def same(x, dtype, k, dim=-1, largest=True, ordered=True):
    x = x if dtype == "float64" else x.astype(np.float32)  # from which both round to halves alike
    mine, its = tenfold.tensor(x).to(getattr(tenfold, dtype)), torch.tensor(x).to(getattr(torch, dtype))
    got, expected = mine.topk(k, dim, largest, ordered), its.topk(k, dim, largest, ordered)
    assert (got.values.dtype, got.indices.stride()) == (mine.dtype, expected.indices.stride())
    np.testing.assert_array_equal(got.values.double().numpy(), expected.values.double().numpy())
    np.testing.assert_array_equal(np.signbit(got.values.double().numpy()), np.signbit(expected.values.double().numpy()))
    np.testing.assert_array_equal(got.indices.numpy(), expected.indices.numpy())


def hurting(shape):
    """Many equals, both zeros, infinities and nan."""
    x = np.round(RNG.standard_normal(shape) * 3)
    for number in (np.nan, np.inf, -np.inf, -0.0):
        x[RNG.random(shape) < 0.02] = number
    return x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", [1, 2, 3, 16, 17, 64, 200, 1000, 5000])
def test_equals_and_what_is_no_number(served, dtype, length):
    counts = {1, 2, 3, length // 64, length // 64 + 1, length // 2, length - 1, length}
    for k in sorted(count for count in counts if 0 < count <= length):
        for largest in (True, False):
            for ordered in (True, False):
                same(hurting((3, length)), dtype, k, -1, largest, ordered)
                same(RNG.standard_normal((2, length)), dtype, k, -1, largest, ordered)
    assert served


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dimension_and_layout(served, dtype):
    choose = random.Random(0)
    for shape in ((7,), (40, 9), (4, 300, 3), (2, 3, 4, 5)):
        for dim in range(-len(shape), len(shape)):
            same(hurting(shape), dtype, choose.randint(1, shape[dim]), dim)
            same(np.asfortranarray(hurting(shape)), dtype, 1, dim, False)
            same(hurting((*shape[:-1], 2 * shape[-1]))[..., ::2], dtype, shape[dim], dim)
    assert len(served) == 3 * 2 * (1 + 2 + 3 + 4)


@pytest.mark.parametrize("length", [100, 3000])
def test_rows_that_part_badly(length):
    """Where parts hardly become smaller, heaps take over."""
    half = length // 2
    killer = np.empty(length)
    killer[:half:2], killer[1:half:2] = np.arange(1, half + 1, 2), half + np.arange(0, half, 2)
    killer[half:] = np.arange(2, length + 1, 2)
    pipe = np.concatenate([np.arange(half), np.arange(half)[::-1]])
    for x in (
        killer,
        -killer,
        killer[::-1].copy(),
        pipe,
        -pipe,
        np.arange(length) % 7.0,
        np.arange(length) * 1.0,
        np.zeros(length),
    ):
        for k in (5, length // 3, length):
            for ordered in (True, False):
                same(x, "float32", k, -1, True, ordered)
                same(x, "float64", k, -1, False, ordered)


def test_threads_change_nothing():
    x, before = hurting((300, 500)), tenfold.get_num_threads()
    try:
        for count in (2, 3):
            tenfold.set_num_threads(count)
            same(x, "bfloat16", 30)
            same(x, "float32", 4)
    finally:
        tenfold.set_num_threads(before)


@pytest.mark.parametrize("dtype", DTYPES)
def test_more_of_a_row_than_a_stack_holds(served, monkeypatch, dtype):
    monkeypatch.setattr(positions, "ON_STACK", 10)
    for k, length in ((11, 11), (12, 768), (12, 5000), (700, 5000)):
        same(hurting((3, length)), dtype, k)
        same(hurting((length, 3)), dtype, k, 0, False, False)
    assert served


def test_a_large_share_of_a_long_row(served):
    same(np.round(RNG.standard_normal(70000) * 100), "float32", 69999)
    x = tenfold.rand(6_000_000).repeat(16)
    assert x.topk(1_500_000).values[-1] > 0.9  # 18 MB of pairs, which no stack has room for
    assert len(served) == 2
