"""The compiled triangles of matrices, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import triangles
from tenfold.llvm.session import session

pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (7, 5), (3, 4, 9), (2, 3, 17, 16), (300, 400)], ids=str)
def test_every_diagonal(shape, dtype):
    x = np.random.default_rng(0).standard_normal(shape)
    x.reshape(-1)[-1] = np.nan
    ours = tenfold.from_numpy(x).to(getattr(tenfold, dtype))
    numbers = ours.double().numpy()
    for diagonal in (0, 1, -1, 3, -3, 10**6, -(10**6)):
        np.testing.assert_array_equal(tenfold.tril(ours, diagonal).double().numpy(), np.tril(numbers, diagonal))
        np.testing.assert_array_equal(tenfold.triu(ours, diagonal).double().numpy(), np.triu(numbers, diagonal))


def test_other_forms():
    x = np.arange(30.0, dtype=np.float32).reshape(5, 6)
    for given in (x.T, x[:, ::2], x[0], x[:0]):
        assert triangles.serve(given, 0, lower=True) is NotImplemented
    ours = tenfold.from_numpy(x.copy())
    np.testing.assert_array_equal(ours.t().tril(-1).numpy(), np.tril(x.T, -1))
    target = tenfold.empty(5, 6)
    tenfold.triu(ours, 1, out=target)
    np.testing.assert_array_equal(target.numpy(), np.triu(x, 1))
    np.testing.assert_array_equal(ours.tril_().numpy(), np.tril(x))
    leaf = tenfold.from_numpy(x).requires_grad_()
    leaf.tril().sum().backward()
    np.testing.assert_array_equal(leaf.grad.numpy(), np.tril(np.ones_like(x)))
