"""Names of PyTorch's own files that programs import for layers of their own."""

from __future__ import annotations

import importlib

import pytest

import tenfold
from tenfold import nn
from tenfold.nn import functional as F


@pytest.mark.parametrize(
    "path",
    [
        "common_types._size_2_t",
        "common_types._ratio_2_t",
        "modules.conv._pair",
        "modules.conv._size_2_t",
        "modules.conv._reverse_repeat_tuple",
        "modules.conv.Parameter",
        "modules.batchnorm.Module",
        "modules.pooling._size_any_t",
        "modules.padding._quadruple",
        "modules.linear.init",
        "modules.linear.F",
        "modules.rnn.PackedSequence",
        "modules.rnn.apply_permutation",
        "modules.loss._Reduction",
        "functional._Reduction",
        "functional._pair",
        "functional.has_torch_function",
        "functional.GRID_SAMPLE_PADDING_MODES",
        "utils.init.skip_init",
        "utils.memory_format.convert_conv2d_weight_memory_format",
        "utils.clip_grad._get_total_norm",
        "attention.bias.CausalBias",
    ],
)
def test_can_be_imported(path: str) -> None:
    module, _, name = path.rpartition(".")
    assert getattr(importlib.import_module(f"tenfold.nn.{module}"), name) is not None


def test_a_transformers_helpers() -> None:
    transformer = importlib.import_module("tenfold.nn.modules.transformer")
    layer = nn.Linear(2, 2)
    copies = transformer._get_clones(layer, 3)
    assert isinstance(copies, nn.ModuleList)
    assert len(copies) == 3
    assert copies[0].weight is not layer.weight
    assert transformer._get_activation_fn("gelu") is F.gelu
    with pytest.raises(RuntimeError, match="activation should be relu/gelu, not x"):
        transformer._get_activation_fn("x")
    assert importlib.import_module("tenfold.nn.modules.module")._addindent("a\nb", 4) == "a\n    b"


def test_numbers_of_reductions() -> None:
    reduction = importlib.import_module("tenfold.nn._reduction")
    assert [reduction.get_enum(name) for name in ("none", "mean", "sum")] == [0, 1, 2]
    with pytest.raises(ValueError, match="bad is not a valid value for reduction"):
        reduction.get_enum("bad")
    with pytest.warns(UserWarning, match="reduction='mean' instead"):
        assert reduction.get_enum("elementwise_mean") == 1
    with pytest.warns(UserWarning, match="reduction='none' instead"):
        assert reduction.legacy_get_enum(None, False) == 0


def test_projections_and_masks_of_attention() -> None:
    q, k, w, b = tenfold.randn(3, 1, 2), tenfold.randn(4, 1, 2), tenfold.randn(6, 2), tenfold.randn(6)
    together = F._in_projection_packed(q, k, k, w, b)
    apart = F._in_projection(q, k, k, *w.chunk(3), *b.chunk(3))
    assert all(tenfold.allclose(x, y) for x, y in zip(together, apart, strict=True))
    same = F._in_projection_packed(q, q, q, w)
    assert tenfold.allclose(same[1], F.linear(q, w[2:4]))
    mask = F._canonical_mask(tenfold.tensor([True, False]), "attn_mask", None, "key_padding_mask", tenfold.float32)
    assert mask.tolist() == [float("-inf"), 0.0]
    with pytest.raises(AssertionError, match="only bool and floating types of attn_mask are supported"):
        F._canonical_mask(tenfold.tensor([1]), "attn_mask", None, "", tenfold.float32)
    with pytest.warns(UserWarning, match="Support for mismatched"):
        F._canonical_mask(tenfold.zeros(1), "attn_mask", tenfold.bool, "key_padding_mask", tenfold.float32)
    assert F._none_or_dtype(None) is None
    assert F._none_or_dtype(q) is tenfold.float32
    with pytest.raises(RuntimeError):
        F._none_or_dtype(3)


def test_sizes_that_training_refuses() -> None:
    F._verify_batch_size([2, 3])
    F._verify_spatial_size([1, 3, 2])
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        F._verify_batch_size([1, 3, 1])
    with pytest.raises(ValueError, match="Expected more than 1 spatial element when training"):
        F._verify_spatial_size([2, 3, 1])
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        assert F._get_softmax_dim("softmax", 2, 2) == 1


def test_an_unknown_name_is_missing() -> None:
    with pytest.raises(AttributeError, match="_nothing"):
        F._nothing


