"""Bytes resampled as products of matrices are, to the last bit, those of sums of whole numbers with a shift."""

import numpy as np
import pytest

import tenfold
from tenfold.nn import functional as F
from tenfold.nn.cpu.resize_bytes import band
from tenfold.nn.ops.resize import tables

RNG = np.random.default_rng(0)


def summed(x, out, axis, mode, antialias):
    places, weights, bits = tables.whole_numbers(x.shape[axis], out, None, False, mode, antialias)
    moved = np.moveaxis(x, axis, 0).astype(np.int64)
    sums = sum(moved[at] * share.reshape(-1, *[1] * (x.ndim - 1)) for at, share in zip(places, weights, strict=True))
    return np.moveaxis(np.clip((sums + (1 << bits >> 1)) >> bits, 0, 255), 0, axis).astype(np.uint8)


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize(("mode", "kind"), [("bilinear", "linear"), ("bicubic", "cubic")])
@pytest.mark.parametrize("size", [(1, 1), (7, 90), (40, 33), (41, 33), (130, 200)])
@pytest.mark.parametrize("channels", [1, 3, 6])
def test_bytes_equal_sums_of_whole_numbers_in_both_layouts(channels, size, mode, kind, antialias):
    x = RNG.integers(0, 256, (2, channels, 40, 33)).astype(np.uint8)
    x[1] = np.where(x[1] > 128, 255, 0)  # a cubic leaves the range
    expected = x if size[1] == 33 else summed(x, size[1], 3, kind, antialias)
    expected = expected if size[0] == 40 else summed(expected, size[0], 2, kind, antialias)
    given = tenfold.from_numpy(x)
    last = given.contiguous(memory_format=tenfold.channels_last)
    for picture in (given, last, tenfold.from_numpy(np.repeat(x, 2, 3))[..., ::2]):
        found = F.interpolate(picture, size, mode=mode, align_corners=False, antialias=antialias)
        assert np.array_equal(found.numpy(), expected)
    assert F.interpolate(last, size, mode=mode).is_contiguous(memory_format=tenfold.channels_last)


def test_sums_beyond_float32_are_made_in_float64():
    size, out = 4000, 40
    assert band(1, size, out, None, False, "linear", True).dtype is np.float64
    assert band(1, 100, 50, None, False, "linear", True).dtype is np.float32
    x = RNG.integers(0, 256, (1, 1, 2, size)).astype(np.uint8)
    found = F.interpolate(tenfold.from_numpy(x), (2, out), mode="bilinear", antialias=True)
    assert np.array_equal(found.numpy(), summed(x, out, 3, "linear", True))
