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


def blocks(lib, mask="causal", lengths=(10, 8), **options):
    return lib.create_block_mask(MASKS[mask], 2, 3, *lengths, device="cpu", BLOCK_SIZE=(4, 2), **options)


def told(mask):
    return [e.tolist() if hasattr(e, "tolist") else e for e in mask.as_tuple()[:-1]]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("separate", [True, False])
def test_lists_of_blocks_and_their_pictures(mask, separate):
    mine, other = (blocks(lib, mask, separate_full_blocks=separate) for lib in (ours, theirs))
    assert told(mine) == told(other)
    assert str(mine) == str(other)
    assert repr(mine).replace("tenfold", "torch") == repr(other)
    for options in ({"grid_size": 2}, {"limit": 7}, {"grid_size": (2, 3), "limit": 1}):
        assert mine.to_string(**options) == other.to_string(**options)


def test_a_mask_of_lists():
    mine, other = (blocks(lib) for lib in (ours, theirs))
    made = [
        lib.BlockMask(m.seq_lengths, m.kv_num_blocks, m.kv_indices, None, None, None, None, None, None, (4, 2))
        for lib, m in ((ours, mine), (theirs, other))
    ]
    assert told(made[0]) == told(made[1])
    assert made[0].to_dense().tolist() == made[1].to_dense().tolist()
    assert made[0].sparsity() == made[1].sparsity()
    lists = [(m.kv_num_blocks, m.kv_indices, m.full_kv_num_blocks, m.full_kv_indices) for m in (mine, other)]
    for options in ({}, {"compute_q_blocks": False}, {"dq_kv_order": True}):
        of = [lib.BlockMask.from_kv_blocks(*given, BLOCK_SIZE=(4, 2), **options) for lib, given in zip((ours, theirs), lists)]
        assert told(of[0]) == told(of[1])
        assert told(of[0].to("cpu")) == told(of[1].to("cpu"))


@pytest.mark.parametrize("place", [0, -1, (slice(None), 1), (1, slice(0, 2)), (0, 0, slice(1, 3))], ids=str)
def test_parts_of_a_mask(place):
    mine, other = (blocks(lib)[place] for lib in (ours, theirs))
    assert told(mine) == told(other)
    for m, lib in ((mine, tenfold), (other, torch)):
        with pytest.raises(RuntimeError, match="Cannot use mask_mod from a sliced BlockMask"):
            m.mask_mod(*[lib.tensor(0)] * 4)


def test_a_part_of_a_mask_takes_part_with_a_function_of_its_own():
    (q, _), whole = pair(2, 1, 10, 4), blocks(ours, "by head", (10, 10))
    part = whole[:, 1]
    with pytest.raises(RuntimeError, match="sliced"):
        ours.flex_attention(q, q, q, block_mask=part)
    part.mask_mod = lambda b, h, i, j: MASKS["by head"](b, h + 1, i, j)
    three = ours.flex_attention(*[q.expand(2, 3, 10, 4)] * 3, block_mask=whole)
    np.testing.assert_array_equal(ours.flex_attention(q, q, q, block_mask=part).detach().numpy(), three[:, 1:2].detach().numpy())


@pytest.mark.parametrize("lengths", [(5, 5), (4, 5), (5, 4), (7, 7), (3, 9)])
def test_a_mask_of_other_lengths_is_refused(lengths):
    (q, tq), size = pair(1, 1, 6, 4), (lambda lib: lib.create_block_mask(MASKS["causal"], 1, 1, *lengths, device="cpu"))
    for lib, x in ((ours, q), (theirs, tq.detach())):
        with pytest.raises((ValueError, AssertionError), match="block_mask"):
            lib.flex_attention(x, x, x, block_mask=size(lib))


def test_pairs_of_lists_belong_together():
    m = blocks(ours)
    with pytest.raises(AssertionError, match="full_kv_num_blocks and full_kv_indices"):
        ours.BlockMask.from_kv_blocks(m.kv_num_blocks, m.kv_indices, m.full_kv_num_blocks)
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        ours.BlockMask.from_kv_blocks(m.kv_num_blocks[0, 0, 0], m.kv_indices[0, 0, 0])
    with pytest.raises(ValueError, match="dq_kv_order must be a bool"):
        blocks(ours, dq_kv_order=m.kv_indices)
