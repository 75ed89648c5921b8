"""Products along rows and down columns have PyTorch's order of multiplications, and so its bits and its infinities."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
DTYPES = ("float32", "float64", "float16", "bfloat16")
LENGTHS = (1, 2, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 200, 1000, 5000)


def _both(numbers, dtype):
    return tenfold.tensor(numbers).to(getattr(tenfold, dtype)), torch.tensor(numbers).to(getattr(torch, dtype))


def _same(ours, theirs):
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
    np.testing.assert_array_equal(ours.double().numpy(), theirs.double().numpy())


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_bit_is_pytorchs(dtype):
    numbers = np.random.default_rng(3)
    for length in LENGTHS:
        x = (1 + numbers.standard_normal((3, length)) * 0.1).astype(np.float32)
        ours, theirs = _both(x, dtype)
        _same(ours.prod(1), theirs.prod(1))
        _same(ours[0].prod(), theirs[0].prod())
        _same(ours.T.contiguous().prod(0), theirs.T.contiguous().prod(0))
        ours, theirs = (t.reshape(3, length, 1).expand(-1, -1, 40).contiguous() for t in (ours, theirs))
        _same(ours.prod(1), theirs.prod(1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_overflows_on_the_way_stays_infinite(dtype):
    large = {"float16": 300.0, "float64": 1e200}.get(dtype, 1e30)
    for length, some in itertools.product((3, 20, 32, 70, 300), itertools.permutations((large, large, 1 / large))):
        for step in (1, 8):
            x = np.ones(length * step)[:length]
            x[: 3 * step : step][: len(some)] = some[: len(x[: 3 * step : step])]
            ours, theirs = _both(x, dtype)
            _same(ours.prod(), theirs.prod())
            _same(
                ours.reshape(-1, 1).expand(-1, 33).contiguous().prod(0), theirs.reshape(-1, 1).expand(-1, 33).contiguous().prod(0)
            )


def test_special_numbers():
    for row in ([np.nan, 2.0] * 40, [np.inf, 0.0, 1.0] * 20, [-0.0] * 33, [-1.0] * 35, [np.inf, -2.0] * 50):
        for dtype in DTYPES:
            ours, theirs = _both(row, dtype)
            _same(ours.prod(), theirs.prod())
            assert tenfold.signbit(ours.prod()).item() == torch.signbit(theirs.prod()).item() or theirs.prod().isnan()
