"""Layer norm of few short rows, which are normalized by products with small matrices."""

from __future__ import annotations

import math

import pytest

import tenfold as tf
from tenfold.nn.functional import layer_norm

pytest.importorskip("tenfold.autograd")
SHAPES = [(8,), (4, 8), (2, 3, 5), (3, 1), (5, 24), (5, 25)]  # the last one is too wide


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_are_the_formulas(shape, dtype):
    """The same numbers with and without a gradient, and those of the formula in float64."""
    x = tf.linspace(-3, 5, math.prod(shape), dtype=tf.float64).sin().reshape(shape) * 10
    weight, bias = (tf.linspace(first, 2, shape[-1], dtype=tf.float64) for first in (-1, 0))
    deviation = x - x.mean(-1, keepdim=True)
    wanted = deviation / ((deviation * deviation).mean(-1, keepdim=True) + 1e-5).sqrt() * weight + bias
    x, weight, bias = x.to(dtype), weight.to(dtype), bias.to(dtype)
    found = layer_norm(x, shape[-1:], weight, bias)
    assert found.dtype is dtype
    recorded = layer_norm(x.requires_grad_(), shape[-1:], weight, bias)
    assert (recorded.detach() == found).all()
    near = 1e-5 if dtype is tf.float32 else 1e-12
    tf.testing.assert_close(found.double(), wanted, rtol=near, atol=near)


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("value", [0.1, 1000.3, -1e7])
def test_equal_elements_become_zero(value, grad):
    for width in range(1, 26):
        x = tf.full((4, width), value, requires_grad=grad)
        assert (layer_norm(x, (width,)) == 0).all()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_stays_in_its_row(bad):
    x = tf.arange(32.0).reshape(4, 8)
    wanted = layer_norm(x, (8,))
    x[1, 3] = bad
    found = layer_norm(x, (8,))
    assert found[1].isnan().all()
    assert (found[[0, 2, 3]] == wanted[[0, 2, 3]]).all()


def test_weights_of_another_size_are_refused():
    with pytest.raises(RuntimeError, match="weight to be of same shape"):
        layer_norm(tf.ones(4, 8), (8,), tf.ones(9))
    with pytest.raises(RuntimeError, match="bias to be of same shape"):
        layer_norm(tf.ones(4, 8), (8,), tf.ones(8), tf.ones(1, 8))
