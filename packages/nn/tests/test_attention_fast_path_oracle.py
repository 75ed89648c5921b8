"""Attention and encoders for inference beside PyTorch's: padded batches, masks, nested batches."""

import copy

import numpy as np
import pytest

import tenfold
from tenfold import nn
from tenfold.nn.layers.attention import fast_path

torch = pytest.importorskip("torch")
pytest.importorskip("tenfold.nested")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's: its nested tensors are a prototype

PADDINGS = {
    "none": None,
    "aligned": [[0, 0, 0, 0, 0], [0, 0, 0, 1, 1], [0, 1, 1, 1, 1]],
    "all shorter": [[0, 0, 0, 0, 1], [0, 0, 0, 1, 1], [0, 1, 1, 1, 1]],
    "with holes": [[0, 1, 0, 0, 0], [0, 0, 0, 1, 1], [0, 1, 1, 1, 1]],
}


def crossed(x):
    return None if x is None else tenfold.from_numpy(x.detach().numpy().copy())


def encoders(**options):
    torch.manual_seed(3)
    theirs = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dtype=torch.float64, **options)
    ours = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dtype=tenfold.float64, **options)
    both = [torch.nn.TransformerEncoder(theirs, 2).eval(), nn.TransformerEncoder(ours, 2).eval()]
    both[1].load_state_dict({name: crossed(v) for name, v in both[0].state_dict().items()})
    return both


@pytest.mark.parametrize("nested", [True, False], ids=["nested", "without tenfold-nested"])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("options", [{}, {"activation": "gelu"}, {"norm_first": True}], ids=str)
def test_encoders_give_padding_what_pytorch_gives_it(options, padding, nested, monkeypatch):
    monkeypatch.setattr(fast_path, "has_nested", lambda: nested)
    theirs, ours = encoders(**options)
    x = torch.randn(3, 5, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    mask = None if PADDINGS[padding] is None else torch.tensor(PADDINGS[padding]).bool()
    with torch.no_grad(), tenfold.no_grad():
        wanted, found = theirs(x, src_key_padding_mask=mask), ours(crossed(x), src_key_padding_mask=crossed(mask))
    assert tenfold.allclose(found, crossed(wanted), rtol=1e-9, atol=1e-12)
    assert ours.use_nested_tensor == theirs.use_nested_tensor


def test_where_gradients_are_recorded_padding_is_computed():
    theirs, ours = encoders()
    x = torch.randn(3, 5, 8, dtype=torch.float64)
    mask = torch.tensor(PADDINGS["aligned"]).bool()
    wanted, found = theirs(x, src_key_padding_mask=mask), ours(crossed(x), src_key_padding_mask=crossed(mask))
    assert tenfold.allclose(found.detach(), crossed(wanted), rtol=1e-9, atol=1e-12)
    assert found.requires_grad


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("with_mask", [True, False])
def test_attention_to_itself_with_its_weights(with_mask, average):
    torch.manual_seed(5)
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64).eval()
    ours = nn.MultiheadAttention(8, 2, batch_first=True, dtype=tenfold.float64).eval()
    ours.load_state_dict({name: crossed(v) for name, v in theirs.state_dict().items()})
    x = torch.randn(3, 5, 8, dtype=torch.float64)
    pattern = torch.triu(torch.ones(5, 5), 1).bool() if with_mask else None
    padding = torch.tensor(PADDINGS["aligned"]).bool()
    with torch.no_grad(), tenfold.no_grad():
        options = {"average_attn_weights": average}
        wanted = theirs(x, x, x, attn_mask=pattern, key_padding_mask=padding, **options)
        y = crossed(x)
        found = ours(y, y, y, attn_mask=crossed(pattern), key_padding_mask=crossed(padding), **options)
    for a, b in zip(found, wanted):
        assert tenfold.allclose(a, crossed(b), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_attention_of_nested_batches_is_that_of_their_rows(layout):
    attention = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    rows = [tenfold.randn(n, 8) for n in (4, 1, 3)]
    x = tenfold.nested.nested_tensor(rows, layout=getattr(tenfold, layout))
    with tenfold.no_grad():
        output, weights = attention(x, x, x)
        for i, (row, got) in enumerate(zip(rows, output.unbind())):
            alone, of_row = attention(row, row, row)
            assert tenfold.allclose(got, alone, atol=1e-6)
            assert tenfold.allclose(weights[i, : len(row), : len(row)], of_row, atol=1e-6)
    with pytest.raises(AssertionError, match=r"does not support NestedTensor outside of its fast path.*grad is enabled"):
        attention(x, x, x)


@pytest.mark.parametrize("kind", ["padding", "pattern", "both"])
@pytest.mark.parametrize("learns", [False, True])
def test_what_sees_no_key_is_nan_in_inference(kind, learns):
    found = []
    for lib in (tenfold, torch):
        lib.manual_seed(0)
        layer = lib.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
        padding, pattern = lib.zeros(2, 3, dtype=lib.bool), lib.zeros(3, 3, dtype=lib.bool)
        if kind != "pattern":
            padding[1] = True
        if kind != "padding":
            pattern[2] = True
        masks = {"src_key_padding_mask": padding} if kind == "padding" else {"src_mask": pattern}
        masks |= {"src_key_padding_mask": padding} if kind == "both" else {}
        with lib.set_grad_enabled(learns):
            found.append(layer(lib.ones(2, 3, 4), **masks).isnan().tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_the_first_bias_may_have_another_dtype_in_inference(dtype):
    found = []
    for lib in (tenfold, torch):
        attention = lib.nn.MultiheadAttention(4, 2, batch_first=True).eval()
        for parameter in attention.parameters():
            parameter.detach().fill_(0.25)
        attention.in_proj_bias = lib.nn.Parameter(attention.in_proj_bias.to(getattr(lib, dtype)))
        x = lib.arange(24.0).view(2, 3, 4) / 24
        with lib.no_grad():
            found.append(attention(x, x, x)[0].numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


@pytest.mark.parametrize("activation", ["relu", "gelu", "module", "other"])
def test_which_activation_the_fast_path_knows(activation: str) -> None:
    """A program reads it, and sets it to 0 to leave the fast path."""
    codes = []
    for lib in (tenfold, torch):
        chosen = {"module": lib.nn.GELU(), "other": lib.nn.functional.silu}.get(activation, activation)
        layer = lib.nn.TransformerEncoderLayer(4, 2, 8, activation=chosen)
        codes.append([layer.activation_relu_or_gelu])
        layer.activation_relu_or_gelu = 0
        codes[-1] += [layer.activation_relu_or_gelu, copy.deepcopy(layer).activation_relu_or_gelu]
    assert codes[0] == codes[1]


def test_code_zero_leaves_the_fast_path() -> None:
    layer, x = tenfold.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval(), tenfold.rand(1, 3, 4)
    with tenfold.no_grad():
        assert layer._is_fast(x, None, None)
        layer.activation_relu_or_gelu = 0
        assert not layer._is_fast(x, None, None)
