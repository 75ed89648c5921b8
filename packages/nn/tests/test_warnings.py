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


SAID = {
    "norm_first was True": {"norm_first": True},
    "self_attn.batch_first was not True": {"batch_first": False},
    "self_attn was passed bias=False": {"bias": False, "nhead": 1},
    "activation_relu_or_gelu was not True": {"activation": tf.tanh},
    "self_attn.num_heads is odd": {"nhead": 1},
}


@pytest.mark.parametrize("said", SAID)
def test_an_encoder_says_why_it_does_not_pack_padded_batches(said: str) -> None:
    options = {"nhead": 2, "batch_first": True, **SAID[said]}
    with pytest.warns(UserWarning, match=f"enable_nested_tensor is True, .* because encoder_layer.{said}"):
        encoder = tf.nn.TransformerEncoder(tf.nn.TransformerEncoderLayer(4, dim_feedforward=4, **options), 1)
    assert not encoder.use_nested_tensor


@pytest.mark.filterwarnings("error")
def test_an_encoder_that_packs_says_nothing() -> None:
    layer = tf.nn.TransformerEncoderLayer(4, 2, 4, batch_first=True)
    assert tf.nn.TransformerEncoder(layer, 1).use_nested_tensor
    assert not tf.nn.TransformerEncoder(tf.nn.TransformerEncoderLayer(4, 2, 4), 1, enable_nested_tensor=False).use_nested_tensor
