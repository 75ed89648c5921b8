"""Sorting, selection, search and distinct values on the device, against the CPU's kernels, whose sort is NumPy's.

Rows that one program sorts, and, with the limits lowered, those that are sorted in tiles or from which is selected.
"""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.cuda.kernels import sorting

FLOATS = [tenfold.float32, tenfold.bfloat16, tenfold.float16, tenfold.float64]
WHOLE = [tenfold.int64, tenfold.int32, tenfold.int16, tenfold.int8, tenfold.uint8]
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -1.5, 3.0])


@pytest.fixture
def lowered(monkeypatch):
    """Rows of more than 16 elements are long."""
    limits = {"SHORT": 4, "SHORT_PAIRS": 4, "LEAST": 2, "TILE": 4, "SELECTED": 16, "PROGRAMS": 4, "ALONE": 60}
    for name, value in limits.items():
        monkeypatch.setattr(sorting, name, value)


def drawn(shape, dtype, seed=0):
    """Numbers with equals among them, and of floats everything that has an order of its own; on the host."""
    random = np.random.default_rng(seed)
    if dtype is tenfold.bool:
        return tenfold.tensor(random.integers(0, 2, shape).astype(bool))
    if not dtype.is_floating_point:
        least = np.iinfo(dtype.numpy).min
        values = random.integers(least, np.iinfo(dtype.numpy).max, shape, dtype.numpy, endpoint=True)
        return tenfold.tensor(np.where(random.random(shape) < 0.5, random.integers(0, 4, shape), values).astype(dtype.numpy))
    values = np.where(random.random(shape) < 0.4, random.choice(SPECIAL, shape), random.standard_normal(shape) * 8)
    return tenfold.tensor(values).to(dtype)


def exact(tensor):
    """The bits, NaN as one."""
    array = tensor.cpu()
    array = array.double().numpy() if array.dtype.is_floating_point else array.numpy()
    return np.where(np.isnan(array), np.nan, array) if array.dtype.kind == "f" else array


def assert_exact(got, expected):
    assert got.device.type == "cuda"
    assert got.dtype is expected.dtype
    a, b = exact(got), exact(expected)
    np.testing.assert_array_equal(a, b)
    if a.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(a) & (a == a), np.signbit(b) & (b == b))


def assert_sorts(x, dim, directions=(False, True)):
    for descending in directions:
        for e, g in zip(x.sort(dim, descending, stable=True), on_device(x).sort(dim, descending, stable=True), strict=True):
            assert_exact(g, e)


def on_device(x):
    """The tensor with its strides, in a copy of all of its memory."""
    whole = tenfold.as_strided(x, (x.untyped_storage().nbytes() // x.element_size(),), (1,), 0)
    return tenfold.as_strided(whole.cuda(), x.shape, x.stride(), x.storage_offset())


@pytest.mark.parametrize("dtype", [*FLOATS, *WHOLE, tenfold.bool], ids=str)
def test_rows_in_order(dtype):
    assert_sorts(drawn((6, 50, 3), dtype).transpose(0, 2)[:, ::2], 1)


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16, tenfold.int64], ids=str)
def test_long_rows_are_sorted_in_tiles(dtype, lowered):
    assert_sorts(drawn((2, 39), dtype), 1)
    assert_sorts(drawn((65, 2), dtype), 0, (True,))


def test_rows_of_all_shapes_and_strides():
    x = tenfold.float32
    for made, dim in (
        (drawn((35,), x).flip(0), 0), (drawn((1, 33), x).expand(4, 33), -1), (drawn((17, 1), x), 1), (drawn((0, 3), x), 1),
        (drawn((3, 0), x), 1), (drawn((), x), 0), (drawn((2, 3, 4, 5), x).permute(2, 0, 3, 1), 1), (drawn((3, 2, 20), x), -2),
    ):  # fmt: skip
        assert_sorts(made, dim, (False,))
    assert_sorts(drawn((2, 5000), tenfold.uint8), 1, (True,))
    with pytest.raises(IndexError):
        drawn((3,), x).cuda().sort(1)


def assert_selects(x, dim, ks):
    for largest in (True, False):
        values, places = x.sort(dim, largest)
        for k in ks:
            got = x.cuda().topk(k, dim, largest)
            assert_exact(got.values, values.narrow(dim, 0, k))
            assert_exact(got.indices, places.narrow(dim, 0, k))
    for k in ks[1:]:  # the least ones are sorted last
        got = x.cuda().kthvalue(k, dim, keepdim=True)
        assert_exact(got.values, values.narrow(dim, k - 1, 1))
        assert_exact(got.indices, places.narrow(dim, k - 1, 1))


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16, tenfold.int64, tenfold.uint8], ids=str)
def test_the_first_ones_and_one_rank(dtype):
    assert_selects(drawn((40, 3), dtype, 1), 0, (0, 1, 7, 40))


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16, tenfold.int64], ids=str)
def test_the_first_ones_and_one_rank_of_long_rows(dtype, lowered):
    assert_selects(drawn((2, 50), dtype, 1), 1, (0, 3, 12))
    assert_selects(drawn((1, 140), dtype, 1), 1, (0, 2))


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float16, tenfold.int32], ids=str)
def test_medians_and_modes(dtype):
    assert_middles(drawn((3, 41), dtype), 1)
    assert_middles(drawn((2, 6, 3), dtype, 3), 1)
    assert_exact(tenfold.zeros(0, dtype=dtype).cuda().median(), tenfold.zeros(0, dtype=dtype).median())
    empty = tenfold.zeros(3, 0, dtype=dtype, device="cuda")
    for name in ("median", "mode"):
        assert getattr(empty, name)(0).values.shape == (0,)
        with pytest.raises(IndexError):
            getattr(empty, name)(1)


