"""The views that rules of products make are the same numbers, and seen by those who look on."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.autograd.rules.passing import as_rows, is_unseen, turned
from tenfold.dispatch.runtime import Layer

SHAPES = [
    ((3, 4), (4, 5)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((0, 4), (4, 5)),
    ((3, 0), (0, 5)),
]


class Watch(Layer):
    def __init__(self):
        self.names = []

    def handle(self, operator, args, kwargs):
        self.names.append(operator.name)
        return operator(*args, **kwargs)


def numbers(shape):
    return tenfold.from_numpy(np.random.default_rng(len(shape)).standard_normal(shape)).requires_grad_()


@pytest.mark.parametrize("shapes", SHAPES)
def test_gradients_of_products_are_those_of_a_recorded_pass(shapes):
    a, b = map(numbers, shapes)
    y = a @ b
    g = tenfold.from_numpy(np.random.default_rng(9).standard_normal(tuple(y.shape)))
    plain = tenfold.autograd.grad(y, (a, b), g, retain_graph=True)
    recorded = tenfold.autograd.grad(y, (a, b), g, create_graph=True)
    for one, other in zip(plain, recorded):
        assert one.shape == other.shape
        np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=1e-12)


def test_views_are_accounted_for_where_they_can_be_seen():
    x = numbers((2, 3))
    assert not is_unseen(x)  # a graph could have it
    assert turned(x).grad_fn is not None
    with tenfold.no_grad():
        assert is_unseen(x)
        assert turned(x)._storage is None
        assert turned(x).tolist() == x.t().tolist()
        assert as_rows(numbers((2, 3, 4))).shape == (6, 4)
        assert as_rows(x) is x
        assert as_rows(numbers((3,))).shape == (1, 3)
        with Watch() as watch:
            assert not is_unseen(x)
            assert turned(x)._base is x
            assert as_rows(numbers((2, 3, 4)))._base is not None
        assert "transpose" in watch.names
    rows = tenfold.func.vmap(lambda row: tenfold.func.grad(lambda v: (v @ v.t()).sum())(row))(tenfold.ones(2, 3, 4))
    assert rows.tolist() == [[[6.0] * 4] * 3] * 2


def test_writes_to_temporary_views_search_for_no_other_views(monkeypatch):
    """The garbage collector's list of all objects takes milliseconds: a loop that fills a buffer must not ask for it."""

    def searched(*objects):
        raise AssertionError("gc.get_referrers was called")

    monkeypatch.setattr("gc.get_referrers", searched)
    x, buffer = tenfold.arange(3.0).requires_grad_(), tenfold.zeros(4, 3)
    for row in range(4):
        buffer[row] = x * row
    buffer[:, 1] *= 2
    buffer.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0, 6.0]
