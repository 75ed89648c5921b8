"""`autograd.grad` by the native walk: the gradients of the leaves that are asked for, which are no leaf's `.grad`."""

from __future__ import annotations

import numpy as np
import pytest
from compared_calls import watchers
from test_walk import GRAPHS, POSSIBLE, Own, bits, by_engine, leaves, walks

import tenfold
from tenfold import nn
from tenfold.autograd.graph import get_gradient_edge

pytestmark = pytest.mark.skipif(not POSSIBLE, reason="call paths are native from Python 3.12 on, where nobody has said no")
grad = tenfold.autograd.grad
__all__ = ["walks"]


def used(result, given):
    found = grad(result, given, allow_unused=True, retain_graph=True)
    return [x for x, g in zip(given, found, strict=True) if g is not None]


@pytest.mark.parametrize("name", GRAPHS)
def test_gradients_of_all_leaves_are_the_engines(name, walks, monkeypatch):
    def run():
        given = leaves()
        result = GRAPHS[name](*given)
        asked = used(result, given)
        walks.clear()
        found = grad(result, asked)
        assert all(x.grad is None for x in given)
        return [bits(g) for g in found]

    found = run()
    assert walks == [True]
    assert found == by_engine(monkeypatch, run)
    assert found


def test_a_leaf_that_is_not_asked_for_is_left_to_the_engine(walks, monkeypatch):
    a, b = leaves()[:2]
    (found,) = grad((a * b).sum(), a)
    assert walks == [NotImplemented]
    assert bits(found) == by_engine(monkeypatch, lambda: bits(grad((a * b).sum(), a)[0]))
    assert a.grad is b.grad is None


def test_what_is_no_leaf_is_left_to_the_engine(walks):
    a, b = leaves()[:2]
    c = a * b
    assert (grad(c.sum(), c)[0] == 1).all()
    assert [bits(g) for g in grad((c * c).sum(), [c, a, b])][1:] == [bits(g) for g in grad(((a * b) * (a * b)).sum(), [a, b])]
    assert walks == [NotImplemented, NotImplemented, True]


def test_one_asked_for_twice_or_by_its_edge(walks):
    a, b = leaves()[:2]
    x, y, z = grad((a * b).sum(), [a, b, a])
    assert bits(x) == bits(z) == bits(b.detach())
    assert bits(y) == bits(a.detach())
    assert bits(grad((a * b).sum(), [get_gradient_edge(a), b])[0]) == bits(x)
    assert walks == [True, True]


def test_unused_inputs_are_told_and_filled(walks):
    a, b, c = leaves()[:3]
    with pytest.raises(RuntimeError, match="not have been used"):
        grad((a * b).sum(), [a, b, c])
    assert grad((a * b).sum(), [a, b, c], allow_unused=True)[2] is None
    assert (grad((a * b).sum(), [a, b, c], materialize_grads=True)[2] == 0).all()
    assert walks == [True] * 3


def test_a_leaf_is_its_own_gradients_place(walks):
    a = leaves()[0]
    g = tenfold.ones(4, 4)
    assert grad(a, a, g)[0] is g
    assert walks == [True]


def test_hooks_of_leaves_change_what_is_found(walks, monkeypatch):
    def run():
        a, b = leaves()[:2]
        a.register_hook(lambda g: g * 3)
        return [bits(g) for g in grad((a * b).sum(), [a, b])]

    assert run() == by_engine(monkeypatch, run)
    assert walks == [NotImplemented]


def test_hooks_that_come_meanwhile_are_run(walks):
    a, b = leaves()[:2]

    class Hooking(tenfold.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            a.register_hook(lambda g: g * 3)
            return g

    found = grad(Hooking.apply(a * b).sum(), [a, b])
    assert bits(found[0]) == bits(b.detach() * 3)
    assert bits(found[1]) == bits(a.detach())
    assert walks == [True]


def test_errors_leave_nothing_behind(walks):
    a, b = leaves()[:2]

    class Failing(tenfold.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        grad(Failing.apply(a * b).sum(), [a, b])
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        grad(a * b, [a, b], tenfold.ones(4))
    with pytest.raises(TypeError, match="Tensors or None"):
        grad(a * b, [a, b], [1.0])
    with pytest.raises(RuntimeError, match="scalar outputs"):
        grad(a * b, [a, b])
    y = (a * b).sum()
    grad(y, [a, b])
    with pytest.raises(RuntimeError, match="second time"):
        grad(y, [a, b])
    with pytest.raises(RuntimeError, match="does not require grad"):
        grad((a * b).sum(), [a, tenfold.ones(2)])
    assert a.grad is b.grad is None


def test_given_gradients_of_another_dtype_or_kind(walks):
    a, b = leaves()[:2]
    assert grad(a * b, [a, b], tenfold.ones(4, 4, dtype=tenfold.float64))[0].dtype is tenfold.float32
    found = grad(a * b, [a, b], tenfold.ones(4, 4).as_subclass(Own))[0]
    assert np.array_equal(found.numpy(), b.detach().numpy())
    layer = nn.Linear(4, 2)
    assert [g.shape for g in grad(layer(a).sum(), [*layer.parameters(), a])] == [(2, 4), (2,), (4, 4)]
    assert grad((a * b).sum(), [a, b], create_graph=True)[0].requires_grad


def test_subclasses_and_modes_see_the_call(walks):
    Told, Mode, seen = watchers()
    a, b = leaves()[:2]
    y = (a * b).sum()
    grad(y, [a.as_subclass(Told), b], allow_unused=True, retain_graph=True)
    assert grad in seen
    seen.clear()
    with Mode():
        grad(y, [a, b])
    assert seen == [grad]
