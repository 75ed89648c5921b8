"""Large products in compiled code: sizes at all edges, every layout and number of threads, against NumPy in float64."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold import llvm
from tenfold.dispatch.kernels import table
from tenfold.llvm import large_calls, large_products, products
from tenfold.llvm.programs import Compiled
from tenfold.llvm.session import session
from tenfold.llvm.writer import Registers
from tenfold.nn import functional

pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
RNG = np.random.default_rng(0)
DTYPES = [np.float32, np.float64]


@pytest.fixture
def any_size(monkeypatch):
    """Every product is served, however small."""
    for name in ("ROWS", "COLUMNS", "WORK"):
        monkeypatch.setattr(large_calls, name, 1)
    monkeypatch.setattr(large_calls, "MOST_STEPS", 1 << 20)
    large_calls.forget()
    yield
    large_calls.forget()


@pytest.fixture
def threads():
    before = tenfold.get_num_threads()
    yield tenfold.set_num_threads
    tenfold.set_num_threads(before)


def right(got, a, b, start=0.0):
    """Whether a product is as near as the sums of its terms' sizes allow."""
    size = abs(a).astype(np.float64) @ abs(b).astype(np.float64) + abs(start)
    error = abs(got - (a.astype(np.float64) @ b.astype(np.float64) + start))
    assert got.dtype == a.dtype
    assert (error <= 4 * np.finfo(a.dtype).eps * np.sqrt(a.shape[1] + 4) * size).all()


