"""Compiled maximum pooling, against the definition window by window."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tenfold.llvm.kernels import means, pool

RNG = np.random.default_rng(0)
# shape, kernel, stride, padding, dilation, ceil_mode
CASES = [
    ((4, 6, 24, 24), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((2, 8, 33, 35), (3, 3), (2, 2), (1, 1), (1, 1), False),
    ((2, 8, 33, 35), (3, 3), (2, 2), (1, 1), (1, 1), True),
    ((3, 5, 20, 31), (3, 2), (1, 2), (1, 0), (2, 1), False),
    ((3, 9, 100), (3,), (2,), (1,), (1,), False),
    ((1, 4, 17, 64), (2, 2), (3, 3), (1, 1), (3, 3), False),
    ((8, 3, 30, 40), (7, 7), (7, 7), (3, 3), (1, 1), True),
    ((80, 32, 1, 1), (2, 2), (1, 1), (1, 1), (2, 2), False),  # a window that straddles the plane
]


def numbers(shape, dtype):
    """With equals, numbers that are none, and infinities."""
    x = RNG.standard_normal(shape).astype(dtype)
    flat = x.reshape(-1)
    flat[: flat.size // 2] = flat[: flat.size // 2].round()
    flat[::17], flat[5::29], flat[3::31] = np.nan, -np.inf, np.inf
    return x


def definition(x, kernel, stride, padding, dilation, outputs):
    """The largest of each window, the first of equals or the last NaN, and its index in the plane."""
    lead, sizes = x.shape[: x.ndim - len(kernel)], x.shape[x.ndim - len(kernel) :]
    values, indices = np.empty((*lead, *outputs), x.dtype), np.empty((*lead, *outputs), np.int64)
    for at in product(*map(range, (*lead, *outputs))):
        plane, position = x[at[: len(lead)]], at[len(lead) :]
        best, where = -np.inf, -1
        for tap in product(*map(range, kernel)):
            place = tuple(p * s - q + t * d for p, s, q, t, d in zip(position, stride, padding, tap, dilation, strict=True))
            if all(0 <= i < n for i, n in zip(place, sizes, strict=True)):
                value = plane[place]
                if where < 0 or value > best or np.isnan(value):
                    best, where = value, int(np.ravel_multi_index(place, sizes))
        values[at], indices[at] = best, max(where, 0)
    return values, indices


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_against_the_definition(case, dtype):
    shape, kernel, *steps = case
    x = numbers(shape, dtype)
    found = pool._max_pool(x, kernel, *steps)
    assert found is not NotImplemented
    values, indices = definition(x, kernel, *steps[:3], found[0].shape[x.ndim - len(kernel) :])
    np.testing.assert_array_equal(found[0], values)
    np.testing.assert_array_equal(found[1], indices)
    grad = RNG.standard_normal(values.shape).astype(dtype)
    back = pool._max_pool_grad(grad, indices, x.shape, len(kernel))
    assert back is not NotImplemented
    lead = int(np.prod(x.shape[: x.ndim - len(kernel)]))
    expected = np.zeros((lead, x.size // lead))
    for row, places, given in zip(expected, indices.reshape(lead, -1), grad.reshape(lead, -1), strict=True):
        np.add.at(row, places, given.astype(np.float64))
    np.testing.assert_allclose(back, expected.reshape(x.shape), rtol=1e-5, atol=1e-5)


def test_what_is_left_to_numpy():
    x = RNG.standard_normal((4, 8, 16, 16))
    plain = ((2, 2), (2, 2), (0, 0), (1, 1), False)
    assert pool._max_pool(x.astype(np.float16), *plain) is NotImplemented
    assert pool._max_pool(x[:0], *plain) is NotImplemented
    assert pool._max_pool2d(x, 2, None, 0, 1, False, True) is NotImplemented  # indices are wanted
    assert pool._max_pool2d(x, 2, None, 2, 1, False, False) is NotImplemented  # the body refuses it
    assert pool.adaptive_max_pool(x, (0, 2)) is NotImplemented


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", [case for case in CASES if len(case[1]) == 2], ids=str)
def test_channels_last(case, dtype):
    shape, kernel, *steps = case
    x = numbers(shape, dtype)
    turned = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    for found, expected in zip(pool._max_pool(turned, kernel, *steps), pool._max_pool(x, kernel, *steps), strict=True):
        np.testing.assert_array_equal(found, expected)
    grad, (_, indices) = numbers(expected.shape, dtype), pool._max_pool(x, kernel, *steps)
    grad = np.nan_to_num(grad, posinf=1.0, neginf=1.0)
    last = (np.ascontiguousarray(a.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2) for a in (grad, indices))
    found = pool._max_pool_grad(*last, shape, 2)
    np.testing.assert_allclose(found, pool._max_pool_grad(grad, indices, shape, 2), rtol=1e-5, atol=1e-5)
    if shape[1] > 1 and shape[3] > 1:
        assert found.strides[1] == x.itemsize


def test_volumes():
    x = numbers((2, 3, 7, 6, 9), np.float32)
    case = (3, 2, 3), (2, 2, 1), (1, 0, 1), (1, 2, 1)
    values, indices = pool._max_pool(x, *case, True)
    expected = definition(x, *case, values.shape[2:])
    np.testing.assert_array_equal(values, expected[0])
    np.testing.assert_array_equal(indices, expected[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", [(5,), (7, 7), (28, 30), (3, 4, 5)])
def test_means_of_whole_planes_are_sums_along_them(sizes, dtype, monkeypatch):
    """By windows of a whole plane they had taken twice as long, and their gradient nine times."""
    n, shape = len(sizes), (3, 4, *sizes)
    x, grad = RNG.standard_normal(shape).astype(dtype), RNG.standard_normal((3, 4, *[1] * n)).astype(dtype)
    expected, back = x.mean(tuple(range(2, n + 2)), keepdims=True), np.broadcast_to(grad / np.prod(sizes), shape)
    monkeypatch.setattr(means, "_run", None)
    steps = (sizes, sizes, (0,) * n, False, True, None)
    for found in (means.adaptive_avg_pool(x, (1,) * n), means.avg_pool(x, *steps)):
        np.testing.assert_allclose(found, expected, atol=1e-6)
        assert found.dtype == dtype
    for found in (means._adaptive_avg_pool_grad(grad, shape, n), means._avg_pool_grad(grad, shape, *steps)):
        np.testing.assert_allclose(found, back, rtol=1e-6)
        assert found.flags.c_contiguous
    single = means.adaptive_avg_pool(x[0], (1,) * n)
    np.testing.assert_allclose(single, expected[0], atol=1e-6)


def test_means_of_whole_planes_channels_last_lie_so():
    x = np.moveaxis(np.ascontiguousarray(np.moveaxis(numbers((2, 4, 5, 6), np.float32), 1, -1)), -1, 1)
    assert means.adaptive_avg_pool(x, (1, 1)).strides == (16, 4, 16, 16)
    grad = np.zeros((2, 1, 1, 4), np.float32).transpose(0, 3, 1, 2)
    assert means._adaptive_avg_pool_grad(grad, (2, 4, 5, 6), 2).strides == x.strides


def test_one_window_that_is_not_the_whole_plane_is_a_window():
    """Padding and divisors count, and a plane of no elements has no mean."""
    x = np.ones((1, 1, 4, 4), np.float32)
    assert means.avg_pool(x, (4, 4), (4, 4), (0, 0), False, True, 2)[0, 0, 0, 0] == 8
    assert means.avg_pool(x, (4, 4), (4, 4), (1, 1), False, True, None)[0, 0, 0, 0] == 9 / 16
    assert means.adaptive_avg_pool(x[..., :0], (1, 1)) is NotImplemented