def test_container_is_deprecated() -> None:
    with pytest.warns(FutureWarning, match="is deprecated"):
        container = nn.Container(a=nn.ReLU())
    assert repr(container) == "Container(\n  (a): ReLU()\n)"


def test_factory_kwargs() -> None:
    assert nn.factory_kwargs(None) == {}
    assert nn.factory_kwargs({"dtype": 1, "factory_kwargs": {"device": 2}}) == {"dtype": 1, "device": 2}
    with pytest.raises(TypeError, match="unexpected kwargs"):
        nn.factory_kwargs({"x": 1})
    with pytest.raises(TypeError, match="dtype specified twice"):
        nn.factory_kwargs({"dtype": 1, "factory_kwargs": {"dtype": 2}})


def test_weights_of_convolutions_in_another_format() -> None:
    net = nn.Sequential(nn.Conv2d(2, 3, 2), nn.ConvTranspose2d(3, 2, 2), nn.Conv3d(2, 3, 2))
    assert nn.utils.convert_conv2d_weight_memory_format(net, tenfold.channels_last) is net
    assert net[0].weight.is_contiguous(memory_format=tenfold.channels_last)
    assert net[1].weight.is_contiguous(memory_format=tenfold.channels_last)
    assert net[2].weight.is_contiguous()
    nn.utils.convert_conv3d_weight_memory_format(net, tenfold.channels_last_3d)
    assert net[2].weight.is_contiguous(memory_format=tenfold.channels_last_3d)
    assert isinstance(net[2].weight, nn.Parameter)


def test_subclasses_of_recurrent_layers_change_their_checks() -> None:
    asked = []

    class Told(nn.LSTM):
        def check_forward_args(self, input, hidden, batch_sizes):  # type: ignore[no-untyped-def]
            asked.append((tuple(input.shape), len(hidden), batch_sizes))
            super().check_forward_args(input, hidden, batch_sizes)

        def permute_hidden(self, hx, permutation):  # type: ignore[no-untyped-def]
            asked.append("permuted")
            return super().permute_hidden(hx, permutation)

    layer = Told(2, 3, num_layers=2, batch_first=True)
    states = tenfold.zeros(2, 4, 3), tenfold.zeros(2, 4, 3)
    layer(tenfold.ones(4, 5, 2), states)
    assert asked == [((4, 5, 2), 2, None)]
    packed = nn.utils.rnn.pack_sequence([tenfold.ones(n, 2) for n in (1, 3)], enforce_sorted=False)
    layer(packed)
    assert asked[1:] == ["permuted"]
    assert layer.get_expected_hidden_size(tenfold.ones(4, 5, 2), None) == (2, 4, 3)
    with pytest.raises(RuntimeError, match=r"Expected hidden\[1\] size \(2, 4, 3\), got \[2, 4, 1\]"):
        layer(tenfold.ones(4, 5, 2), (states[0], tenfold.zeros(2, 4, 1)))
    with pytest.raises(RuntimeError, match="input must have 3 dimensions, got 2"):
        layer.check_input(tenfold.ones(4, 2), None)
    assert layer.permute_hidden(states, None) is states


def test_causal_masks_of_two_lengths() -> None:
    bias = importlib.import_module("tenfold.nn.attention.bias")
    q, k = tenfold.randn(1, 2, 3, 4), tenfold.randn(1, 2, 5, 4)
    upper = F.scaled_dot_product_attention(q, k, k, attn_mask=bias.causal_upper_left(3, 5))
    assert type(upper) is tenfold.Tensor
    assert tenfold.allclose(upper, F.scaled_dot_product_attention(q, k, k, is_causal=True))
    lower = F.scaled_dot_product_attention(q, k, k, attn_mask=bias.causal_lower_right(3, 5))
    assert tenfold.allclose(lower[:, :, -1:], F.scaled_dot_product_attention(q[:, :, -1:], k, k), atol=1e-6)
    with pytest.raises(AssertionError, match="only supports 2D"):
        bias.causal_lower_right(3)


def test_merged_masks_of_attention() -> None:
    attention, query = nn.MultiheadAttention(4, 2), tenfold.ones(3, 5, 4)
    pattern, padding = tenfold.zeros(5, 5, dtype=tenfold.bool), tenfold.ones(3, 5, dtype=tenfold.bool)
    assert attention.merge_masks(None, None, query) == (None, None)
    assert attention.merge_masks(None, padding, query) == (padding, 1)
    mask, kind = attention.merge_masks(pattern, None, query)
    assert (tuple(mask.shape), kind) == ((3, 2, 5, 5), 2)
    mask, _ = attention.merge_masks(pattern, padding, query)
    assert bool(mask.all())
