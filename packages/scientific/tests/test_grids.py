"""Grids over vectors and the places of triangles, against NumPy; what they refuse; which elements are not zero or real."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.dispatch.runtime import Layer


def test_grids_and_triangles_are_numpys():
    x, y = tenfold.meshgrid(tenfold.arange(2), tenfold.arange(3), indexing="xy")
    expected = np.meshgrid(np.arange(2), np.arange(3), indexing="xy")
    assert (x.tolist(), y.tolist()) == (expected[0].tolist(), expected[1].tolist())
    for find in (tenfold.tril_indices, tenfold.triu_indices):
        for sizes in ((-1, 2), (2, -1)):
            with pytest.raises(RuntimeError, match="must be non-negative, got -1"):
                find(*sizes)
    assert tenfold.tril_indices(2, 3, 1).tolist() == [list(r) for r in np.tril_indices(2, 1, 3)]
    assert tenfold.triu_indices(3, 2, -1).tolist() == [list(r) for r in np.triu_indices(3, -1, 2)]


def test_a_grid_of_one_number():
    assert [g.shape for g in tenfold.meshgrid(tenfold.tensor(3), indexing="ij")] == [(1,)]


@pytest.mark.parametrize("wrong", [1, 1.5, None, "x"])
def test_what_is_no_tensor_among_tensors(wrong):
    with pytest.raises(TypeError, match="expected Tensor as element 1 in argument 0"):
        tenfold.meshgrid(tenfold.ones(2), wrong)
    with pytest.raises(TypeError, match="expected Tensor as element 0 in argument 0"):
        tenfold.meshgrid(wrong)


def test_vectors_of_a_grid_are_on_one_device():
    with pytest.raises(RuntimeError, match="same device"):
        tenfold.meshgrid(tenfold.ones(2), tenfold.empty(3, device="meta"), indexing="ij")


def test_what_follows_parameters_that_may_be_starred_keeps_its_place():
    class Pass(Layer):
        def handle(self, operator, args, kwargs):
            return operator(*args, **kwargs)

    a, b = tenfold.arange(2), tenfold.arange(3)
    expected = [[t.tolist() for t in tenfold.meshgrid(*given, indexing="xy")] for given in ((a, b), ([a, b],))]
    with Pass():
        assert [[t.tolist() for t in tenfold.meshgrid(*given, indexing="xy")] for given in ((a, b), ([a, b],))] == expected


def test_places_that_are_not_zero_and_numbers_that_are_real():
    x = tenfold.tensor([[0.0, 2.0], [float("nan"), 0.0]])
    assert x.argwhere().tolist() == [[0, 1], [1, 0]]
    assert tenfold.argwhere(tenfold.tensor(3)).shape == (1, 0)
    assert tenfold.tensor([1.0, 1j, complex(2, float("nan"))]).isreal().tolist() == [True, False, False]
    assert x.isreal().all()