def test_medians_and_modes_of_long_rows(lowered):
    assert_middles(drawn((3, 41), tenfold.float32), 1)
    assert_middles(drawn((64, 1), tenfold.float32, 3), 0)


def assert_middles(x, dim):
    x[:1] = x[:1].nan_to_num(2.0)  # a row without NaN beside those with
    for name in ("median", "nanmedian", "mode"):
        expected, got = (getattr(t, name)(dim, keepdim=True) for t in (x, x.cuda()))
        assert_exact(got.values.abs(), expected.values.abs())  # of 0 and -0 either one
        assert_exact(x.cuda().gather(dim, got.indices), got.values.cpu())
    for name in ("median", "nanmedian"):
        assert_exact(getattr(x.cuda(), name)().abs(), getattr(x, name)().abs())


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16, tenfold.int64, tenfold.int8], ids=str)
def test_search(dtype):
    random = np.random.default_rng(0)
    for rows, shape in (((9,), (4, 7)), ((4, 33), (4, 7)), ((2, 3, 5), (2, 3, 1)), ((1,), ()), ((0,), (3,)), ((3, 4), (3, 0))):
        made = [tenfold.tensor(random.integers(-9, 9, s)).to(dtype) for s in (rows, shape)]
        made[0] = made[0].sort(-1).values
        for options in ({}, {"right": True, "out_int32": True}):
            expected, got = (tenfold.searchsorted(made[0].to(d), made[1].to(d), **options) for d in ("cpu", "cuda"))
            assert_exact(got, expected)
    edges, x = tenfold.tensor([1.0, 2.0, np.inf, np.nan]), tenfold.tensor([np.nan, np.inf, -np.inf, 2.0, -0.0])
    assert tenfold.bucketize(x.cuda(), edges.cuda()).tolist() == [4, 2, 0, 1, 0]
    assert tenfold.bucketize(x.cuda(), edges.cuda(), right=True).tolist() == [4, 4, 0, 2, 0]  # as PyTorch: NaN is behind inf
    unsorted = tenfold.tensor([5, 1, 3])
    expected, got = (tenfold.searchsorted(unsorted.to(d), 3, sorter=unsorted.argsort().to(d)) for d in ("cpu", "cuda"))
    assert_exact(got, expected)


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16, tenfold.int64, tenfold.bool], ids=str)
def test_distinct_values(dtype):
    wanted = {"return_inverse": True, "return_counts": True}
    flat = drawn((4, 20), dtype)
    table = (drawn((5, 3, 2), dtype, 2) != 0).to(dtype)[tenfold.tensor([0, 1, 0, 2, 2, 4, 3, 0])]
    calls = ((flat, None), (flat.t(), None), (table, 0), (table.transpose(0, 1), 1), (table[:, :1, :1], 0), (flat[:0], None))
    for x, dim in calls:
        for name in ("unique", "unique_consecutive"):
            expected, got = (getattr(t, name)(dim=dim, **wanted) for t in (x, x.cuda()))
            for e, g in zip(expected, got, strict=True):
                if g.dtype is dtype:
                    assert_exact(g.abs() if dtype.is_floating_point else g, e.abs() if dtype.is_floating_point else e)
                elif not (dtype.is_floating_point and name == "unique" and dim is None and g.shape == x.shape):
                    assert_exact(g, e)  # which NaN is which is left open
        if dim is None and x.numel():
            values, inverse = x.cuda().unique(return_inverse=True)
            np.testing.assert_array_equal(exact(values[inverse]), exact(x))
    if dtype is not tenfold.bool:
        assert tenfold.isin(flat.cuda(), flat.cuda()[:1]).tolist() == tenfold.isin(flat, flat[:1]).tolist()


def test_samples_without_replacement_are_the_first_to_arrive():
    weights = tenfold.tensor([[0.0, 2.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 0.0]], device="cuda")
    for _ in range(3):
        drawn = tenfold.multinomial(weights, 3)
        assert sorted(drawn[0].tolist()) == [1, 3, 4]
        assert len(set(drawn[1].tolist())) == 3
        assert 4 not in drawn[1].tolist()
    many = tenfold.multinomial(weights, 300, True)
    assert set(many[0].tolist()) == {1, 3, 4}
    assert abs(many[0].eq(1).double().mean().item() - 0.5) < 0.12


def test_quantiles():
    x = drawn((3, 50), tenfold.float32).nan_to_num(0.5, 9, -9)
    q = tenfold.tensor([0.0, 0.3, 1.0])
    assert_exact(x.cuda().quantile(q.cuda(), 1), x.quantile(q, 1))


def test_empty_arrays_lie_in_any_way():
    x = tenfold.zeros(2, 0, 10, 3, device="cuda")[:, :, ::2]
    for dim, shape in ((0, (0, 5, 3)), (2, (2, 0, 3)), (3, (2, 0, 5))):
        for found in (x.median(dim), x.kthvalue(1, dim), x.mode(dim)):
            assert found[0].shape == found[1].shape == shape
        assert x.sort(dim)[1].shape == x.shape
        assert x.topk(1, dim)[0].shape[dim] == 1
