"""flex_attention, its masks and their blocks against PyTorch."""

import math

import numpy as np
import pytest

import tenfold
from tenfold.nn.attention import flex_attention as ours

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("torch.nn.attention.flex_attention")

MASKS = {
    "causal": lambda b, h, q, k: q >= k,
    "window": lambda b, h, q, k: (q >= k) & (q - k < 3),
    "by head": lambda b, h, q, k: (q + h + k) % 2 == 0,
}
SCORES = {"distance": lambda s, b, h, q, k: s - (q - k).abs() * 0.1}


def pair(*shape, seed=0):
    x = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return tenfold.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)


BIASES = {None: lambda h, q, k: 0.0, "distance": lambda h, q, k: (q - k).abs() * -0.1}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("score", BIASES)
def test_values_and_gradients(mask, score):
    """PyTorch's flex_attention has no gradients on the CPU; its attention with the same mask as a tensor gives the same."""
    (q, tq), (k, tk), (v, tv) = (pair(2, 2, 5, 4, seed=i) for i in range(3))
    bias = torch.zeros(1, 2, 5, 5) + BIASES[score](torch.arange(2)[:, None, None], torch.arange(5)[:, None], torch.arange(5))
    bias = bias.masked_fill(~theirs.create_mask(MASKS[mask], 1, 2, 5, 5, device="cpu"), -math.inf)
    expected = torch.nn.functional.scaled_dot_product_attention(tq, tk, tv, attn_mask=bias)
    lse = (tq @ tk.mT / 2 + bias).logsumexp(-1)
    (expected.square().sum() + lse.sum()).backward()
    block = ours.create_block_mask(MASKS[mask], None, 2, 5, 5, device="cpu")
    out, own_lse = ours.flex_attention(q, k, v, SCORES.get(score), block, return_lse=True)
    (out.square().sum() + own_lse.sum()).backward()
    for mine, other in ((out, expected), (own_lse, lse), (q.grad, tq.grad), (k.grad, tk.grad), (v.grad, tv.grad)):
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=2e-5, atol=5e-6)


def test_rows_without_a_place_give_zero_and_no_gradient():
    q, _ = pair(1, 1, 2, 3)
    block = ours.create_block_mask(lambda b, h, i, j: i > 0, None, None, 2, 2, device="cpu")
    out = ours.flex_attention(q, q, q, block_mask=block)
    out.sum().backward()
    assert out[0, 0, 0].tolist() == [0.0] * 3
    assert q.grad.isfinite().all()


def test_grouped_queries_and_a_scale():
    (q, tq), (k, tk) = pair(1, 4, 3, 4), pair(1, 2, 6, 4, seed=1)
    mine = ours.flex_attention(q, k, k, scale=0.3, enable_gqa=True)
    other = torch.nn.functional.scaled_dot_product_attention(tq, tk, tk, scale=0.3, enable_gqa=True)
    np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="enable_gqa"):
        ours.flex_attention(q, k, k)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("size", [4, (4, 2)])
def test_blocks(mask, size):
    mine = ours.create_block_mask(MASKS[mask], 1, 2, 10, 8, device="cpu", BLOCK_SIZE=size)
    other = theirs.create_block_mask(MASKS[mask], 1, 2, 10, 8, device="cpu", BLOCK_SIZE=size)
    assert mine.to_dense().tolist() == other.to_dense().tolist()
    assert mine.shape == tuple(other.shape)
    assert mine.kv_num_blocks.tolist() == other.kv_num_blocks.tolist()
    assert mine.full_kv_num_blocks.tolist() == other.full_kv_num_blocks.tolist()
    assert math.isclose(mine.sparsity(), other.sparsity())


def test_masks_joined():
    for name in ("and_masks", "or_masks"):
        joined = [getattr(m, name)(MASKS["causal"], MASKS["by head"]) for m in (ours, theirs)]
        assert (
            ours.create_mask(joined[0], 1, 2, 4, 4, "cpu").tolist() == theirs.create_mask(joined[1], 1, 2, 4, 4, "cpu").tolist()
        )
    assert ours.create_mask(ours.noop_mask, 1, 1, 2, 2, "cpu").all()
