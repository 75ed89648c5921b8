"""A program that replaces `nn.functional.multi_head_attention_forward` is asked by the layers, as in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

LAYERS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"batch_first": True}, {}),
    ({"batch_first": True}, {"need_weights": False}),
    ({"batch_first": True}, {"average_attn_weights": False}),
    ({"kdim": 8, "vdim": 8, "bias": False}, {}),
    ({"kdim": 6, "vdim": 4, "add_bias_kv": True, "batch_first": True}, {}),
    ({"add_zero_attn": True, "dropout": 0.25}, {}),
]


def calls_of(lib: Any, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], told: dict[str, Any], dims: int) -> Any:
    seen: list[Any] = []
    own = lib.nn.functional.multi_head_attention_forward

    def replaced(*given: Any, **named: Any) -> Any:
        shapes = [tuple(x.shape) if hasattr(x, "shape") else x for x in given]
        seen.append((shapes, given[0] is given[1], {k: tuple(v.shape) if hasattr(v, "shape") else v for k, v in named.items()}))
        out, weights = own(*given, **named)
        return out + 1, weights

    with monkeypatch.context() as patch:
        layer = lib.nn.MultiheadAttention(8, 2, **options)
        shape = (3, 5) if dims == 3 else (3,)
        query = lib.ones(*shape, 8)
        before = layer(*inputs(lib, query, options), **told)[0]
        patch.setattr(lib.nn.functional, "multi_head_attention_forward", replaced)
        out, weights = layer(*inputs(lib, query, options), **told)
    moved = None if options.get("dropout") else bool(((out - before - 1).abs() < 1e-5).all())
    return seen, tuple(out.shape), weights if weights is None else tuple(weights.shape), moved


def inputs(lib: Any, query: Any, options: dict[str, Any]) -> list[Any]:
    if "kdim" not in options:
        return [query, query, query]
    return [query, *(lib.ones(*query.shape[:-1], options[name]) for name in ("kdim", "vdim"))]


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize(("options", "told"), LAYERS)
def test_the_layer_asks_what_stands_in_functional(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], told: dict[str, Any], dims: int
) -> None:
    mine, theirs = (calls_of(lib, monkeypatch, options, told, dims) for lib in (tenfold, torch))
    assert len(mine[0]) == 1
    assert mine == theirs


def test_encoder_layers_ask_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    own = tenfold.nn.functional.multi_head_attention_forward
    monkeypatch.setattr(
        tenfold.nn.functional, "multi_head_attention_forward", lambda *given, **named: (seen.append(1), own(*given, **named))[1]
    )
    layer = tenfold.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    layer(tenfold.ones(3, 5, 8))
    assert seen == [1]
