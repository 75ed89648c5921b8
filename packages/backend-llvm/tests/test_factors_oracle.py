"""LU factors of small matrices in compiled loops, against PyTorch and the kernel beneath."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import factors
from tenfold.scientific.cpu.linalg import lu

torch = pytest.importorskip("torch")
SHAPES = ((1, 1), (3, 3), (16, 16), (17, 17), (40, 9), (9, 40), (4, 5, 5), (2, 3, 33, 20), (100, 100), (0, 3, 3), (3, 0))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_factors(shape, dtype):
    A = np.random.default_rng(3).standard_normal(shape).astype(dtype)
    found, wanted = (lib.linalg.lu_factor_ex(lib.from_numpy(A)) for lib in (tenfold, torch))
    limit = 1e-4 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(found[0].numpy(), wanted[0].numpy(), rtol=limit, atol=limit)
    np.testing.assert_array_equal(found[1].numpy(), wanted[1].numpy())
    np.testing.assert_array_equal(found[2].numpy(), wanted[2].numpy())
    if A.size:
        assert [t.stride() for t in found] == [t.stride() for t in wanted]
    for part, other in zip(*(lib.linalg.lu(lib.from_numpy(A)) for lib in (tenfold, torch)), strict=True):
        np.testing.assert_allclose(part.numpy(), other.numpy(), rtol=limit, atol=limit)


@pytest.mark.parametrize("pivot", [False, True])
def test_equal_pivots_zeros_and_numbers_that_are_not_finite(pivot):
    rng = np.random.default_rng(4)
    for kind, shape in itertools.product(range(4), ((5, 5), (3, 20, 20), (7, 18))):
        A = rng.integers(-1, 2, shape).astype(np.float64) + (0 if pivot else 4) * np.eye(*shape[-2:])
        if kind == 1:
            A[..., 2, :] = 0
        elif kind:
            A[..., 1, 1] = np.nan if kind == 2 else np.inf
        found, wanted = factors.lu_packed(A, pivot), lu.factor(A, pivot)
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_orders_of_rows():
    A = np.random.default_rng(5).standard_normal((4, 3, 12, 7))
    pivots = torch.linalg.lu_factor(torch.from_numpy(A))[1].numpy()
    np.testing.assert_array_equal(factors.pivot_order(pivots, 12), lu.pivot_order(pivots, 12))
    strided = np.repeat(pivots, 2, -1)[..., ::2]
    np.testing.assert_array_equal(factors.pivot_order(strided, 12), lu.pivot_order(pivots, 12))
    for given in (pivots - 20, pivots + 20, pivots[:0], pivots.astype(np.int64)):
        assert factors.pivot_order(given, 12) is NotImplemented


def test_which_are_left_to_the_kernel_beneath():
    for shape, dtype in (((200, 200), np.float32), ((0, 3, 3), np.float32), ((3, 3), np.complex64), ((3,), np.float32)):
        assert factors.lu_packed(np.ones(shape, dtype), True) is NotImplemented
