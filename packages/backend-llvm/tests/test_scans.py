"""Running sums, products and extremes of every real dtype, along rows and down columns; products and sums without NaN."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import scans
from tenfold.llvm.kernels.reduction import LONG, PIECE

RNG = np.random.default_rng(0)
WHOLE = (np.int64, np.int32, np.int16, np.int8, np.uint8, np.bool_)
FLOATS = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)
SHAPES = (((7,), 0), ((20_000,), 0), ((40, 9), 0), ((40, 9), 1), ((3, 600), 1), ((40, 700), 0), ((5, 30, 700), 1), ((3, 0), 0))


def numbers(shape, dtype):
    if np.dtype(dtype) in (np.dtype(d) for d in WHOLE):
        return RNG.integers(-3 if np.dtype(dtype).kind == "i" else 0, 4, shape).astype(dtype)
    return (RNG.standard_normal(shape) * 3).astype(np.float32).astype(dtype)


def wide(tensor):
    return tensor.double().numpy() if tensor.is_floating_point() else tensor.numpy()


@pytest.mark.parametrize(("shape", "dim"), SHAPES)
@pytest.mark.parametrize("dtype", [*WHOLE, *FLOATS])
def test_running_sums_and_products(dtype, shape, dim):
    x = numbers(shape, dtype)
    kept = np.int64 if x.dtype.kind in "biu" else np.float64
    for name, accumulate in (("cumsum", np.add.accumulate), ("cumprod", np.multiply.accumulate)):
        y = x if name == "cumsum" or kept is np.int64 else (1 + x.astype(np.float32) * 0.001).astype(dtype)
        with np.errstate(all="ignore"):
            expected = accumulate(y.astype(kept), dim)
        got = getattr(tenfold.from_numpy(y), name)(dim)
        assert got.dtype is (tenfold.int64 if kept is np.int64 else tenfold.from_numpy(y).dtype)
        if kept is np.int64:
            np.testing.assert_array_equal(got.numpy(), expected)
        else:
            half_a_step = float(ml_dtypes.finfo(dtype).eps) * 0.51 + 1e-15
            np.testing.assert_allclose(wide(got), expected, rtol=half_a_step, atol=1e-7 if x.itemsize == 2 else 0)


@pytest.mark.parametrize("nan", [False, True])
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
@pytest.mark.parametrize("dtype", [*WHOLE, *FLOATS])
def test_running_extremes_and_their_last_positions(dtype, shape, dim, nan):
    x = numbers(shape, dtype).round(0) if np.dtype(dtype) in (np.float32, np.float64) else numbers(shape, dtype)
    if nan:
        if np.dtype(dtype) not in (np.dtype(d) for d in FLOATS):
            return
        x.reshape(-1)[5::97] = np.nan
    rows = np.moveaxis(x.astype(np.float64), dim, 0)
    for name, better in (("cummax", np.greater_equal), ("cummin", np.less_equal)):
        values, indices = rows.copy(), np.zeros(rows.shape, np.int64)
        for j in range(1, len(rows)):
            reached = np.isnan(rows[j]) | better(rows[j], values[j - 1])
            values[j], indices[j] = np.where(reached, rows[j], values[j - 1]), np.where(reached, j, indices[j - 1])
        got = getattr(tenfold.from_numpy(x), name)(dim)
        np.testing.assert_array_equal(wide(got.values), np.moveaxis(values, 0, dim))
        np.testing.assert_array_equal(got.indices.numpy(), np.moveaxis(indices, 0, dim))
        assert got.values.dtype is tenfold.from_numpy(x).dtype


def test_zeros_of_both_signs_are_equal_extremes():
    x = tenfold.tensor([0.0, -0.0, 0.0, -0.0] * 3)
    for scan in (x.cummax(0), x.cummin(0)):
        np.testing.assert_array_equal(scan.indices.numpy(), np.arange(12))
        np.testing.assert_array_equal(np.signbit(scan.values.numpy()), np.signbit(x.numpy()))


def test_scans_leave_other_layouts_to_the_kernel_beneath():
    x = RNG.standard_normal((30, 40))
    assert scans.cumsum(x.T, 0) is NotImplemented
    assert scans.cumsum(x, 2) is NotImplemented
    np.testing.assert_allclose(tenfold.from_numpy(x).T.cumsum(0).numpy(), np.cumsum(x.T, 0), rtol=1e-12)
    with pytest.raises(IndexError):
        tenfold.from_numpy(x).cumsum(2)


def _product(x, dim):
    """Down a column one factor after the other; along a row four vectors side by side, and long rows in pieces."""
    if dim is not None and dim < x.ndim - 1:
        return _multiplied(x, dim)
    rows = x.reshape(1, -1) if dim is None or x.ndim == 1 else x
    if rows.shape[-1] >= LONG and len(rows) == 1:
        parts = [rows[0, i : i + PIECE] for i in range(0, rows.shape[-1], PIECE)]
        return _row(np.stack([_row(part[None])[0] for part in parts])[None])[0]
    return _row(rows)[0] if dim is None or x.ndim == 1 else _row(rows)


def _multiplied(x, dim):
    """Rounded at each step, which `reduce` does not do in float16."""
    return np.multiply.accumulate(x, dim).take(-1, dim)


def _row(rows):
    width = 32 // rows.dtype.itemsize
    filled = rows.shape[-1] // (4 * width) * 4 * width
    if not filled:
        return _multiplied(rows, -1)
    sides = _multiplied(rows[..., :filled].reshape(*rows.shape[:-1], -1, 4, width), -3)
    vector = (sides[..., 0, :] * sides[..., 1, :]) * (sides[..., 2, :] * sides[..., 3, :])
    return _multiplied(np.concatenate([vector, rows[..., filled:]], -1), -1)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(7,), (40, 9), (700_000,), (2, 600_000), (10, 20, 30)])
def test_products_and_sums_of_numbers(shape, dtype):
    """Products beside NumPy's in the dtype, in the same order; sums beside those in float64."""
    x = np.exp(RNG.standard_normal(shape) * 1e-4).astype(np.float32).astype(dtype)
    y = RNG.standard_normal(shape).astype(np.float32).astype(dtype)
    y.reshape(-1)[::7] = np.nan
    a, b = tenfold.from_numpy(x), tenfold.from_numpy(y)
    eps = float(ml_dtypes.finfo(dtype).eps)
    for dim in (None, *range(len(shape))):
        np.testing.assert_array_equal(wide(a.prod() if dim is None else a.prod(dim)), np.asarray(_product(x, dim), np.float64))
        added = np.nansum(y.astype(np.float64), dim)
        near = min(eps, 1.2e-7) * np.nansum(np.abs(y.astype(np.float64)), dim) + eps * np.abs(added)
        got = wide(tenfold.nansum(b) if dim is None else tenfold.nansum(b, dim))
        assert (np.abs(got - added) <= near + 1e-12).all()


def test_products_of_what_is_not_finite():
    for numbers, expected in (([np.inf, 0.0], np.nan), ([-0.0, 3.0], -0.0), ([1e30, 1e30], np.inf), ([-1e-30, 1e-30], -0.0)):
        for many in (1, 40):
            got = tenfold.tensor(numbers + [1.0] * many).prod().numpy()
            np.testing.assert_array_equal(got, np.float32(expected))
            assert np.isnan(got) or np.signbit(got) == np.signbit(np.float32(expected))
