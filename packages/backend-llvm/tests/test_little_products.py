"""Small products in native code: every layout against NumPy in float64, what they leave to the kernels beneath, gradients."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated

import tenfold
from tenfold.dispatch.kernels import table
from tenfold.llvm.session import session
from tenfold.nn import functional

pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
rng = np.random.default_rng(0)


def layouts(x):
    yield x
    yield np.asfortranarray(x)
    yield np.repeat(np.repeat(x, 2, 1), 3, 0)[::3, ::2]
    yield x[::-1, ::-1]
    memory = np.zeros(x.nbytes + 1, np.uint8)
    misaligned = memory[1:].view(x.dtype).reshape(x.shape)
    misaligned[...] = x
    yield misaligned
    yield np.broadcast_to(x[:1], x.shape)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_layout(dtype):
    kernels = table("cpu")
    for M, K, N in itertools.product((1, 2, 7, 13, 33), (1, 3, 8, 20, 64), (1, 4, 8, 15, 17, 48, 70)):
        a, b, c = (rng.standard_normal(shape).astype(dtype) for shape in ((M, K), (K, N), (N,)))
        for left, right in itertools.product(layouts(a), layouts(b)):
            exact = left.astype(np.float64) @ right.astype(np.float64)
            allowed = 8 * K * np.finfo(dtype).eps
            for got, expected in (
                (kernels.mm(left, right), exact),
                (kernels.matmul(left, right), exact),
                (kernels.linear(left, right.T, None), exact),
                (kernels.linear(left, right.T, c), exact + c),
            ):
                assert (got.dtype, got.shape) == (dtype, (M, N))
                assert got.flags.c_contiguous
                np.testing.assert_allclose(got, expected, rtol=allowed, atol=allowed * 4)


def test_the_kernels_are_native():
    for name in ("mm", "matmul", "linear"):
        assert "product_gate" in repr(getattr(table("cpu"), name))


def test_special_values():
    x = np.ones((3, 4), np.float32)
    x[0, 1], x[1, 2] = np.nan, np.inf
    y = np.zeros((4, 5), np.float32)
    got = tenfold.from_numpy(x) @ tenfold.from_numpy(y)
    np.testing.assert_array_equal(np.isnan(got.numpy()), [[True] * 5, [True] * 5, [False] * 5])
    y += 1
    got = (tenfold.from_numpy(x) @ tenfold.from_numpy(y)).numpy()
    assert np.isnan(got[0]).all()
    assert np.isinf(got[1]).all()
    assert (got[2] == 4).all()


@pytest.mark.parametrize(
    "shapes", [((2, 3), (4, 5)), ((0, 3), (3, 4)), ((3, 0), (0, 4)), ((3,), (3, 4)), ((2, 3, 4), (4, 5)), ((), (3,))]
)
def test_what_is_left_to_the_kernels_beneath(shapes):
    a, b = (tenfold.ones(shape) for shape in shapes)
    try:
        expected = np.ones(shapes[0]) @ np.ones(shapes[1])
    except ValueError:
        with pytest.raises(RuntimeError):
            a @ b
        return
    np.testing.assert_array_equal((a @ b).numpy(), expected)


def test_dtypes_that_differ_or_are_not_served():
    a, b = tenfold.ones(3, 4), tenfold.ones(4, 5)
    with pytest.raises(RuntimeError):
        a @ b.double()
    for dtype in (tenfold.int64, tenfold.float16, tenfold.bfloat16, tenfold.complex64):
        got = a.to(dtype) @ b.to(dtype)
        assert got.dtype is dtype
        assert (got == 4).all()
    with pytest.raises((RuntimeError, TypeError)):
        functional.linear(a, b.t(), tenfold.ones(5, dtype=tenfold.float64))
    assert functional.linear(a, b.t(), tenfold.ones(1)).tolist() == [[5.0] * 5] * 3


def test_gradients():
    x, w, b = (tenfold.randn(*shape, dtype=tenfold.float64, requires_grad=True) for shape in ((5, 7), (4, 7), (4,)))
    assert tenfold.autograd.gradcheck(functional.linear, (x, w, b))
    assert tenfold.autograd.gradcheck(lambda a, c: a @ c.t(), (x, w))
    assert tenfold.autograd.gradcheck(lambda a, c: a.mm(c.t()).t().mm(a), (x, w))
    assert type(functional.linear(x, w, b).grad_fn).__name__ == "AddmmBackward0"
    assert type((x @ w.t()).grad_fn).__name__ == "MmBackward0"


def test_no_reference_is_kept():
    a, b, c = (rng.standard_normal(shape).astype(np.float32) for shape in ((8, 16), (16, 8), (16,)))
    x, w = tenfold.from_numpy(a), tenfold.from_numpy(b).requires_grad_()
    kernels = table("cpu")
    calls = [lambda: kernels.mm(a, b), lambda: kernels.linear(a, b.T, None), lambda: kernels.linear(b, b, c), lambda: x @ w]
    for call in calls:
        call()
    things = (a, b, c, x, w, np.dtype(np.float32), None)
    assert left_behind(repeated(calls, 2000), things) < SMALL
