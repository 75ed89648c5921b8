"""Orthogonal polynomials in compiled loops: NumPy's bits, PyTorch's values; and calls whose kernels are not compiled."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated

import tenfold
from tenfold import op
from tenfold.dispatch.kernels import KERNELS
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
NAMES = [
    *(f"{start}chebyshev_polynomial_{letter}" for start in ("", "shifted_") for letter in "tuvw"),
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
]  # fmt: skip
X = np.array([*np.linspace(-1.5, 1.5, 31), math.inf, -math.inf, math.nan, 0.0, -0.0, 1, -1, 1e20])
N = np.array([0, 1, 2, 3, 5, 8, 20, -1, -3, 2.7, -0.5, math.nan, math.inf, -math.inf, -0.0, 100])


def bits(x):
    return np.where(np.isnan(x), np.nan, x).tobytes(), x.shape, x.dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_bits_are_those_of_numpy(name, dtype):
    function, x, n = getattr(tenfold.special, name), X.astype(dtype)[:, None], N.astype(dtype)
    a, b = tenfold.from_numpy(x), tenfold.from_numpy(n)
    function(b, b)  # loads the kernels
    with np.errstate(all="ignore"):
        beneath = next(k.function for k in KERNELS[f"special_{name}", "cpu"] if not k.accelerates)
        expected = beneath(x, n)
        number = beneath(x, 3)
    for _ in range(520):  # NumPy serves the first calls
        found = function(a, b)
    assert bits(found.numpy()) == bits(expected)
    assert bits(function(a, 3).numpy()) == bits(number)
    whole = [np.ascontiguousarray(v) for v in np.broadcast_arrays(x, n)]
    for _ in range(2):
        assert bits(function(*map(tenfold.from_numpy, whole)).numpy()) == bits(expected)


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_pytorch(name):
    x, n = np.linspace(-0.9, 0.9, 20), np.arange(6.0)
    pairs = [[lib.from_numpy(x.copy())[:, None], lib.from_numpy(n.copy())] for lib in (tenfold, torch)]
    found, expected = (getattr(lib.special, name)(*pair) for lib, pair in zip((tenfold, torch), pairs, strict=True))
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-10, atol=1e-10)
    for shape in ((0,), (0, 3), ()):
        empty = tenfold.zeros(shape)
        assert tuple(getattr(tenfold.special, name)(empty, 2).shape) == shape


ALONE = [
    "exp2", "log2", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "isnan", "isinf", "isfinite",
    "signbit", "logical_not", "i0", "digamma", "lgamma",
]  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_calls_with_kernels_of_numpy(name):
    for shape in ((5, 4), (), (0, 3)):
        numbers = np.random.default_rng(0).random(shape).astype(np.float32) + (1 if name == "acosh" else 0)
        x, y = (lib.from_numpy(np.array(numbers)) for lib in (tenfold, torch))
        for change in (lambda t: t, lambda t: t.t() if t.dim() == 2 else t, lambda t: t[::2] if t.dim() else t):
            ours, theirs = (getattr(lib, name)(change(t)) for lib, t in ((tenfold, x), (torch, y)))
            assert tuple(ours.shape) == tuple(theirs.shape)
            assert tuple(ours.stride()) == tuple(theirs.stride())
            assert type(ours._array) is np.ndarray
            np.testing.assert_allclose(ours.double().numpy(), theirs.double().numpy(), rtol=2e-5)
    whole = getattr(tenfold, name)(tenfold.tensor([1, 2]))
    assert whole.dtype in (tenfold.float32, tenfold.bool)


def test_numbers_that_reductions_give_are_taken_as_they_are():
    assert tenfold.tensor([[1.0, 5.0, 2.0]]).amax().item() == 5
    assert tenfold.tensor(3.0).amax().dim() == 0
    for call in (lambda t: t.amax(), lambda t: t.max(), lambda t: t.amin(), lambda t: t.prod()):
        result = call(tenfold.tensor([[2.0, 1.0]]))
        assert (type(result._array), result.dim(), result.dtype) == (np.ndarray, 0, tenfold.float32)
    with pytest.raises(RuntimeError):
        tenfold.empty(0).amax()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="call paths are native from Python 3.12 on")
def test_a_scalar_result_is_made_an_array_once():
    seen = []
    kernels = op.atan2.calls.kernels
    x = tenfold.tensor(0.5)
    tenfold.atan2(x, x)
    (key,) = kernels
    kernel = kernels[key]

    def counted(*given):
        seen.append(given)
        return kernel(*given)

    kernels[key] = counted
    try:
        for _ in range(3):
            result = tenfold.atan2(x, x)
            assert (type(result._array), result.dtype, result.dim()) == (np.ndarray, tenfold.float32, 0)
        assert len(seen) == 3
        y = x.clone().requires_grad_()
        tenfold.atan2(y, x).backward()
        assert abs(y.grad.item() - 1) < 1e-6
        kernels[key] = kernel
        assert left_behind(repeated([lambda: tenfold.atan2(x, x)], 500), [x._array]) < SMALL
        with pytest.raises(RuntimeError):
            tenfold.atan2(tenfold.ones(2), tenfold.ones(3))
    finally:
        kernels[key] = kernel
