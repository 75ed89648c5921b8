"""Convolutions by minimal filtering: the matrices, the error against float64, and what is not finite."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tenfold
from tenfold.llvm import winograd_calls
from tenfold.llvm.kernels import conv
from tenfold.llvm.winograd_matrices import POINTS, TAPS, forms
from tenfold.llvm.writer import registers

RNG = np.random.default_rng(0)
# images, channels, sizes, output channels, padding
CASES = [
    (8, 16, (8, 8), 16, 1),
    (3, 20, (13, 11), 35, 1),  # no whole vectors, panels or tiles
    (16, 32, (9, 7), 24, 0),
    (1, 17, (30, 34), 16, 2),
    (70, 16, (4, 3), 19, 3),
    (2, 64, (25, 57), 40, 1),
    (40, 24, (4, 4), 130, 1),
]
# Of the sum of the magnitudes of a result's products; for tiles of 4, whose results share their inputs, of the plane's largest.
ERRORS = {2: 1e-6, 4: 5e-6}

pytestmark = pytest.mark.skipif(
    registers().bytes < winograd_calls.WIDE, reason="direct convolutions are chosen for short vectors"
)


@pytest.fixture(autouse=True, params=[2, 4])
def tile(request):
    before = winograd_calls.get_tile()
    tenfold.llvm.set_winograd_tile(request.param)
    yield request.param
    tenfold.llvm.set_winograd_tile(before)


@pytest.fixture(params=[1, 2])
def threads(request):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(request.param)
    yield request.param
    tenfold.set_num_threads(before)


@pytest.fixture
def served(monkeypatch):
    """The sides of the tiles of the calls that were served."""
    sizes = []
    run = winograd_calls.correlate
    monkeypatch.setattr(winograd_calls, "correlate", lambda *args: sizes.append(args[5]) or run(*args))
    return sizes


def numbers(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def forward(x, w, bias=None, padding=1):
    return conv._forward(x, w, bias, (1, 1), (padding, padding), (1, 1), False, (0, 0), 1)


def definition(x, w, padding):
    x, w = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (padding, padding), (padding, padding)]), w.astype(np.float64)
    windows = np.lib.stride_tricks.sliding_window_view(x, (TAPS, TAPS), axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w, optimize=True)


def close(got, x, w, padding, tile):
    exact, size = definition(x, w, padding), definition(np.abs(x), np.abs(w), padding)
    if tile == 4:
        size = size.max((2, 3), keepdims=True)
    assert got.dtype == np.float32
    assert got.shape == exact.shape
    assert (np.abs(got - exact) <= ERRORS[tile] * size).all()


@pytest.mark.parametrize("m", POINTS)
def test_matrices_are_exact(m):
    d, g = ([Fraction(int(k)) for k in RNG.integers(-9, 9, size)] for size in (m + TAPS - 1, TAPS))
    f = forms(m)

    def times(matrix, column):
        return [sum(a * b for a, b in zip(row, column, strict=True)) for row in matrix]

    products = [a * b for a, b in zip(times(f.taps, g), times(f.inputs, d), strict=True)]
    assert times(f.results, products) == [sum(g[j] * d[i + j] for j in range(TAPS)) for i in range(m)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_against_float64(case, tile, threads, served, monkeypatch):
    monkeypatch.setattr(winograd_calls, "LEAST_USED", 0)
    monkeypatch.setattr(winograd_calls, "LEAST_TILES", {2: 1, 4: 1})
    N, C, sizes, O, padding = case
    x, w, bias = numbers(N, C, *sizes), numbers(O, C, 3, 3), numbers(O)
    result = forward(x, w, padding=padding)
    close(result, x, w, padding, tile)
    np.testing.assert_array_equal(forward(x, w, bias, padding), result + bias[:, None, None])
    back = conv._for_input(result, w, x.shape, (1, 1), (padding, padding), (1, 1), False, (0, 0), 1)
    if padding < TAPS:
        close(back, result, w[:, :, ::-1, ::-1].swapaxes(0, 1), TAPS - 1 - padding, tile)
    assert served == [tile] * (3 if padding < TAPS else 2)


def test_threads_change_no_number():
    x, w = numbers(9, 32, 21, 23), numbers(48, 32, 3, 3)
    before = tenfold.get_num_threads()
    found = []
    for count in (1, 2):
        tenfold.set_num_threads(count)
        found.append(forward(x, w))
    tenfold.set_num_threads(before)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
def test_what_is_not_finite_spreads_to_its_windows_alone(value, served, threads):
    x, w = numbers(12, 16, 16, 16), numbers(32, 16, 3, 3)
    w[3, 5, 1, 1] = 0  # infinity times 0 is no number
    x[3, 5, 5, 6] = x[9, 5, 0, 15] = value
    found = forward(x, w)
    assert served
    np.testing.assert_array_equal(found[[3, 9]], _direct(x, w)[[3, 9]])
    assert np.isfinite(np.delete(found, [3, 9], 0)).all()
    odd = ~np.isfinite(found)
    assert odd.any() or value == 3e38
    odd[3, :, 4:7, 5:8] = odd[9, :, 0:2, 14:16] = False
    assert not odd.any()


@pytest.mark.parametrize("value", [np.nan, np.inf, 3e38])
def test_weights_that_are_not_finite(value, served):
    x, w = numbers(4, 16, 16, 16), numbers(32, 16, 3, 3)
    x[0, :, :4] = 0
    w[7, 3, 0, 2] = value
    np.testing.assert_array_equal(forward(x, w), _direct(x, w))
    assert served


def test_infinite_biases_are_added():
    x, w, bias = numbers(4, 16, 16, 16), numbers(32, 16, 3, 3), numbers(32)
    bias[3], bias[4] = np.inf, np.nan
    np.testing.assert_array_equal(forward(x, w, bias), forward(x, w) + bias[:, None, None])


def _direct(x, w):
    size = winograd_calls.get_tile()
    tenfold.llvm.set_winograd_tile(0)
    try:
        return forward(x, w)
    finally:
        tenfold.llvm.set_winograd_tile(size)


def test_which_are_served(served):
    x, w = numbers(2, 32, 16, 16), numbers(32, 32, 3, 3)
    ones, none = (1, 1), (0, 0)
    for given, kernels, stride, padding, dilation, groups in (
        (x.astype(np.float64), w.astype(np.float64), ones, ones, ones, 1),
        (x, w, (2, 2), ones, ones, 1),
        (x, w, ones, (2, 2), (2, 2), 1),
        (x, w[:, :16].copy(), ones, ones, ones, 2),
        (x, w[:8], ones, ones, ones, 1),
        (x[:, :, :4, :4].copy(), w, ones, ones, ones, 1),
        (x, numbers(32, 32, 5, 5), ones, ones, ones, 1),
    ):
        assert isinstance(conv._forward(given, kernels, None, stride, padding, dilation, False, none, groups), np.ndarray)
    assert served == []
    assert not np.array_equal(forward(x, w), _direct(x, w))
    assert len(served) == 1


def test_sizes_of_tiles():
    with pytest.raises(ValueError, match="set_winograd_tile: got 3"):
        tenfold.llvm.set_winograd_tile(3)


def test_a_tile_of_2_reads_no_number_beyond_a_window(tile):
    """Large numbers round nothing outside of the windows that they are in."""
    x, w = numbers(8, 16, 16, 16), numbers(16, 16, 3, 3)
    before = forward(x, w)
    x[:, :, 7, 8] = 1e9
    same = forward(x, w) == before
    same[:, :, 6:9, 7:10] = True
    assert same.all() == (tile == 2)
