"""Softmax, its logarithm and their gradients along every dimension of arrays in every order, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import softmax
from tenfold.llvm.programs import Compiled
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")

SHAPES = [(5, 7), (3, 40, 17), (2, 6, 28, 28), (64, 300), (1, 3, 1000), (4, 9, 2, 3), (2, 3, 4, 5, 6), (600, 2), (2, 200, 700)]
TOLERANCE = {"float32": 3e-6, "float64": 1e-14, "bfloat16": 1e-2, "float16": 2e-3}


def pair(array, dtype, turned):
    """The same tensor of both libraries, with its dimensions in the opposite order in memory if `turned`."""
    array = np.ascontiguousarray(array.T).T if turned else array
    return tuple(lib.from_numpy(array.copy("K")).to(getattr(lib, dtype)) for lib in (tenfold, torch))


def numbers(tensor):
    return tensor.detach().double().numpy()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_against_pytorch(name, shape, dtype, turned):
    rng = np.random.default_rng(0)
    x, g = (rng.standard_normal(shape) * 4 for _ in range(2))
    for dim in range(-len(shape), len(shape)):
        (ours, theirs), (grad, their_grad) = pair(x, dtype, turned), pair(g, dtype, False)
        ours.requires_grad_()
        theirs.requires_grad_()
        found, expected = getattr(ours, name)(dim), getattr(theirs, name)(dim)
        found.backward(grad)
        expected.backward(their_grad)
        assert found.stride() == tuple(expected.stride())
        tolerance = TOLERANCE[dtype]
        for got, wanted in ((found, expected), (ours.grad, theirs.grad)):
            largest = max(1, np.abs(numbers(wanted)).max())  # whose rounding in half precision the sums carry on
            np.testing.assert_allclose(numbers(got), numbers(wanted), rtol=0, atol=4 * tolerance * largest)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_numbers_that_hurt(name):
    """Infinities and what is no number stay in their column; columns of -inf alone are none, in vectors and behind them."""
    x = np.random.default_rng(1).standard_normal((3, 9, 37)).astype(np.float32)
    x[0, 2, 3], x[1, 4, 36], x[2, 0, 20], x[2, :, 5], x[0, 1, 1] = np.inf, np.nan, -np.inf, -np.inf, -0.0
    found = numbers(getattr(tenfold.from_numpy(x), name)(1))
    expected = numbers(getattr(torch.from_numpy(x), name)(1))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_it_is_compiled(monkeypatch):
    seen = []
    run = Compiled.run
    monkeypatch.setattr(Compiled, "run", lambda self, key, *rest: seen.append((self, key)) or run(self, key, *rest))
    x = np.random.default_rng(2).standard_normal((4, 5, 64)).astype(np.float32)
    assert softmax.INNER.name
    tenfold.from_numpy(x).softmax(1)
    assert any(program is softmax.INNER for program, _ in seen)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads(threads):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(threads)
    try:
        x = np.random.default_rng(3).standard_normal((8, 30, 900)).astype(np.float32)
        np.testing.assert_allclose(
            tenfold.from_numpy(x).softmax(1).numpy(), torch.from_numpy(x).softmax(1).numpy(), rtol=1e-5, atol=1e-7
        )
    finally:
        tenfold.set_num_threads(before)
