"""Compiled attention and its gradient, against the definition in float64."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm import attention as forward, attention_gradient as backward, products, writer
from tenfold.llvm.kernels import attention
from tenfold.llvm.programs import Compiled
from tenfold.llvm.writer import Registers

RNG = np.random.default_rng(0)
# heads, queries, keys, elements of a query and of a value, mask, whether later keys are unseen
CASES = [
    ((2, 3), 128, 128, 32, 32, None, True),
    ((4,), 100, 77, 64, 32, None, False),
    ((2, 2), 50, 130, 16, 16, "keep", False),
    ((2, 2), 50, 130, 16, 48, "add", False),
    ((2, 2), 20, 30, 32, 32, "key by key", False),
    ((3, 2), 20, 30, 16, 16, "of each head", True),
    ((1,), 1, 5, 16, 16, None, True),
    ((3,), 97, 97, 128, 128, "keep", True),
    ((), 49, 200, 64, 64, None, True),
    ((2, 1, 3), 30, 30, 32, 32, "add", True),
]


def mask_of(form, lead, queries, keys, dtype):
    if form is None:
        return None
    if form == "keep":
        mask = RNG.random((queries, keys)) > 0.3
        mask[0] = False  # a query that sees no key
        return mask
    if form == "key by key":
        return RNG.random(keys) > 0.3
    shape = (*lead[:1], *[1] * (len(lead) - 1), 1, keys) if form == "of each head" else (queries, keys)
    mask = RNG.standard_normal(shape).astype(dtype)
    mask[..., 3] = -np.inf
    return mask


def definition(q, k, v, mask, causal, grad):
    """The result, the log-sum-exp, and the gradients of query, key and value, in float64."""
    q, k, v, grad = (x.astype(np.float64) for x in (q, k, v, grad))
    factor = 1 / np.sqrt(q.shape[-1])
    scores = q @ k.swapaxes(-1, -2) * factor
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    top[top == -np.inf] = 0
    p = np.exp(scores - top)
    total = p.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        sums = (np.log(total) + top)[..., 0]
    p /= np.where(total == 0, 1, total)
    out = p @ v
    change = p * (grad @ v.swapaxes(-1, -2) - (grad * out).sum(-1, keepdims=True))
    return out, sums, change @ k * factor, change.swapaxes(-1, -2) @ q * factor, p.swapaxes(-1, -2) @ grad


def apart(x):
    """The same numbers, the heads of each row beside one another, as a projection leaves them."""
    return np.ascontiguousarray(np.moveaxis(x, -2, 0)).transpose(*range(1, x.ndim - 1), 0, x.ndim - 1)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_against_the_definition(case, dtype, threads):
    lead, queries, keys, width, wide, form, causal = case
    q, k, v, grad = (
        RNG.standard_normal((*lead, *sizes)).astype(dtype)
        for sizes in ((queries, width), (keys, width), (keys, wide), (queries, wide))
    )
    mask = mask_of(form, lead, queries, keys, dtype)
    expected = definition(q, k, v, mask, causal, grad)
    limit = 2e-6 if dtype == np.float32 else 4e-15
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(threads)
    try:
        for given in ((q, k, v, grad), tuple(map(apart, (q, k, v, grad)))):
            found = attention.fused_attention(*given[:3], mask, causal, None)
            assert found is not NotImplemented
            back = attention.fused_attention_grad(given[3], *given[:3], *found, mask, causal, None)
            assert back is not NotImplemented
            for ours, right in zip((*found, *back), expected, strict=True):
                assert ours.dtype == dtype
                finite = np.isfinite(right)
                np.testing.assert_array_equal(ours[~finite], right[~finite])
                np.testing.assert_allclose(ours[finite], right[finite], rtol=0, atol=limit * max(1, abs(right[finite]).max()))
    finally:
        tenfold.set_num_threads(before)


def test_numbers_that_hurt():
    """NaN and infinity spread as in the definition; large scores do not overflow."""
    q, k, v = (RNG.standard_normal((2, 60, 16)).astype(np.float32) for _ in range(3))
    q[0, 3], k[1, 5, 2], v[0, 7, 1] = np.nan, np.inf, np.inf
    q[1, 4] *= 1e4
    out, sums = attention.fused_attention(q, k, v, None, False, None)
    with np.errstate(invalid="ignore"):
        right, right_sums, *_ = definition(q, k, v, None, False, np.zeros_like(v))
    np.testing.assert_allclose(out, right, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(sums, right_sums, rtol=1e-5)


@pytest.mark.parametrize("width", [257, 300])
def test_other_sizes_are_left_to_the_kernel_beneath(width):
    q, k, v = (RNG.standard_normal((2, 10, width)).astype(np.float32) for _ in range(3))
    assert attention.fused_attention(q, k, v, None, False, None) is NotImplemented
    q, k, v = (tenfold.from_numpy(x) for x in (q, k, v))
    out, _ = tenfold.op.fused_attention(q, k, v, None, False, None)
    expected = definition(q.numpy(), k.numpy(), v.numpy(), None, False, np.zeros((2, 10, width)))[0]
    np.testing.assert_allclose(out.numpy(), expected, atol=2e-6)


def test_no_keys_and_no_queries():
    q, k = np.zeros((2, 0, 16), np.float32), np.zeros((2, 5, 16), np.float32)
    assert attention.fused_attention(q, k, k, None, False, None) is NotImplemented
    assert attention.fused_attention(k, q, q, None, False, None) is NotImplemented


def test_heads_of_a_row_lie_beside_one_another():
    q, k, v = (tenfold.randn(2, 20, 3, 16).transpose(1, 2).requires_grad_() for _ in range(3))
    out = tenfold.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert out.stride() == (960, 16, 48, 1)
    assert out.transpose(1, 2).is_contiguous()
    for grad in tenfold.autograd.grad(out.sum(), (q, k, v)):
        assert grad.transpose(1, 2).is_contiguous()


@pytest.mark.parametrize("queries", [1, 6, 7, 48, 50, 95, 96, 97, 150])
@pytest.mark.parametrize("keys", [1, 15, 48, 96, 97, 200])
def test_a_triangle_of_any_size(queries, keys):
    q, k, v, grad = (
        RNG.standard_normal((2, n, 32)).astype(np.float32) for n in (queries, keys, keys, queries)
    )  # fmt: skip
    expected = definition(q, k, v, None, True, grad)
    out, sums = attention.fused_attention(q, k, v, None, True, None)
    grads = attention.fused_attention_grad(grad, q, k, v, out, sums, None, True, None)
    for have, want in zip((out, sums, *grads), expected, strict=True):
        assert np.abs(have - want).max() < 1e-5 * max(
            1, np.abs(want).max()
        )  # of one query differences of sums that are equal remain


@pytest.mark.parametrize("there", [Registers(32, 64), Registers(32, 16), Registers(16, 32)])
def test_the_blocks_of_other_processors(monkeypatch, there):
    for module in (attention, forward, products, writer):
        monkeypatch.setattr(module, "registers", lambda: there)
    for name, made in (("FORWARD", forward.forward), ("GRADIENT", backward.gradient)):
        monkeypatch.setattr(attention, name, Compiled(f"attention elsewhere: {name}", made, vectors=True))
    for queries, keys in ((50, 48), (100, 97)):
        q, k, v, grad = (RNG.standard_normal((2, n, 32)).astype(np.float32) for n in (queries, keys, keys, queries))
        out, sums = attention.fused_attention(q, k, v, None, True, None)
        found = (out, sums, *attention.fused_attention_grad(grad, q, k, v, out, sums, None, True, None))
        for have, want in zip(found, definition(q, k, v, None, True, grad), strict=True):
            assert np.abs(have - want).max() < 1e-5 * np.abs(want).max()


def test_keys_that_no_query_sees_may_hold_anything():
    q, k, v, grad = (RNG.standard_normal((1, n, 32)).astype(np.float32) for n in (50, 150, 150, 50))
    expected = definition(q, k[:, :50], v[:, :50], None, True, grad)
    k[:, 60:], v[:, 60:] = np.nan, np.inf
    out, sums = attention.fused_attention(q, k, v, None, True, None)
    dq, dk, dv = attention.fused_attention_grad(grad, q, k, v, out, sums, None, True, None)
    for have, want in zip((out, sums, dq, dk[:, :50], dv[:, :50]), expected, strict=True):
        assert np.abs(have - want).max() < 2e-6 * max(1, np.abs(want).max())
    assert not dk[:, 50:].any()
    assert not dv[:, 50:].any()


def test_calls_seen_before_look_at_what_may_differ():
    """Sizes, distances and dtypes are what a plan is kept for; memory that is not aligned, or another scale, is not."""
    x = RNG.standard_normal((3, 2, 40, 3, 32)).astype(np.float32)
    q, k, v = (x[:, :, :, n] for n in range(3))
    memory = np.zeros(q.nbytes + 1, np.uint8)[1:]
    odd = memory.view(np.float32).reshape(q.shape)
    odd[...] = q
    for _ in range(2):
        for causal, scale in ((True, None), (False, None), (True, 0.5)):
            for first in (q, np.ascontiguousarray(q), odd, q[:, :, ::-1]):
                for grad in (np.ones((3, 2, 40, 32), np.float32), apart(np.ones((3, 2, 40, 32), np.float32))):
                    out, sums = attention.fused_attention(first, k, v, None, causal, scale)
                    grads = attention.fused_attention_grad(grad, first, k, v, out, sums, None, causal, scale)
                    factor = 1.0 if scale is None else scale * np.sqrt(32)
                    expected = definition(first * factor, k, v, None, causal, grad)
                    for got, wanted in zip((out, sums, grads[0] / factor, *grads[1:]), expected):
                        np.testing.assert_allclose(got, wanted, atol=2e-5, rtol=2e-5)
