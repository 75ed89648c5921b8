"""What warns: arguments left out whose meaning has changed, and masks of two types."""

from __future__ import annotations

import pytest

import tenfold as tf
import tenfold.nn.functional as F


def test_places_without_align_corners() -> None:
    with pytest.warns(UserWarning, match="affine_grid: align_corners was not given"):
        grid = F.affine_grid(tf.eye(2, 3).unsqueeze(0), (1, 1, 2, 2))
    with pytest.warns(UserWarning, match="grid_sample: align_corners was not given"):
        got = F.grid_sample(tf.arange(4.0).view(1, 1, 2, 2), grid)
    assert got.tolist() == F.grid_sample(tf.arange(4.0).view(1, 1, 2, 2), grid, align_corners=False).tolist()


def test_masks_of_two_types() -> None:
    attention, x = tf.nn.MultiheadAttention(4, 2, batch_first=True), tf.ones(1, 2, 4)
    padding = tf.tensor([[False, True]])
    with pytest.warns(UserWarning, match="mismatched key_padding_mask and attn_mask"):
        got, _ = attention(x, x, x, key_padding_mask=padding, attn_mask=tf.zeros(2, 2))
    same, _ = attention(x, x, x, key_padding_mask=padding, attn_mask=tf.zeros(2, 2, dtype=tf.bool))
    assert got.tolist() == same.tolist()
