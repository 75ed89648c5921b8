"""Attention by kernels of the device, with its gradients, against the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from both_devices import both, drawn

import tenfold
from tenfold.cuda.kernels import heads, varlen
from tenfold.nn import functional as F
from tenfold.testing.tolerances import implementation


def assert_close(got, expected, scale=4.0):
    rtol, atol = implementation(expected.dtype)
    assert got.device.type == "cuda"
    assert got.dtype is expected.dtype
    a, b = (t.detach().cpu().double().numpy() for t in (got, expected))
    np.testing.assert_allclose(a, b, rtol=scale * rtol, atol=scale * atol, equal_nan=True)


def compare(shapes, dtype=tenfold.float32, move=lambda x: x, **options):
    given = [drawn(s, dtype, k) for k, s in enumerate(shapes)]
    mask = options.pop("attn_mask", None)

    def call(q, k, v):
        placed = None if mask is None else mask.to(q.device)
        return F.scaled_dot_product_attention(move(q), move(k), move(v), placed, **options)

    for expected, got in both(call, *given):
        assert_close(got, expected)


SIZES = {
    "one block": ((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8)),
    "several blocks": ((1, 1, 70, 16), (1, 1, 90, 16), (1, 1, 90, 16)),
    "other values": ((2, 9, 20), (2, 9, 20), (2, 9, 5)),
    "no heads": ((4, 3), (6, 3), (6, 3)),
    "five dimensions": ((2, 1, 2, 4, 8), (2, 1, 2, 4, 8), (2, 1, 2, 4, 8)),
}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", SIZES)
def test_sizes(name, causal):
    compare(SIZES[name], is_causal=causal)


@pytest.mark.parametrize("dtype", [tenfold.bfloat16, tenfold.float16], ids=lambda d: d.name)
def test_half_precision(dtype):
    compare(((1, 2, 70, 16), (1, 2, 140, 16), (1, 2, 140, 16)), dtype, is_causal=True)


def test_heads_of_many_features():
    compare(((1, 1, 5, 300), (1, 1, 9, 300), (1, 1, 9, 20)), tenfold.bfloat16, is_causal=True)


MASKS = {
    "one for all": (7,), "queries and keys": (5, 7), "of heads": (3, 5, 7), "of batches": (2, 1, 1, 7), "of both": (2, 3, 5, 7),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["bool", "numbers"])
@pytest.mark.parametrize("name", MASKS)
def test_masks(name, kind):
    mask = drawn(MASKS[name], seed=5)
    mask = mask > -0.3 if kind == "bool" else mask
    compare(SIZES["one block"], attn_mask=mask)


def test_queries_that_see_nothing_are_zero():
    mask = tenfold.ones(5, 7, dtype=tenfold.bool)
    mask[2] = False
    compare(SIZES["one block"], attn_mask=mask)
    q, k, v = (drawn(s).cuda() for s in SIZES["one block"])
    assert (F.scaled_dot_product_attention(q, k, v, mask.cuda())[:, :, 2] == 0).all()


def test_groups_of_heads_scale_layouts_and_dropout():
    compare(((2, 4, 5, 8), (2, 2, 6, 8), (2, 2, 6, 8)), enable_gqa=True, is_causal=True)
    compare(SIZES["one block"], scale=0.3)
    compare(((2, 6, 3, 8),) * 3, move=lambda x: x.transpose(1, 2))
    compare(((2, 3, 8, 6),) * 3, move=lambda x: x.transpose(2, 3))
    tenfold.manual_seed(0)
    one = tenfold.ones(1, 150, 4, device="cuda")
    dropped = F.scaled_dot_product_attention(one, one, one, dropout_p=0.5)
    assert abs(float(dropped.mean()) - 1) < 0.05
    assert float(dropped.std()) > 0


def test_dropout_is_a_function_of_two_words():
    q, k, v, g = drawn((2, 5, 20)), drawn((2, 11, 20), seed=1), drawn((2, 11, 7), seed=2), drawn((2, 5, 7), seed=3)
    words = tenfold.tensor([-5, 2**32 - 3])  # counters pass 32 bits
    for mask, causal, p in ((None, True, 0.4), (drawn((5, 11), seed=5) > -0.3, False, 1.0)):

        def call(q, k, v, mask=mask, causal=causal, p=p):
            placed = None if mask is None else mask.to(q.device)
            return tenfold.op.fused_dropped_attention(q, k, v, placed, words.to(q.device), p, causal, None)[0]

        found = []
        for device in ("cpu", "cuda"):
            leaves = [t.to(device).detach().requires_grad_() for t in (q, k, v)]
            out = call(*leaves)
            out.backward(g.to(device))
            found.append([out, *[t.grad for t in leaves]])
        for expected, got in zip(*found, strict=True):
            assert_close(got, expected)


def test_dropout_comes_from_the_generator():
    one = drawn((1, 2, 6, 8)).cuda().requires_grad_()
    run = lambda: F.scaled_dot_product_attention(one, one, one, dropout_p=0.5)  # noqa: E731
    tenfold.manual_seed(3)
    first, second = run(), run()
    tenfold.manual_seed(3)
    assert run().equal(first)
    assert not second.equal(first)
    assert first.grad_fn.name() == "ScaledDotProductFlashAttentionBackward0"


GROUPS = {
    "four to two": ((2, 4, 5, 8), (2, 2, 6, 8)), "all to one": ((2, 3, 5, 8), (2, 1, 6, 8)),
    "one each": ((1, 3, 5, 8), (1, 3, 6, 8)), "no batch": ((4, 5, 8), (2, 6, 8)), "one head": ((2, 1, 5, 8), (2, 1, 6, 8)),
}  # fmt: skip


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("layout", ["rows", "turned"])
def test_groups_of_heads_and_their_masks(name, layout):
    q, k = GROUPS[name]
    move = lambda x: x  # noqa: E731
    if layout == "turned":  # as layers make them: (batch, length, heads, features), heads brought forward
        q, k = ((*s[:-3], s[-2], s[-3], s[-1]) for s in (q, k))
        move = lambda x: x.transpose(-2, -3)  # noqa: E731
    lead = GROUPS[name][0][:-2]
    for mask in ((5, 6), (lead[-1], 5, 6), (*lead[:-1], 1, 5, 6), (*lead, 1, 6)):
        given = None if mask is None else drawn(mask, seed=5) > -0.3
        compare((q, k, k), enable_gqa=True, attn_mask=given, move=move)
    compare((q, k, k), enable_gqa=True, is_causal=True, move=move)


@pytest.mark.parametrize("shape", [(2, 1, 5, 6), (1, 3, 5, 6), (2, 3, 1, 6), (5, 6)], ids=str)
def test_keys_that_a_program_has_expanded_itself(shape):
    mask = drawn(shape, seed=5) > -0.3
    q, k = drawn((2, 3, 5, 8)), drawn((2, 1, 6, 8), seed=1)
    expected, got = (
        F.scaled_dot_product_attention(q.to(d), *[k.to(d).expand(2, 3, 6, 8)] * 2, mask.to(d)) for d in ("cpu", "cuda")
    )
    assert_close(got, expected)


@pytest.mark.parametrize("shape", [(4, 5), (3, 6), (3, 4, 6), (4, 2, 4, 6), (2, 2, 1, 6)], ids=str)
def test_a_mask_of_another_size_is_refused_before_it_is_read(shape):
    query, key = tenfold.zeros(2, 1, 4, 8, device="cuda"), tenfold.zeros(2, 1, 6, 8, device="cuda")
    for mask in (tenfold.zeros(shape, device="cuda"), tenfold.ones(shape, dtype=tenfold.bool, device="cuda")):
        for options in ({}, {"dropout_p": 0.5}, {"enable_gqa": True}):
            with pytest.raises(RuntimeError, match=r"size of tensor|broadcast"):
                F.scaled_dot_product_attention(query, key, key, mask, **options)
    if shape == (4, 5):
        with pytest.raises(RuntimeError, match="size of tensor"):
            tenfold.op.fused_attention(query, key, key, mask, False, None)


def test_what_kernels_do_not_serve_goes_another_way():
    compare(SIZES["one block"], tenfold.float64)
    compare(((3, 300),) * 3)
    assert F.scaled_dot_product_attention(*(tenfold.zeros(2, 0, 4, device="cuda"),) * 3).shape == (2, 0, 4)


def weighed(x, mask, hidden, average, dropout=0.0, dtype=tenfold.float32):
    tenfold.manual_seed(0)
    layer = tenfold.nn.MultiheadAttention(12, 3, batch_first=True, dropout=dropout, device=x.device, dtype=dtype)
    for k, p in enumerate(layer.parameters()):
        p.data.copy_(drawn(tuple(p.shape), dtype, k) * 0.2)
    placed = [m if m is None else m.to(x.device, m.dtype if m.dtype is tenfold.bool else dtype) for m in (hidden, mask)]
    return (*layer(x, x, x, key_padding_mask=placed[0], attn_mask=placed[1], average_attn_weights=average), layer)


FORBIDDEN = {
    "none": (None, None), "of queries": (drawn((40, 40), seed=4) > 0.8, None), "of keys": (None, drawn((2, 40), seed=4) > 0.8),
    "of both": (drawn((6, 40, 40), seed=4) > 0.8, drawn((2, 40), seed=5) > 0.8), "numbers": (drawn((40, 40), seed=4), None),
}  # fmt: skip


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("name", FORBIDDEN)
@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16], ids=lambda d: d.name)
def test_weights_are_made_without_the_scores(name, average, dtype):
    found = []
    for device in ("cpu", "cuda"):
        x = drawn((2, 40, 12), dtype).to(device).requires_grad_()
        out, weights, layer = weighed(x, *FORBIDDEN[name], average, dtype=dtype)
        given = [drawn(tuple(t.shape), dtype, 9).to(device) for t in (out, weights)]
        found.append((out, weights, *tenfold.autograd.grad((out, weights), (x, *layer.parameters()), given)))
        if device == "cuda":
            assert weights.grad_fn is not None
    for expected, got in zip(*found, strict=True):
        assert_close(got, expected)


def test_a_query_that_sees_nothing_has_no_number():
    hidden = tenfold.zeros(2, 40, dtype=tenfold.bool)
    hidden[1] = True
    for device in ("cpu", "cuda"):
        out, weights, _ = weighed(drawn((2, 40, 12)).to(device), None, hidden, True)
        assert not out[0].isnan().any()
        assert out[1].isnan().all()
        assert weights[1].isnan().all()


def test_weights_with_dropout_are_those_that_weighed():
    """With values that are the identity the result says what they were: of one head, whose projections are taken away."""
    x = drawn((1, 5, 5)).cuda()
    tenfold.manual_seed(3)
    q, mask = x.unsqueeze(1), drawn((5, 5), seed=5).cuda() > -0.5
    words = tenfold.tensor([7, 11], device="cuda")
    v = tenfold.eye(5, device="cuda").expand(1, 1, 5, 5)
    out, sums = tenfold.op.fused_dropped_attention(q, q, v, mask, words, 0.4, False, None)
    weights = tenfold.op.fused_attention_weights(q, q, sums, mask, words, 0.4, False, False)
    assert_close(weights, out.cpu())
    assert (weights == 0).any()


def test_rows_that_are_far_apart_are_copied():
    """Programs compute with 32 bits where a row of their block lies."""
    wide = np.empty((2, (1 << 24) + 1), np.float16)[:, :8]
    wide[:] = np.arange(16).reshape(2, 8)
    assert heads.heads_of(wide[None]).strides[2] == 8
    np.testing.assert_array_equal(heads.heads_of(wide[None]).array[0, 0], wide)
    assert varlen._as_heads(wide[:, None]).strides[0] == 16
    near = np.empty((2, (1 << 24) - 1), np.float16)[:, :8]
    assert heads.heads_of(near).strides[2] == (1 << 24) - 1
    assert heads.heads_of(wide[:1]).strides[2] == (1 << 24) + 1  # there is no other row
