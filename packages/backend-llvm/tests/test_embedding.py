"""The compiled gradient of an embedding table, against NumPy's kernel beneath it and the definition."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm import session as sessions
from tenfold.llvm.kernels.embedding import embedding_weight_grad
from tenfold.nn.cpu.embedding import embedding_weight_grad as beneath

pytestmark = pytest.mark.skipif(sessions.session() is None, reason="no compiled kernels on this machine")
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("padding", [-1, 2])
@pytest.mark.parametrize("width", [1, 7, 8, 33, 192])
def test_sums_in_the_order_of_the_indices(width, padding, dtype, threads):
    grad = RNG.standard_normal((40, 13, width)).astype(dtype)
    grad[0, 0], grad[1, 1], grad[2, 2, 0] = np.inf, -np.inf, np.nan
    index = RNG.integers(0, 9, (40, 13))
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(threads)
    try:
        found = embedding_weight_grad(grad, index, 11, padding, False)
    finally:
        tenfold.set_num_threads(before)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found, beneath(grad, index, 11, padding, False))


@pytest.mark.parametrize(
    ("grad", "index", "scaled"),
    [
        (np.ones((3, 4), np.float32), np.array([0, 1, 5]), False),  # beyond the table
        (np.ones((3, 4), np.float32), np.array([0, 1, -1]), False),
        (np.ones((3, 4), np.float32), np.array([0, 1, 1]), True),
        (np.ones((3, 4), np.float32), np.array([0, 1, 1], np.int32), False),
        (np.ones((3, 4), np.complex64), np.array([0, 1, 1]), False),
        (np.ones((0, 4), np.float32), np.array([], np.int64), False),
    ],
)
def test_other_calls_are_left_to_the_kernel_beneath(grad, index, scaled):
    assert embedding_weight_grad(grad, index, 5, -1, scaled) is NotImplemented


def test_gradient_of_a_layer():
    layer = tenfold.nn.Embedding(5, 3, padding_idx=1)
    layer(tenfold.tensor([[0, 1], [4, 0]])).sum().backward()
    assert layer.weight.grad.tolist() == [[2.0] * 3, [0.0] * 3, [0.0] * 3, [0.0] * 3, [1.0] * 3]
