"""How the result of an attention lies in memory: as the queries do, so that what joins the heads needs no copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.nn.attention import bias as tenfold_bias

torch = pytest.importorskip("torch")
torch_bias = pytest.importorskip("torch.nn.attention.bias")

B, H, T, E = 2, 3, 5, 4
LAYOUTS = {
    "heads beside one another": lambda lib: lib.ones(B, T, H, E).transpose(1, 2),
    "packed": lambda lib: lib.ones(B, T, 3, H, E)[:, :, 1].transpose(1, 2),
    "rows first": lambda lib: lib.ones(T, B, H, E).permute(1, 2, 0, 3),
    "contiguous": lambda lib: lib.ones(B, H, T, E),
    "width outside": lambda lib: lib.ones(B, H, E, T).transpose(2, 3),
    "expanded": lambda lib: lib.ones(1, T, H, E).transpose(1, 2).expand(B, H, T, E),
    "three dimensions": lambda lib: lib.ones(T, H, E).transpose(0, 1),
}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_strides(layout: str, recorded: bool) -> None:
    found = []
    for lib in (tenfold, torch):
        query: Any = LAYOUTS[layout](lib).requires_grad_(recorded)
        key = lib.ones(query.shape)
        found.append(lib.nn.functional.scaled_dot_product_attention(query, key, key))
    assert found[0].stride() == found[1].stride()
    torch.testing.assert_close(torch.tensor(found[0].tolist()), found[1].detach())


def test_values_of_other_widths_lie_row_by_row() -> None:
    query = tenfold.ones(B, T, H, E).transpose(1, 2)
    found = tenfold.nn.functional.scaled_dot_product_attention(query, query, tenfold.ones(B, H, T, E + 2))
    assert found.is_contiguous()


def test_heads_are_joined_by_a_view() -> None:
    query = tenfold.ones(B, T, H, E).transpose(1, 2)
    found = tenfold.nn.functional.scaled_dot_product_attention(query, query, query)
    assert found.transpose(1, 2).view(B, T, H * E).shape == (B, T, H * E)


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_a_causal_mask_beside_another_one(kind):
    """Both hold for four dimensions without dropout; else it is an error."""
    x, mask = np.sin(np.arange(64.0)).reshape(1, 2, 4, 8), np.cos(np.arange(16.0)).reshape(4, 4)
    found = []
    for m in (torch, tenfold):
        q = m.tensor(x, requires_grad=True)
        given = m.tensor(mask > -0.5 if kind == "bool" else mask)
        out = m.nn.functional.scaled_dot_product_attention(q, q, q, given, is_causal=True)
        out.sin().sum().backward()
        found.append((out.detach().numpy(), q.grad.numpy()))
        with pytest.raises(RuntimeError, match="Explicit attn_mask should not be set"):
            m.nn.functional.scaled_dot_product_attention(q[0], q[0], q[0], given, is_causal=True)
    for theirs, ours in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


def _both_masks(m, case):
    x = m.ones(1, 2, 4, 8)
    mask = m.ones(4, 4, requires_grad=case == "a gradient of the mask")
    value = m.ones(1, 2, 4, 6) if case == "values of another size" else x
    query = m.ones(1, 2, 8, 4).mT if case == "columns" else m.ones(2, 2, 4, 8) if case == "batches" else x
    query = x[:, :1] if case == "heads" else query
    mask = mask.expand(1, 4, 4) if case == "three dimensions" else mask
    chosen = m.nn.attention.SDPBackend
    choice = [chosen.MATH] if case == "mathematics" else [chosen.MATH, chosen.FLASH_ATTENTION]
    with m.nn.attention.sdpa_kernel(choice):
        return m.nn.functional.scaled_dot_product_attention(query, x, value, mask, is_causal=True)


@pytest.mark.parametrize(
    "case", ["a gradient of the mask", "values of another size", "columns", "three dimensions", "mathematics", "batches", "heads"]
)
def test_what_takes_no_causal_mask_beside_another_one(case):
    for m in (torch, tenfold):
        with pytest.raises(RuntimeError, match="Explicit attn_mask should not be set"):
            _both_masks(m, case)


def test_a_causal_bias_is_a_causal_mask_already():
    for m, bias in ((torch, torch_bias), (tenfold, tenfold_bias)):
        x = m.ones(1, 2, 4, 8)
        for place in ({"is_causal": True}, {"dropout_p": 0.0, "is_causal": True}):
            with pytest.raises(ValueError, match="CausalBias should not be used with causal=True"):
                m.nn.functional.scaled_dot_product_attention(x, x, x, bias.causal_upper_left(4, 4), **place)
        with pytest.raises(ValueError, match="CausalBias should not be used with causal=True"):
            m.nn.functional.scaled_dot_product_attention(x, x, x, bias.causal_upper_left(4, 4), 0.0, True)
