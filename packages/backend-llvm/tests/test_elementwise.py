"""Broadcast calls of compiled elementwise operators: the plan of each pair of shapes, and what it computes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import pointwise  # noqa: F401 - attaches the operators
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.layouts import spread

SHAPES = [
    (), (1,), (7,), (5, 7), (5, 1), (1, 7), (3, 5, 7), (3, 1, 7), (3, 5, 1), (1, 5, 7), (1, 1, 1), (2, 3, 5, 7), (2, 1, 5, 1),
    (3, 1, 1), (0, 7), (2, 3, 1, 1),
]  # fmt: skip


def fit(a, b):
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_pair_of_shapes(dtype):
    rng = np.random.default_rng(0)
    planned = 0
    for a, b in itertools.product(SHAPES, SHAPES):
        x, y = (np.asarray(rng.standard_normal(shape), dtype) for shape in (a, b))
        if fit(a, b):
            found = ACCELERATED["add"].serve((x, y), None)
            assert found.shape == np.shape(x + y), (a, b)
            np.testing.assert_array_equal(found, x + y)
            planned += spread((a, b), (x.itemsize,) * 3) is not None
    assert planned > 100


def test_shapes_that_do_not_fit_have_no_plan():
    assert spread(((3, 2), (2, 3)), (4, 4, 4)) is None
    assert spread(((0, 7), (7,)), (4, 4, 4)) is None
    with pytest.raises(RuntimeError, match="size of tensor"):
        tenfold.ones(300, 200) + tenfold.ones(200, 300)


def test_a_result_may_have_a_shape_of_its_own():
    assert spread(((5, 1), (1, 7)), (4, 4, 4)) == ((5, 7), ("next", "same", "next"), (7, 4, 0, 4, 1, 5, 28, 4, 0))


def test_neighbouring_dimensions_become_one():
    shape, steps, geometry = spread(((4, 5, 6), (6,)), (4, 4, 4))
    assert (shape, steps) == ((4, 5, 6), ("next", "next", "next"))
    assert geometry == (6, 4, 4, 4, 1, 20, 24, 24, 0)
    assert spread(((4, 5, 6), (4, 1, 1)), (4, 4, 4))[2] == (30, 4, 4, 0, 1, 4, 120, 120, 4)
    assert spread(((4, 5, 6), ()), (4, 4, 4))[2] == (120, 4, 4, 0, 0)
