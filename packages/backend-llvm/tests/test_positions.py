"""Extremes with positions, the first few, elements along a dimension and variances: what NumPy's kernels give, in one pass."""

from __future__ import annotations

import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated

import tenfold
from tenfold.cpu.indexing import gather
from tenfold.cpu.reduction.ordering import topk
from tenfold.cpu.reduction.reductions import located
from tenfold.cpu.reduction.statistics import std, var
from tenfold.dispatch.kernels import KERNELS, table
from tenfold.llvm import session as sessions

pytestmark = pytest.mark.skipif(sessions.session() is None, reason="no compiled kernels on this machine")
SHAPES = [(1,), (64,), (8, 8), (3, 5, 7), (2, 3, 4, 5), (1, 1), (130, 90), (2, 3000), (400, 100)]
rng = np.random.default_rng(0)


def numbers(shape, dtype):
    x = rng.standard_normal(shape).astype(dtype)
    yield x
    yield np.round(x)  # equals
    y = x.copy()
    y.flat[:: max(1, y.size // 5)] = np.resize([np.nan, np.inf, -np.inf, -0.0, np.nan], len(y.flat[:: max(1, y.size // 5)]))
    yield y
    yield np.full(shape, -np.inf, dtype)
    yield np.repeat(x, 2, -1)[..., ::2]
    yield np.asfortranarray(x)
    yield x[::-1]
    raw = np.zeros(x.nbytes + 1, np.uint8)
    raw[1:].view(dtype).reshape(shape)[...] = x
    yield raw[1:].view(dtype).reshape(shape)


def same(got, expected):
    for g, e in zip(got, expected, strict=True):
        assert (g.dtype, g.shape) == (e.dtype, e.shape)
        np.testing.assert_array_equal(g, e)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("threads", [1, 3])
def test_extremes_and_their_positions(dtype, threads):
    kernels = table("cpu")
    tenfold.set_num_threads(threads)
    for shape in SHAPES[-1:] if threads > 1 else SHAPES:
        for x in numbers(shape, dtype):
            for name, choose in (("max", np.argmax), ("min", np.argmin)):
                for dim in range(-1, len(shape)):
                    for keepdim in (False, True):
                        expected = located(choose)(x, dim, keepdim)
                        same(getattr(kernels, f"{name}_dim")(x, dim, keepdim), expected)
                        same([getattr(kernels, f"arg{name}")(x, dim, keepdim)], expected[1:])
                assert getattr(kernels, f"arg{name}")(x, None, False) == choose(x)
    tenfold.set_num_threads(1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_first_few_in_order(dtype):
    for shape in SHAPES:
        for x in numbers(shape, dtype):
            for k in {0, 1, 2, 5, 32, 33, shape[-1] - 1, shape[-1]}:
                for largest in (True, False):
                    if 0 <= k <= shape[-1]:
                        values, where = table("cpu").topk_pair(x, k, -1, largest, True)
                        same([values, np.take_along_axis(x, where, -1)], topk(x, k, -1, largest, True)[:1] * 2)
                        assert all(len({*row}) == k for row in where.reshape(-1, max(k, 1)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("threads", [1, 3])
def test_elements_along_a_dimension(dtype, threads):
    tenfold.set_num_threads(threads)
    for shape in SHAPES[-1:] if threads > 1 else SHAPES:
        for x in numbers(shape, dtype):
            for dim in range(-1, len(shape)):
                for kept in (1, shape[dim]):
                    sizes = list(shape)
                    sizes[dim] = kept
                    index = rng.integers(0, shape[dim], sizes)
                    same([table("cpu").gather(x, dim, index, False)], [gather(x, dim, index, False)])
    tenfold.set_num_threads(1)


@pytest.mark.parametrize("bad", [-1, 8, 1 << 62, -(1 << 63)])
def test_an_index_beyond_the_array_is_named(bad):
    index = tenfold.tensor([[0, 1], [bad, 2]])
    with pytest.raises(RuntimeError, match=f"index {bad} is out of bounds for dimension 1 with size 8"):
        tenfold.ones(2, 8).gather(1, index)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_variances(dtype):
    rtol = {2: 2e-3, 4: 2e-6, 8: 1e-13}[np.dtype(dtype).itemsize]
    for shape in SHAPES:
        for x in numbers(shape, dtype):
            for dim in (None, *range(-1, len(shape)), tuple(range(len(shape)))):
                for correction in (0, 1, 0.5):
                    for name, kernel in (("std", std), ("var", var)):
                        expected = kernel(x, dim, None, False, correction)
                        if expected is NotImplemented:
                            continue
                        got = getattr(table("cpu"), name)(x, dim, None, False, correction)
                        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
                        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("number", [np.int64(1), np.int32(-1), np.uint8(0)])
@pytest.mark.parametrize("name", ["std", "var", "sum", "cumsum", "argmax", "amax", "mean"])
def test_a_dimension_that_is_a_number_of_numpys(name, number):
    x = tenfold.randn(3, 4)
    np.testing.assert_allclose(getattr(x, name)(number), getattr(x, name)(int(number)), rtol=1e-5, atol=1e-6)


def test_searches_leave_no_reference():
    x = tenfold.randn(6, 5)
    calls = (lambda: x.max(1), lambda: x.argmax(), lambda: x.argmin(0, True), lambda: x.cumsum(-1), lambda: x.cumsum(0))
    for call in calls:
        call()
    things = (x, x._array, np.dtype(np.float32), np.dtype(np.int64))
    assert left_behind(repeated(calls, 3000), things) < SMALL


def test_squares_that_leave_the_range():
    assert tenfold.tensor([3e38, -3e38]).var().item() == float("inf")
    assert abs(tenfold.tensor([1e30, -1e30]).std().item() / 2**0.5 / 1e30 - 1) < 1e-6
    wide = tenfold.tensor([1e154, -1e154, 1e154, -1e154], dtype=tenfold.float64)
    assert abs(wide.std().item() / (4 / 3) ** 0.5 / 1e154 - 1) < 1e-12
    assert tenfold.full((7,), 1e30).std().item() == 0
    assert tenfold.full((1000,), 0.1).var().item() == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.filterwarnings("ignore")
def test_running_sums(dtype, threads):
    tenfold.set_num_threads(threads)
    beneath = next(k.function for k in KERNELS["cumsum", "cpu"] if not k.accelerates)
    for shape in SHAPES:
        for x in numbers(shape, dtype):
            for dim in range(-len(shape), len(shape)):
                got, expected = table("cpu").cumsum(x, dim), beneath(x, dim)
                if dtype == np.float16 and x.flags.carray:  # compiled: rounded through float32, as in PyTorch
                    expected = beneath(x.astype(np.float64), dim).astype(np.float32).astype(dtype)
                same([got], [expected])
                assert np.signbit(got[~np.isnan(got)]).tolist() == np.signbit(expected[~np.isnan(expected)]).tolist()
    tenfold.set_num_threads(1)


def test_running_sums_as_a_call():
    x = tenfold.randn(3, 4, dtype=tenfold.float64, requires_grad=True)
    tenfold.autograd.gradcheck(lambda t: t.cumsum(1), (x,))
    assert tenfold.tensor([-0.0, -0.0]).cumsum(0).tolist() == [-0.0, -0.0]
    assert tenfold.ones(2, dtype=tenfold.int32).cumsum(0).dtype is tenfold.int64
    assert tenfold.ones(3).cumsum(0, dtype=tenfold.float64).dtype is tenfold.float64
    assert tenfold.zeros(0).cumsum(0).shape == (0,)
    with pytest.raises(IndexError):
        tenfold.ones(3).cumsum(1)
    assert tenfold.ones(2, 3).cumsum_(1).tolist() == [[1, 2, 3]] * 2


@pytest.mark.parametrize("shape", [(), (1,), (4,), (2, 3), (500,), (3, 1, 2)])
def test_vectors_of_one_index(shape):
    index = rng.integers(0, 5, shape)
    for classes, steps in ((5, 1), (7, 1), (-1, 1), (5, 2)):
        given = tenfold.from_numpy(np.repeat(index, steps, -1)[..., ::steps] if shape else index)
        got = tenfold.one_hot(given, classes)
        wide = classes if classes > 0 else int(index.max()) + 1
        assert got.dtype is tenfold.int64
        np.testing.assert_array_equal(got.numpy(), np.eye(wide, dtype=np.int64)[index])


@pytest.mark.parametrize("bad", [-1, 5, 1 << 62, -(1 << 63)])
def test_an_index_that_is_no_class(bad):
    with pytest.raises(RuntimeError, match="Class values must be"):
        tenfold.one_hot(tenfold.tensor([0, bad]), 5)
    with pytest.raises(RuntimeError):
        tenfold.one_hot(tenfold.tensor([0, -1]))
    with pytest.raises(RuntimeError):
        tenfold.one_hot(tenfold.tensor([0, 1]), 0)
