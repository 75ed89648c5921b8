"""Products of bfloat16 by each unit that the processor has for it: edges, every layout, batches, threads, values that hurt."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import tenfold
from tenfold.llvm import matrix_calls
from tenfold.nn import functional

pytestmark = pytest.mark.usefixtures("unit")
RNG = np.random.default_rng(0)
BF16 = np.dtype(ml_dtypes.bfloat16)


@pytest.fixture
def threads():
    before = tenfold.get_num_threads()
    yield tenfold.set_num_threads
    tenfold.set_num_threads(before)


def numbers(*shape):
    return RNG.standard_normal(shape).astype(BF16)


def right(got, a, b, start=0.0):
    """Whether a product is that of float64, rounded once, but for the order of sums in float32."""
    wide = [np.asarray(x, np.float64) for x in (a, b, start)]
    exact, size = wide[0] @ wide[1] + wide[2], abs(wide[0]) @ abs(wide[1]) + abs(wide[2])
    assert (got.dtype, got.shape) == (BF16, exact.shape)
    error = abs(got.astype(np.float64) - exact)
    assert (error <= 2.0**-8 * abs(exact) + 2.0**-22 * np.sqrt(a.shape[-1] + 4) * size).all()


def layouts(x):
    """The same numbers: rows in one piece, columns in one piece, rows apart, neither."""
    yield x
    yield np.asfortranarray(x)
    apart = np.zeros((x.shape[0], x.shape[1] + 3), BF16)[:, 1 : 1 + x.shape[1]]
    apart[...] = x
    yield apart
    every_other = np.zeros((2 * x.shape[0], 2 * x.shape[1]), BF16)[::2, ::2]
    every_other[...] = x
    yield every_other
    yield np.ascontiguousarray(x[::-1])[::-1]


@pytest.mark.parametrize("rows", [1, 15, 16, 31, 33, 256, 257, 300])
@pytest.mark.parametrize("depth", [1, 2, 31, 32, 33, 100, 1024, 1025, 1100])
def test_sizes_at_all_edges(rows, depth):
    for columns in (1, 17, 32, 64, 70, 257):
        a, b, bias, whole = numbers(rows, depth), numbers(depth, columns), numbers(columns), numbers(rows, columns)
        for start in (None, bias, whole):
            right(matrix_calls.product(a, b, start), a, b, 0.0 if start is None else start)


@pytest.mark.parametrize(("rows", "columns", "depth"), [(37, 45, 70), (1, 40, 33), (40, 1, 33), (40, 50, 1), (300, 33, 1030)])
def test_every_layout(rows, columns, depth):
    for a, b in itertools.product(layouts(numbers(rows, depth)), layouts(numbers(depth, columns))):
        right(matrix_calls.product(a, b), a, b)


def test_batches_of_every_layout():
    a, b, one = numbers(2, 3, 33, 20), numbers(2, 3, 20, 440), numbers(20, 440)
    every = [a, a.swapaxes(0, 1).copy().swapaxes(0, 1), a.swapaxes(1, 2).copy().swapaxes(1, 2), a.mT.copy().mT]
    for x in every:
        right(matrix_calls.matmul(x, b), x, b)
        right(matrix_calls.matmul(x, b[:1]), x, b[:1])
        right(matrix_calls.matmul(x, b[0]), x, b[0])
        right(matrix_calls.matmul(x, one), x, one)
        right(matrix_calls.matmul(x[:1, :, :1], b), x[:1, :, :1], b)
    right(matrix_calls.matmul(a[0, 0], b), a[0, 0], b)
    right(matrix_calls.bmm(a[0], b[0].mT.copy().mT), a[0], b[0])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_threads_change_no_number(threads, count):
    for a, b in (
        (numbers(200, 700), numbers(700, 300)),
        (numbers(4, 4096), numbers(4096, 1300)),
        (numbers(9, 70, 300), numbers(9, 300, 80)),
    ):
        threads(1)
        alone = matrix_calls.matmul(a, b)
        threads(count)
        right(alone, a, b)
        assert alone.tobytes() == matrix_calls.matmul(a, b).tobytes()


def test_infinite_and_missing_numbers_stay_where_they_are():
    a, b = numbers(40, 50), numbers(50, 60)
    a[3, 4], a[7, 1], b[5, 9], a[:, 6], b[6] = np.inf, np.nan, -np.inf, 0, 0
    got = matrix_calls.product(a, b).astype(np.float32)
    with np.errstate(invalid="ignore"):
        wide = a.astype(np.float32) @ b.astype(np.float32)
    assert (np.isnan(got) == np.isnan(wide)).all()
    assert (np.isinf(got) == np.isinf(wide)).all()
    assert np.isfinite(got).sum() == 38 * 59
    top = np.full((32, 32), 3e38, BF16)
    assert np.isinf(matrix_calls.product(top, top).astype(np.float32)).all()


def test_the_operators_are_served(monkeypatch):
    calls = []
    run = matrix_calls.product
    monkeypatch.setattr(matrix_calls, "product", lambda *given: calls.append(1) or run(*given))
    x, w, bias = (tenfold.randn(*shape, dtype=tenfold.bfloat16) for shape in ((40, 64), (48, 64), (48,)))
    batch = tenfold.randn(3, 40, 64, dtype=tenfold.bfloat16)
    made = [
        x @ w.t(), tenfold.mm(x, w.t()), tenfold.addmm(bias, x, w.t()), functional.linear(x, w, bias),
        functional.linear(batch, w),
        tenfold.bmm(batch, batch.mT), batch @ batch.mT,
    ]  # fmt: skip
    assert len(calls) == len(made)
    wide = [
        x.float() @ w.float().t(), x.float() @ w.float().t(), x.float() @ w.float().t() + bias.float(),
        x.float() @ w.float().t() + bias.float(), batch.float() @ w.float().t(), batch.float() @ batch.float().mT,
        batch.float() @ batch.float().mT,
    ]  # fmt: skip
    for got, exact in zip(made, wide, strict=True):
        assert got.dtype is tenfold.bfloat16
        tenfold.testing.assert_close(got, exact.bfloat16(), atol=0.02, rtol=0.008)


def test_it_is_told_which_code_serves(unit):
    x = tenfold.randn(3, 40, 64, dtype=tenfold.bfloat16)
    for name, arguments in {"mm": (x[0], x[0].t()), "bmm": (x, x.mT), "linear": (x, x[0])}.items():
        found = tenfold.llvm.explain(getattr(tenfold.op, name), *arguments)
        assert found.served, name
        assert unit.declared in found.ir


def test_gradients_are_products_too():
    x, w = (
        tenfold.randn(40, 64, dtype=tenfold.bfloat16, requires_grad=True),
        tenfold.randn(48, 64, dtype=tenfold.bfloat16, requires_grad=True),
    )
    functional.linear(x, w).backward(g := tenfold.randn(40, 48, dtype=tenfold.bfloat16))
    right(x.grad._array, g._array, w._array)
    right(w.grad._array, g._array.T, x._array)


def test_empty_and_mismatched_arrays_are_left_to_what_is_beneath():
    empty, x = tenfold.empty(0, 64, dtype=tenfold.bfloat16), tenfold.randn(64, 200, dtype=tenfold.bfloat16)
    assert (empty @ x).shape == (0, 200)
    assert tenfold.bmm(empty[None], x[None]).shape == (1, 0, 200)
    assert not (tenfold.empty(200, 0, dtype=tenfold.bfloat16) @ tenfold.empty(0, 64, dtype=tenfold.bfloat16)).any()
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        x @ x
