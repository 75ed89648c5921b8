"""scaled_dot_product_attention with every argument, against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold as tf
import tenfold.nn.functional as F

torch = pytest.importorskip("torch")
TF = torch.nn.functional
SHAPES: dict[str, tuple[Any, Any, Any]] = {
    "heads": ((2, 3, 4, 8), (2, 3, 4, 8), (2, 3, 4, 8)),
    "other lengths": ((2, 3, 4, 8), (2, 3, 6, 8), (2, 3, 6, 5)),
    "more queries than keys": ((2, 1, 5, 4), (2, 1, 3, 4), (2, 1, 3, 4)),
    "no heads": ((2, 4, 8), (2, 6, 8), (2, 6, 8)),
    "no batch": ((4, 8), (6, 8), (6, 3)),
    "broadcast": ((2, 3, 4, 8), (1, 3, 6, 8), (2, 1, 6, 8)),
    "empty batch": ((0, 3, 4, 8), (0, 3, 6, 8), (0, 3, 6, 8)),
}


def tensors(kind: str, dtype: Any) -> list[Any]:
    torch.manual_seed(4)
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in SHAPES[kind]]


@pytest.mark.parametrize("scale", [None, 0.5, 1.0])
@pytest.mark.parametrize("mask", ["none", "causal", "bool", "bool with blind queries", "float", "float with -inf", "of one row"])
@pytest.mark.parametrize("kind", SHAPES)
def test_arguments(kind: str, mask: str, scale: float | None, agree: Any) -> None:
    q, k, v = tensors(kind, torch.float64)
    T, S = q.shape[-2], k.shape[-2]
    given: dict[str, Any] = {
        "none": None,
        "causal": None,
        "bool": torch.arange(T * S).reshape(T, S) % 3 != 1,
        "bool with blind queries": (torch.arange(T) % 2 == 0).unsqueeze(1).expand(T, S),
        "float": torch.linspace(-1, 1, T * S, dtype=q.dtype).reshape(T, S).requires_grad_(),
        "float with -inf": torch.where(torch.arange(T * S).reshape(T, S) % 3 == 1, -torch.inf, 0.25).to(q.dtype),
        "of one row": torch.arange(S) % 2 == 0,
    }
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        agree(
            F.scaled_dot_product_attention, TF.scaled_dot_product_attention, q, k, v, attn_mask=given[mask],
            is_causal=mask == "causal", scale=scale,
        )  # fmt: skip


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads", [(6, 2), (4, 1), (3, 3)])
def test_grouped_queries(heads: tuple[int, int], causal: bool, agree: Any) -> None:
    q = torch.randn(2, heads[0], 4, 8, dtype=torch.float64, requires_grad=True)
    k, v = (torch.randn(2, heads[1], 5, 8, dtype=torch.float64, requires_grad=True) for _ in range(2))
    agree(F.scaled_dot_product_attention, TF.scaled_dot_product_attention, q, k, v, is_causal=causal, enable_gqa=True)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_dtypes(dtype: str, agree: Any) -> None:
    q, k, v = tensors("other lengths", getattr(torch, dtype))
    agree(F.scaled_dot_product_attention, TF.scaled_dot_product_attention, q, k, v, tolerance=4e-2 if "16" in dtype else 1e-5)


def test_dropout_drops_and_scales() -> None:
    tf.manual_seed(0)
    q, k, v = tf.zeros(1, 200, 4), tf.zeros(1, 100, 4), tf.ones(1, 100, 4)
    out = F.scaled_dot_product_attention(q, k, v, dropout_p=0.25)
    assert abs(out.mean().item() - 1) < 0.02
    assert out.std().item() > 0.01
    assert F.scaled_dot_product_attention(q, k, v, dropout_p=1.0).abs().sum().item() == 0


BAD: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "both masks": ([(2, 4, 8), (2, 6, 8), (2, 6, 8)], {"attn_mask": (4, 6), "is_causal": True}),
    "embedding sizes": ([(2, 4, 8), (2, 6, 7), (2, 6, 8)], {}),
    "lengths of key and value": ([(2, 4, 8), (2, 6, 8), (2, 5, 8)], {}),
    "one dimension": ([(8,), (6, 8), (6, 8)], {}),
    "mask of another size": ([(2, 4, 8), (2, 6, 8), (2, 6, 8)], {"attn_mask": (4, 5)}),
    "mask of more batches": ([(1, 4, 8), (1, 6, 8), (1, 6, 8)], {"attn_mask": (3, 4, 6)}),
    "mask of more dimensions": ([(2, 4, 8), (2, 6, 8), (2, 6, 8)], {"attn_mask": (3, 2, 4, 6), "dropout_p": 0.5}),
    "mask of more queries": ([(2, 1, 1, 8), (2, 1, 6, 8), (2, 1, 6, 8)], {"attn_mask": (4, 6)}),
    "mask of more heads, in groups": (
        [(1, 2, 4, 8), (1, 1, 6, 8), (1, 1, 6, 8)],
        {"attn_mask": (1, 4, 4, 6), "enable_gqa": True},
    ),
    "heads without enable_gqa": ([(2, 6, 4, 8), (2, 2, 4, 8), (2, 2, 4, 8)], {}),
    "heads that do not divide": ([(2, 6, 4, 8), (2, 4, 4, 8), (2, 4, 4, 8)], {"enable_gqa": True}),
}


@pytest.mark.parametrize("what", BAD)
def test_refusals(what: str, agree: Any) -> None:
    shapes, options = BAD[what]
    kw = {k: torch.zeros(v) if isinstance(v, tuple) else v for k, v in options.items()}
    agree(F.scaled_dot_product_attention, TF.scaled_dot_product_attention, *[torch.zeros(s) for s in shapes], **kw)


@pytest.mark.parametrize("learns", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_a_mask_of_single_precision_beside_other_tensors(dtype: str, learns: bool) -> None:
    """It says what half precision does not hold: -1e9 of all keys is no reason to see none."""
    q = np.linspace(-1, 1, 24).reshape(1, 2, 3, 4)
    mask = np.array([[0.5, -1.0, 2.0], [-1e9, -1e9, -1e9], [0.0, -np.inf, 1e-3]], "f")

    def found(t: Any, mask_dtype: Any) -> Any:
        x = t.tensor(q, dtype=getattr(t, dtype), requires_grad=learns)
        out = t.nn.functional.scaled_dot_product_attention(x, x, x, t.tensor(mask).to(mask_dtype))
        grads = t.autograd.grad(out.sum(), x) if learns else []
        return str(out.dtype).rpartition(".")[2], [v.detach().double().numpy() for v in (out, *grads)]

    (kind, values), (expected_kind, expected) = found(tf, tf.float32), found(torch, torch.float32)
    assert kind == expected_kind == dtype
    for value, other in zip(values, expected, strict=True):
        np.testing.assert_allclose(value, other, atol=1e-6 if dtype == "float64" else 2e-2)
    with pytest.raises(RuntimeError, match="Expected attn_mask dtype to be bool or float"):
        found(tf, tf.int64)


@pytest.mark.parametrize("mask", ["causal", "floats", "reversed", "full", "one line"])
def test_an_encoder_tells_its_layers_of_a_causal_mask(mask: str) -> None:
    def told(t: Any) -> list[Any]:
        causal = t.ones(3, 3, dtype=t.bool).triu(1)
        masks = {
            "causal": causal, "floats": t.zeros(3, 3).masked_fill(causal, float("-inf")), "reversed": ~causal,
            "full": t.ones(3, 3, dtype=t.bool), "one line": causal[:1],
        }  # fmt: skip
        seen: list[Any] = []

        class Listening(t.nn.Module):  # type: ignore[name-defined, misc]
            def __init__(self) -> None:
                super().__init__()
                self.self_attn = t.nn.MultiheadAttention(4, 1)

            def forward(self, x: Any, **options: Any) -> Any:
                seen.append(options["is_causal"])
                return x

        encoder = t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(4, 1, 8), 1, enable_nested_tensor=False)
        encoder.layers[0] = Listening()
        encoder(t.ones(3, 2, 4), mask=masks[mask])
        return seen

    assert told(tf) == told(torch)


@pytest.mark.parametrize("mask", ["attn_mask", "key_padding_mask"])
def test_weights_beside_a_floating_mask_have_the_dtype_of_autocast(mask):
    for m in (torch, tf):
        attention, x = m.nn.MultiheadAttention(8, 2, batch_first=True), m.ones(2, 3, 8)
        given = m.zeros((3, 3) if mask == "attn_mask" else (2, 3))
        with m.autocast("cpu", m.bfloat16):
            out, weights = attention(x, x, x, **{mask: given})
        assert out.dtype is weights.dtype is m.bfloat16