def matrices(shape, dtype):
    """The same numbers: rows in one piece, columns in one piece, rows apart, rows that share the lines of a cache."""
    x = RNG.standard_normal(shape).astype(dtype)
    yield x
    yield np.asfortranarray(x)
    for length in (shape[1] + 3, -(-shape[1] // 1024) * 1024):
        apart = np.zeros((shape[0], length), dtype)[:, : shape[1]]
        apart[...] = x
        yield apart


@pytest.mark.parametrize("dtype", DTYPES)
def test_sizes_at_the_edges(any_size, dtype):
    for n in range(1, 71):
        for m, k, j in ((n, 9, 33), (33, n, 9), (9, 33, n), (n, n, n)):
            a, b = RNG.standard_normal((m, k)).astype(dtype), RNG.standard_normal((k, j)).astype(dtype)
            right(large_calls.product(a, b), a, b)
            right(large_calls.product(np.asfortranarray(a), np.asfortranarray(b)), a, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("steps", [1, 255, 256, 257, 700, 2000])
def test_layouts_starts_and_depths(any_size, dtype, steps):
    m, n = 275, 50
    row, whole = RNG.standard_normal(n).astype(dtype), RNG.standard_normal((m, n)).astype(dtype)
    for a, b in itertools.product(matrices((m, steps), dtype), matrices((steps, n), dtype)):
        right(large_calls.product(a, b), a, b)
        right(large_calls.product(a, b, row), a, b, row)
        right(large_calls.product(a, b, whole), a, b, whole)


@pytest.mark.parametrize("dtype", DTYPES)
def test_threads_change_no_bit(any_size, threads, dtype):
    for m, k, n in ((512, 192, 576), (64, 784, 256), (31, 600, 700), (700, 300, 20)):
        a, b = RNG.standard_normal((m, k)).astype(dtype), RNG.standard_normal((k, n)).astype(dtype)
        for left, right_ in itertools.product((a, np.asfortranarray(a)), (b, np.asfortranarray(b))):
            results = []
            for count in (1, 2, 3):
                threads(count)
                results.append(large_calls.product(left, right_))
            right(results[0], a, b)
            assert all((found == results[0]).all() for found in results)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("there", [Registers(32, 64), Registers(32, 16), Registers(16, 32)])
def test_the_tiles_of_other_processors(any_size, monkeypatch, there, dtype):
    for module in (products, large_products):
        monkeypatch.setattr(module, "registers", lambda: there)
    monkeypatch.setattr(large_calls, "PRODUCTS", Compiled("large products", large_products.products))
    for m, k, n in ((1, 3, 5), (25, 300, 70), (70, 40, 33), (280, 9, 65)):
        a, b, start = (RNG.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
        for left, right_ in itertools.product((a, np.asfortranarray(a)), (b, np.asfortranarray(b))):
            right(large_calls.product(left, right_, start), a, b, start)


def test_rows_upside_down_and_repeated(any_size):
    a, b = RNG.standard_normal((40, 30)).astype(np.float32), RNG.standard_normal((30, 50)).astype(np.float32)
    for left in (a[::-1], np.broadcast_to(a[:1], a.shape), a[::2]):
        right(large_calls.product(left, b[::-1]), left, b[::-1])


def test_infinities_and_nan_stay_in_their_rows(any_size):
    a, b = np.ones((30, 300), np.float32), np.ones((300, 40), np.float32)
    a[2, 290], a[3, 7], a[4, :2] = np.nan, np.inf, (np.inf, -np.inf)
    found = large_calls.product(a, b)
    assert np.isnan(found[[2, 4]]).all()
    assert np.isposinf(found[3]).all()
    assert (np.delete(found, [2, 3, 4], 0) == 300).all()


def test_what_is_left_to_the_kernels_beneath():
    x = np.ones((512, 128), np.float32)
    memory = np.zeros(x.nbytes + 1, np.uint8)
    misaligned = memory[1:].view(x.dtype).reshape(x.shape)
    for a, b in (
        (x[:, ::2], x[:64]), (misaligned, x.T), (x, x.T.astype(np.float64)), (x[:4], x.T), (x[:, :0], x.T[:0]), (x[:0], x.T),
        (x.astype(">f4"), x.T.astype(">f4")),
    ):  # fmt: skip
        assert large_calls.product(a, b) is NotImplemented
    kernels = table("cpu")
    misaligned[...] = x
    np.testing.assert_array_equal(kernels.mm(misaligned, x.T), np.full((512, 512), 128))
    with pytest.raises(RuntimeError):
        tenfold.ones(512, 128) @ tenfold.ones(512, 128)


@pytest.mark.parametrize("lead", [(512,), (4, 128)])
def test_operators(lead):
    x, w, c = (RNG.standard_normal(shape).astype(np.float32) for shape in ((*lead, 160), (192, 160), (192,)))
    assert large_calls.linear(x, w, c) is not NotImplemented
    flat = x.reshape(-1, 160)
    tensors = [tenfold.from_numpy(a).requires_grad_() for a in (x, w, c)]
    out = functional.linear(*tensors)
    right(out.detach().numpy().reshape(512, 192), flat, w.T, c)
    g = RNG.standard_normal(out.shape).astype(np.float32)
    out.backward(tenfold.from_numpy(g))
    right(tensors[0].grad.numpy().reshape(512, 160), g.reshape(512, 192), w)
    right(tensors[1].grad.numpy(), g.reshape(512, 192).T, flat)
    right(functional.linear(*tensors[:2]).detach().numpy().reshape(512, 192), flat, w.T)
    odd = tenfold.from_numpy(np.repeat(c, 2)[::2])
    right(functional.linear(tensors[0], tensors[1], odd).detach().numpy().reshape(512, 192), flat, w.T, c)


def layouts(x):
    """An array's numbers in memory of each kind that a plan tells apart."""
    yield x
    yield np.concatenate([x, x], -1)[..., : x.shape[-1]]
    yield np.ascontiguousarray(x.swapaxes(-2, -1)).swapaxes(-2, -1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lead", [(512,), (4, 128), (2, 2, 128)])
def test_a_planned_product_does_not_enter_python(lead, dtype, monkeypatch):
    kernels, (x, w, c) = table("cpu"), (RNG.standard_normal(shape).astype(dtype) for shape in ((*lead, 160), (192, 160), (192,)))
    calls = [
        lambda a=a, b=b, name=name: (kernels.linear(a, b, c), kernels.linear(a, b, None), getattr(kernels, name)(a, b.T))
        for a in layouts(x) for b in layouts(w) for name in (("matmul", "mm") if len(lead) == 1 else ("matmul",))
        if a.strides[-1] == a.itemsize or len(lead) == 1
    ]  # fmt: skip
    large_calls.forget()
    first = [call() for call in calls]
    right(first[0][0].reshape(512, 192), x.reshape(-1, 160), w.T, c)
    asked = []
    plan = large_calls._product
    monkeypatch.setattr(large_calls, "_product", lambda *arguments: asked.append(arguments) or plan(*arguments))
    for call, before in zip(calls, first):
        for got, expected in zip(call(), before):
            np.testing.assert_array_equal(got, expected)
            assert got.shape == (*lead, 192)
            assert got.flags.num == expected.flags.num
    assert len(asked) <= 2  # who share a place in the table
    asked.clear()
    kernels.linear(x, w, c)
    assert not asked


def test_a_plan_serves_no_other_call(threads, monkeypatch):
    kernels, (x, w) = table("cpu"), (RNG.standard_normal(shape).astype(np.float32) for shape in ((512, 160), (160, 192)))
    expected = kernels.mm(x, w)
    assert kernels.mm(x.astype(np.float64), w.astype(np.float64)).dtype == np.float64
    misaligned = np.zeros(x.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(x.shape)
    misaligned[...] = x
    np.testing.assert_allclose(kernels.mm(misaligned, w), expected, rtol=1e-4, atol=1e-4)
    part = np.ma.MaskedArray(x)
    np.testing.assert_allclose(np.asarray(kernels.mm(part, w)), expected, rtol=1e-4, atol=1e-4)
    asked = []
    plan = large_calls._product
    monkeypatch.setattr(large_calls, "_product", lambda *arguments: asked.append(arguments) or plan(*arguments))
    kernels.mm(x, w)
    assert not asked
    threads(3)
    np.testing.assert_array_equal(kernels.mm(x, w), expected)
    assert len(asked) == 1


def test_addmm():
    a, b = RNG.standard_normal((512, 160)).astype(np.float32), RNG.standard_normal((160, 192)).astype(np.float32)
    for start in (RNG.standard_normal((512, 192)).astype(np.float32), RNG.standard_normal(192).astype(np.float32)):
        assert large_calls.addmm(start, a, b, 1, 1) is not NotImplemented
        before = start.copy()
        right(tenfold.addmm(*map(tenfold.from_numpy, (start, a, b))).numpy(), a, b, start)
        right(tenfold.addmm(*map(tenfold.from_numpy, (start, a, b)), beta=0.5).numpy(), a, b, start / 2)
        np.testing.assert_array_equal(start, before)


def test_the_explanation():
    found = llvm.explain(tenfold.op.mm, tenfold.randn(512, 192), tenfold.randn(192, 192))
    assert found.served
    assert "out = start + a @ b" in found.description
    assert "fma" in found.assembly
