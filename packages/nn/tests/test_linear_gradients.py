"""The three gradients of an affine map in one go are those that its rules give one by one, and seen by those who look on."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold.autograd.gradients import gradient
from tenfold.dispatch.runtime import Layer
from tenfold.nn import functional
from tenfold.nn.rules.linear import _all

SHAPES = [
    ((3, 4), (5, 4)), ((2, 3, 4), (5, 4)), ((4,), (5, 4)), ((2, 0, 4), (5, 4)), ((3, 0), (5, 0)), ((2, 3), (3,)),
    ((600, 200), (90, 200)),
]  # fmt: skip


class Watch(Layer):
    def __init__(self):
        self.names = []

    def handle(self, operator, args, kwargs):
        self.names.append(operator.name)
        return operator(*args, **kwargs)


def numbers(*shape, dtype="float64"):
    return tenfold.from_numpy(np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)).requires_grad_()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_together_and_one_by_one(shapes, dtype):
    x, w = (numbers(*shape, dtype=dtype) for shape in shapes)
    tolerance = 1e-4 if dtype == "float32" else 1e-12
    for b in (numbers(*shapes[1][:-1], dtype=dtype), numbers(1, dtype=dtype)):
        if b.dim() != len(shapes[1]) - 1 and len(shapes[1]) == 1:
            continue
        y = functional.linear(x, w, b)
        g = tenfold.from_numpy(np.random.default_rng(9).standard_normal(tuple(y.shape)).astype(dtype))
        recorded = tenfold.autograd.grad(y, (x, w, b), g, create_graph=True)
        plain = tenfold.autograd.grad(y, (x, w, b), g, retain_graph=True)
        for one, other, source in zip(plain, recorded, (x, w, b)):
            assert one.shape == other.shape == source.shape
            np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=tolerance, atol=tolerance)
        for wanted in itertools.product((False, True), repeat=3):
            leaves = [t.detach().requires_grad_(need) for t, need in zip((x, w, b), wanted)]
            if any(wanted):
                functional.linear(*leaves).backward(g)
            for leaf, need, other in zip(leaves, wanted, plain):
                assert (leaf.grad is not None) == need
                if need:
                    np.testing.assert_allclose(leaf.grad.numpy(), other.numpy(), rtol=tolerance, atol=tolerance)


def test_layers_see_the_products():
    x, w, g = (numbers(*shape).detach() for shape in ((3, 4), (5, 4), (3, 5)))
    with tenfold.no_grad(), Watch() as watch:
        seen = _all(g, x, w, (5, 4))
    assert {"mm", "matmul"} <= set(watch.names)
    with tenfold.no_grad():
        unseen = _all(g, x, w, (5, 4))
    for one, other in zip(seen[1:], unseen[1:]):
        np.testing.assert_allclose(one.numpy(), other.numpy())


def test_gradients_of_other_layouts_and_dtypes():
    x, w, b = numbers(6, 4), numbers(5, 4), numbers(5)
    g = tenfold.from_numpy(np.random.default_rng(1).standard_normal((5, 6))).t()
    y = functional.linear(x, w, b)
    for given in (g, g[:1].expand(6, 5)):
        found = tenfold.autograd.grad(y, (x, w, b), given, retain_graph=True)
        np.testing.assert_allclose(found[0].numpy(), given.numpy() @ w.detach().numpy())
        np.testing.assert_allclose(found[1].numpy(), given.numpy().T @ x.detach().numpy())
        np.testing.assert_allclose(found[2].numpy(), given.numpy().sum(0))


def test_a_rule_for_all_names_what_the_operator_has():
    with pytest.raises(TypeError, match="parameter 'nothing' is none of"):
        gradient(tenfold.op.trunc, input=lambda g: g, together=lambda g, nothing: (g,))
