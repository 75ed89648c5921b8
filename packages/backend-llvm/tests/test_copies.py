"""Compiled copies of transposed arrays, against NumPy's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import copies

RNG = np.random.default_rng(0)
SHAPES = [(64, 64), (100, 77), (8, 600), (129, 65), (5, 70, 33), (3, 20, 4, 30), (2, 3, 17, 50), (2, 16, 9, 9, 3)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_order_of_dimensions(shape, dtype):
    x = RNG.standard_normal(shape).astype(dtype)
    served = 0
    for order in itertools.permutations(range(len(shape))):
        turned = x.transpose(order)
        expected = turned.copy("C")
        found = copies.clone(turned, tenfold.contiguous_format)
        if found is not NotImplemented:
            served += 1
            assert found.flags.c_contiguous
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(tenfold.from_numpy(x).permute(order).contiguous().numpy(), expected)
    assert served


def test_rows_apart_backwards_and_repeated():
    x = RNG.standard_normal((3, 100, 120)).astype(np.float32)
    for source in (x[:, 10:90, 5:100], x[:, ::2, :], x[:, ::-1, :], x[::-1], np.broadcast_to(x[0], (4, 100, 120))):
        turned = source.swapaxes(-1, -2)
        found = copies.clone(turned, tenfold.contiguous_format)
        assert found is not NotImplemented
        np.testing.assert_array_equal(found, turned)


def test_bits_stay():
    """NaN keeps its payload and zero its sign."""
    x = np.zeros((80, 80), np.float32)
    x.view(np.uint32)[0, :3] = 0x7FC12345, 0xFFA00001, 0x80000000
    found = copies.clone(x.T, tenfold.contiguous_format)
    np.testing.assert_array_equal(found.view(np.uint32), x.T.copy("C").view(np.uint32))


@pytest.mark.parametrize("threads", [1, 2])
def test_large(threads):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(threads)
    try:
        x = RNG.standard_normal((1000, 1030)).astype(np.float32)
        np.testing.assert_array_equal(tenfold.from_numpy(x).T.contiguous().numpy(), x.T)
    finally:
        tenfold.set_num_threads(before)


def test_what_the_kernel_beneath_does():
    x = RNG.standard_normal((100, 100)).astype(np.float32)
    spread = np.broadcast_to(x[:, :1], x.shape)
    for array in (
        x,
        x[:, ::2],
        x[:, 3:],
        x[::-1],
        x[None].swapaxes(0, 1)[:, :, 1:],
        spread,
        x.T.astype(np.int8),
        x[:4].T,
        x.T[:20, :20],
    ):
        assert copies.clone(array, tenfold.contiguous_format) is NotImplemented
    assert copies.clone(x.T, None) is NotImplemented
    assert copies.clone(x.T, tenfold.preserve_format) is NotImplemented


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
def test_turned_arrays_of_all_dtypes(dtype, threads):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(threads)
    try:
        x = (RNG.standard_normal((60, 50, 70)) * 100).astype(dtype)
        for array in (x.swapaxes(1, 2), x[:, ::3].swapaxes(1, 2), x[::-1].T, x.T, x[:, :, 3:].T):
            found = copies.clone(array, tenfold.contiguous_format)
            assert found is not NotImplemented
            assert found.flags.c_contiguous
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, array)
    finally:
        tenfold.set_num_threads(before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint8, np.int64, np.bool_])
@pytest.mark.parametrize("threads", [1, 2])
def test_short_rows(dtype, threads):
    """Rows of two to four elements, at any distance from one another, forwards, backwards and repeated."""
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(threads)
    try:
        x = (RNG.standard_normal((6, 2, 4, 3, 2, 50)) * 100).astype(dtype)
        served = 0
        for order in itertools.permutations(range(6)):
            for source in (x, x[:, ::-1, :, ::-1], x[..., ::2], x[..., 3:40], np.broadcast_to(x[:, :, :1], x.shape)):
                turned = source.transpose(order)
                found = copies.clone(turned, tenfold.contiguous_format)
                if found is not NotImplemented:
                    served += 1
                    assert found.flags.c_contiguous
                    assert found.dtype == dtype
                    np.testing.assert_array_equal(found, turned)
        assert served > 900
        images = (RNG.standard_normal((40, 3, 60, 61)) * 100).astype(dtype)
        for turned in (images.transpose(0, 2, 3, 1), np.moveaxis(images, 0, -1)[..., :3]):
            found = copies.clone(turned, tenfold.contiguous_format)
            assert found is not NotImplemented
            np.testing.assert_array_equal(found, turned)
    finally:
        tenfold.set_num_threads(before)


@pytest.mark.parametrize("dtype", [tenfold.bfloat16, tenfold.float16, tenfold.int16])
def test_transposed_copies_of_two_bytes(dtype):
    bits = RNG.integers(0, 1 << 16, (3, 70, 45), dtype=np.uint16)  # any, those of numbers that are none too
    x = tenfold.frombuffer(bytearray(bits.tobytes()), dtype=dtype).view(3, 70, 45)
    for dims in ((0, 2, 1), (2, 0, 1), (1, 2, 0)):
        assert x.permute(dims).contiguous()._array.tobytes() == np.ascontiguousarray(bits.transpose(dims)).tobytes()
