"""Convolution by hand: small integers whose sums are written out."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold as tf
import tenfold.nn.functional as F


def test_the_kernel_is_not_turned_round() -> None:
    x = tf.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    w = tf.tensor([[[1.0, 10.0]]])
    assert F.conv1d(x, w).tolist() == [[[21.0, 32.0, 43.0]]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"stride": 2}, [21, 43]),
        ({"padding": 1}, [10, 21, 32, 43, 4]),
        ({"dilation": 2}, [31, 42]),
        ({"padding": "same"}, [21, 32, 43, 4]),
    ],
)
def test_steps(options: Any, expected: list[int]) -> None:
    x, w = tf.tensor([[[1.0, 2.0, 3.0, 4.0]]]), tf.tensor([[[1.0, 10.0]]])
    assert F.conv1d(x, w, **options).tolist() == [[expected]]


def test_groups_see_their_own_channels() -> None:
    x = tf.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    w = tf.tensor([[[1.0]], [[10.0]]])
    assert F.conv1d(x, w, tf.tensor([0.5, 0.0]), groups=2).tolist() == [[[1.5, 2.5], [30.0, 40.0]]]


def test_transposed_spreads_every_element() -> None:
    x, w = tf.tensor([[[1.0, 2.0]]]), tf.tensor([[[1.0, 10.0, 100.0]]])
    assert F.conv_transpose1d(x, w).tolist() == [[[1.0, 12.0, 120.0, 200.0]]]
    assert F.conv_transpose1d(x, w, stride=2, output_padding=1).tolist() == [[[1.0, 10.0, 102.0, 20.0, 200.0, 0.0]]]


def test_two_dimensions() -> None:
    x = tf.arange(9.0).view(1, 1, 3, 3)
    w = tf.tensor([[[[1.0, 0.0], [0.0, 1.0]]]])
    assert F.conv2d(x, w).tolist() == [[[[4.0, 6.0], [10.0, 12.0]]]]
    assert tf.op.convolution.body(x, w, None, (1, 1), (0, 0), (1, 1), False, (0, 0), 1).tolist() == F.conv2d(x, w).tolist()


def test_gradients() -> None:
    x = tf.tensor([[[1.0, 2.0, 3.0]]], requires_grad=True)
    w = tf.tensor([[[1.0, 10.0]]], requires_grad=True)
    b = tf.tensor([0.0], requires_grad=True)
    F.conv1d(x, w, b).backward(tf.tensor([[[1.0, 5.0]]]))
    assert x.grad.tolist() == [[[1.0, 15.0, 50.0]]]
    assert w.grad.tolist() == [[[11.0, 17.0]]]
    assert b.grad.tolist() == [6.0]


def test_shapes_without_data() -> None:
    x, w = tf.empty(2, 3, 8, 8, device="meta"), tf.empty(5, 3, 3, 3, device="meta")
    assert F.conv2d(x, w, stride=2).shape == (2, 5, 3, 3)


def test_errors_say_what_was_got() -> None:
    with pytest.raises(RuntimeError, match=r"conv2d: .*to have 4 channels, but got 3 channels"):
        F.conv2d(tf.ones(1, 3, 5, 5), tf.ones(2, 4, 3, 3))
    with pytest.raises(RuntimeError, match=r"Expected 3D .* or 4D .* input to conv2d"):
        F.conv2d(tf.ones(5, 5), tf.ones(2, 4, 3, 3))
    with pytest.raises(RuntimeError, match="same dtype"):
        F.conv2d(tf.ones(1, 3, 5, 5, dtype=tf.float64), tf.ones(2, 3, 3, 3))
    with pytest.raises(RuntimeError, match="Kernel size can't be greater"):
        F.conv2d(tf.ones(1, 3, 2, 2), tf.ones(2, 3, 3, 3))
