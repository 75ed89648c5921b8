"""`Variable(x)` is the tensor x as a leaf."""

from __future__ import annotations

import pytest

import tenfold as tf
from tenfold.autograd import Variable


def test_a_variable_is_the_tensor_as_a_leaf() -> None:
    x = tf.ones(2, dtype=tf.float64)
    leaf = Variable(x, requires_grad=True)
    assert isinstance(leaf, Variable)
    assert leaf.dtype is tf.float64
    assert leaf.requires_grad
    assert not x.requires_grad
    assert leaf.data_ptr() == x.data_ptr()


def test_what_is_no_tensor_is_refused() -> None:
    with pytest.raises(TypeError, match="Variable data has to be a tensor"):
        Variable([1.0])
