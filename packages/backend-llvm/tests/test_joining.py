"""Small arrays joined in native code: results, layouts, gradients and errors are those of the kernel beneath."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated

import tenfold
from tenfold.dispatch.kernels import table
from tenfold.llvm.session import session

pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.bool_, np.int64, np.int32, np.uint8, np.int16, np.complex64]
rng = np.random.default_rng(0)


def numbers(shape, dtype):
    return (rng.standard_normal(shape) * 3).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dimension(dtype):
    cat = table("cpu").cat
    assert "cat_gate" in repr(cat)
    for shape in ((4,), (2, 3), (1, 3, 5), (2, 0, 3), (3, 4, 1, 2)):
        for dim in range(-len(shape), len(shape)):
            other = list(shape)
            other[dim] += 2
            parts = [numbers(shape, dtype), numbers(other, dtype), numbers(shape, dtype)]
            for count in (1, 2, 3):
                got, expected = cat(parts[:count], dim), np.concatenate(parts[:count], dim)
                assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
                np.testing.assert_array_equal(got.astype(np.complex128), expected.astype(np.complex128))
                assert got.flags.c_contiguous
                assert not np.shares_memory(got, parts[0])


def test_layouts_and_sizes():
    x = numbers((6, 8), np.float32)
    for a, b in itertools.product((x, x.T.copy().T, x[:, ::-1], np.broadcast_to(x[0], x.shape)), repeat=2):
        for dim in (0, 1):
            got = tenfold.cat([tenfold.from_numpy(a.copy("K")), tenfold.from_numpy(b.copy("K"))], dim)
            np.testing.assert_array_equal(got.numpy(), np.concatenate([a, b], dim))
    large = numbers((300, 300), np.float32)
    np.testing.assert_array_equal(table("cpu").cat([large, large], 0), np.concatenate([large, large]))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_large_results_are_copied_in_parts(threads):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(threads)
    try:
        for shapes, dim in (
            (((300, 301), (77, 301)), 0), (((300, 301), (300, 0), (300, 17)), 1), (((70, 30, 60), (70, 3, 60), (70, 1, 60)), 1),
            (((0, 300), (400, 300), (0, 300)), 0), (((50, 20, 300),) * 2, -1), (((30_000, 1),) * 5, 1), (((2, 3000),) * 249, 0),
            (((2, 3000),) * 251, 0),
        ):  # fmt: skip
            for dtype in (np.float32, np.uint8, np.float64):
                parts = [numbers(shape, dtype) for shape in shapes]
                np.testing.assert_array_equal(table("cpu").cat(parts, dim), np.concatenate(parts, dim))
    finally:
        tenfold.set_num_threads(before)


def outcome(call):
    try:
        result = call()
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)
    return result.dtype, result.tolist()


def test_what_is_left_to_the_kernel_beneath():
    x, y = tenfold.ones(2), tenfold.zeros(3)
    assert tenfold.cat([x, tenfold.ones(0)]).tolist() == [1, 1]
    assert tenfold.cat([x, y.double()]).dtype is tenfold.float64
    assert tenfold.cat((x, y), dim=0).tolist() == [1, 1, 0, 0, 0]
    assert tenfold.cat(tensors=[x, y], axis=-1).tolist() == [1, 1, 0, 0, 0]
    assert tenfold.cat([x, y.to(tenfold.int64)]).tolist() == [1, 1, 0, 0, 0]
    wrong = [
        lambda: tenfold.cat([]), lambda: tenfold.cat([x, y], 1), lambda: tenfold.cat([x, 3]), lambda: tenfold.cat(x),
        lambda: tenfold.cat([x, tenfold.ones(2, 2)]), lambda: tenfold.cat([tenfold.ones(())]), lambda: tenfold.cat(),
        lambda: tenfold.cat([tenfold.ones(2, 2), tenfold.ones(3, 3)]), lambda: tenfold.cat([x, x], 10**30),
    ]  # fmt: skip
    for call in wrong:
        kind, words = outcome(call)
        assert isinstance(kind, type)
        assert issubclass(kind, Exception)
        assert words
        assert outcome(call) == (kind, words)


def test_gradients_and_references():
    x, y = tenfold.randn(3, requires_grad=True), tenfold.randn(2)
    joined = tenfold.cat([x, y, x])
    assert type(joined.grad_fn).__name__ == "CatBackward0"
    (joined * tenfold.arange(8.0)).sum().backward()
    assert x.grad.tolist() == [5, 7, 9]
    with tenfold.no_grad():
        assert tenfold.cat([x, y]).grad_fn is None
    calls = [
        lambda: tenfold.cat([x, y]), lambda: tenfold.cat((y, y), 0), lambda: outcome(lambda: tenfold.cat([x, y], 1)),
        lambda: outcome(lambda: tenfold.cat([x, 1])),
    ]  # fmt: skip
    assert left_behind(repeated(calls, 3000), (x, y, x._array, y._array, None, np.dtype(np.float32))) < SMALL
