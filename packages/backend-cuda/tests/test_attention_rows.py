"""Results and gradients of attention lie in memory as the rows that they belong to: what joins heads again copies nothing."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from both_devices import drawn

import tenfold
from tenfold.cuda.kernels import attention_gradient, heads
from tenfold.nn import functional as F
from tenfold.testing.tolerances import implementation

SIZES = (2, 3, 40, 8)
OTHERS = (2, 3, 33, 8)


def lying(shape, order, seed=0, dtype=tenfold.float32):
    """An array whose first dimensions lie in an order, and that is part of a larger one, as one of several projections is."""
    inner = [shape[d] for d in order]
    block = drawn((*inner, 2 * shape[3]), dtype, seed).cuda()[..., : shape[3]]
    return block.permute(*(order.index(k) for k in range(3)), 3)


def order_of(x):
    return sorted(range(x.ndim), key=lambda d: -x.stride(d))


def expected_of(call, given, g):
    leaves = [t.detach().cpu().contiguous().requires_grad_() for t in given]
    out = call(*leaves)
    out.backward(g.cpu())
    return [out.detach(), *[t.grad for t in leaves]]


@pytest.mark.parametrize("form", [attention_gradient.ONE, attention_gradient.TWO], ids=["one pass", "two passes"])
@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16], ids=lambda d: d.name)
@pytest.mark.parametrize("order", [*permutations(range(3))], ids=str)
def test_results_lie_as_what_they_belong_to(order, dtype, form, monkeypatch):
    monkeypatch.setattr(attention_gradient, "forms", lambda call: [form])
    turned = order[1:] + order[:1]  # keys lie in another order than queries
    given = [lying(SIZES, order, 0, dtype), lying(OTHERS, turned, 1, dtype), lying(OTHERS, turned, 2, dtype)]
    leaves = [t.detach().requires_grad_() for t in given]
    out = F.scaled_dot_product_attention(*leaves, is_causal=True)
    g = lying(SIZES, turned, 3, dtype)
    grads = tenfold.autograd.grad(out, leaves, g)
    for x, like in ((out, order), *zip(grads, (order, turned, turned))):
        assert order_of(x) == [*like, 3]
        assert x.permute(*like, 3).is_contiguous()
    rtol, atol = implementation(dtype)
    reference = expected_of(lambda *t: F.scaled_dot_product_attention(*t, is_causal=True), given, g)
    for a, b in zip((out, *grads), reference, strict=True):
        a, b = (t.detach().cpu().double().numpy() for t in (a, b))
        np.testing.assert_allclose(a, b, rtol=4 * rtol, atol=4 * atol)


@pytest.mark.parametrize("order", [(0, 2, 1), (2, 0, 1)], ids=str)
def test_which_weights_are_left_out_is_the_same_however_rows_lie(order):
    words = tenfold.tensor([7, 2**32 - 3], device="cuda")
    found = []
    for move in (lambda x: x, lambda x: x.contiguous()):
        leaves = [move(lying(s, order, k)).detach().requires_grad_() for k, s in enumerate((SIZES, OTHERS, OTHERS))]
        out, sums = tenfold.op.fused_dropped_attention(*leaves, None, words, 0.4, False, None)
        weights = tenfold.op.fused_attention_weights(*leaves[:2], sums, None, words, 0.4, True, False)
        found.append([out, sums, weights, *tenfold.autograd.grad(out, leaves, lying(SIZES, (0, 1, 2), 5))])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a.detach().cpu().numpy(), b.detach().cpu().numpy(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("groups", [1, 2])
def test_infinities_nan_and_queries_that_see_nothing_in_rows_that_lie_otherwise(groups):
    given = [lying(SIZES, (0, 2, 1)), lying((2, 1, 33, 8), (0, 2, 1), 1), lying((2, 1, 33, 8), (0, 2, 1), 2)]
    given = given if groups == 2 else [given[0], *(t.expand(2, 3, 33, 8) for t in given[1:])]
    given[0][0, 1, 3], given[0][1, 2, 5] = float("nan"), float("inf")
    mask = drawn((40, 33), seed=5) > -0.3
    mask[7] = False
    options = {"enable_gqa": groups == 2}
    with np.errstate(invalid="ignore"):
        expected = F.scaled_dot_product_attention(*(t.cpu() for t in given), mask, **options)
    got = F.scaled_dot_product_attention(*given, mask.cuda(), **options)
    np.testing.assert_allclose(got.cpu().numpy(), expected.numpy(), rtol=1e-5, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("masked", [False, True])
def test_queries_of_one_head_of_keys_are_not_copied(masked, monkeypatch):
    q = lying(SIZES, (0, 2, 1)).requires_grad_()
    k, v = (lying((2, 1, 33, 8), (0, 1, 2), n).requires_grad_() for n in (1, 2))
    mask = drawn((2, 1, 40, 33), seed=5) > -0.5 if masked else None
    copied = []
    monkeypatch.setattr(heads, "contiguous", lambda x: copied.append(x.shape) or x.copy())
    out = F.scaled_dot_product_attention(q, k.expand(2, 3, 33, 8), v.expand(2, 3, 33, 8), None if mask is None else mask.cuda())
    assert not copied
    assert order_of(out) == [0, 2, 1, 3]
    g = lying(SIZES, (0, 2, 1), 3)
    grads = tenfold.autograd.grad(out, [q, k, v], g)
    assert order_of(grads[0]) == [0, 2, 1, 3]

    def call(q, k, v):
        return F.scaled_dot_product_attention(q, k.expand(2, 3, 33, 8), v.expand(2, 3, 33, 8), mask)

    for a, b in zip((out, *grads), expected_of(call, (q, k, v), g), strict=True):
        np.testing.assert_allclose(a.detach().cpu().numpy(), b.numpy(), rtol=1e-4, atol=1e-5)


def test_rows_of_sizes_of_one_lie_in_their_own_order():
    assert heads.rows_of(np.zeros((1, 3, 5, 8)), 3).order == (0, 1, 2)
    assert heads.rows_of(np.zeros((5, 3, 1, 8)).transpose(2, 1, 0, 3), 3) == heads.Rows((1, 3, 5), (0, 2, 1))
    assert heads.Rows((2, 3, 5), (2, 0, 1)).steps == (3, 1, 6)
    grouped = heads.Rows((2, 6, 5), (0, 2, 1)).empty((2, 3, 2, 5, 8), np.dtype(np.float32), 0)
    assert grouped.strides == (5 * 6 * 32, 64, 32, 6 * 32, 4)
