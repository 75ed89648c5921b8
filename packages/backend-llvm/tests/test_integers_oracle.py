"""Whole numbers that are sorted with their positions, or counted, against PyTorch."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import integers

torch = pytest.importorskip("torch")
DTYPES = ("int64", "int32", "int16", "int8", "uint8", "bool")


def _numbers(dtype, shape, span):
    x = np.random.default_rng(5).integers(-span, span, shape)
    return (x > 0) if dtype == "bool" else x.astype(dtype)


def _same(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        assert (str(a.dtype)[8:], tuple(a.shape), a.stride()) == (str(b.dtype)[6:], tuple(b.shape), b.stride())
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1000,), (2000,), (20, 60), (7, 9, 11), (600, 1), (1, 600)])
def test_sorted_with_their_positions(shape, dtype):
    for span, descending, dim in itertools.product((3, 1 << 40), (False, True), range(len(shape))):
        x = _numbers(dtype, shape, span)
        _same(*(lib.sort(lib.from_numpy(x), dim=dim, descending=descending, stable=True) for lib in (tenfold, torch)))
    x = np.stack([_numbers(dtype, shape, 9)] * 2, -1)[..., 0]  # strided
    _same(*(lib.sort(lib.from_numpy(x), dim=0, stable=True) for lib in (tenfold, torch)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 255), (3, 5), (8, 9, 11), (2, 3, 4)])
def test_sorted_as_the_input_lies(shape, dtype):
    x = _numbers(dtype, shape, 50)
    views = [x.transpose(order) for order in itertools.permutations(range(len(shape)))]
    views += [x.T[::2], x[..., ::2].T, np.lib.stride_tricks.as_strided(x, shape, (0, *x.strides[1:]))]
    for view, dim, descending in itertools.product(views, range(len(shape)), (False, True)):
        pairs = [(lib, lib.from_numpy(view)) for lib in (tenfold, torch)]
        _same(*(lib.sort(given, dim=dim, descending=descending, stable=True) for lib, given in pairs))
        _same(*([lib.argsort(given, dim=dim, descending=descending, stable=True)] for lib, given in pairs))
        _same(*([lib.msort(given)] for lib, given in pairs))


def test_numbers_as_large_as_there_are():
    ends = np.iinfo(np.int64)
    for x in (np.array([ends.max, ends.min, 0] * 300), np.arange(ends.max - 900, ends.max), np.arange(ends.min, ends.min + 900)):
        for descending in (False, True):
            _same(*(lib.sort(lib.from_numpy(x), dim=0, descending=descending, stable=True) for lib in (tenfold, torch)))
        _same(*(lib.unique(lib.from_numpy(x), return_inverse=True, return_counts=True) for lib in (tenfold, torch)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_counted(dtype):
    for shape, span in itertools.product(((1,), (7,), (300,), (20, 30), (0,)), (3, 100, 1 << 40)):
        x = _numbers(dtype, shape, span)
        _same(*(lib.unique(lib.from_numpy(x), return_inverse=True, return_counts=True) for lib in (tenfold, torch)))
        _same(*([lib.unique(lib.from_numpy(x))] for lib in (tenfold, torch)))


def test_which_are_served():
    x = np.arange(600)
    assert integers.sort_pair(x, 0, True) is not NotImplemented
    assert integers.unique_parts(x, None, False) is not NotImplemented
    for given in (x[:9], x.astype(float), x.astype(np.uint64), np.array([np.iinfo(np.int64).min, 1] * 300)):
        assert integers.sort_pair(given, 0, False) is NotImplemented
    for given in (x.astype(float), x[:0], x << 40):
        assert integers.unique_parts(given, None, False) is NotImplemented
