"""Attention of bfloat16 by each unit that the processor has for it, against PyTorch's in float32."""

from __future__ import annotations

import itertools

import pytest

torch = pytest.importorskip("torch")

import tenfold  # noqa: E402
from tenfold.llvm.kernels import attention  # noqa: E402
from tenfold.nn import functional  # noqa: E402

pytestmark = pytest.mark.usefixtures("unit")
attend = torch.nn.functional.scaled_dot_product_attention


@pytest.fixture(autouse=True)
def served(monkeypatch):
    """How many calls the unit served."""
    calls = []
    run = attention.BY_UNIT.run
    monkeypatch.setattr(attention.BY_UNIT, "run", lambda *given: calls.append(1) or run(*given))
    return calls


def drawn(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).bfloat16()


def ours(x):
    return tenfold.tensor(x.numpy()) if x.dtype == torch.bool else tenfold.tensor(x.float().numpy()).bfloat16()


def near(got, exact):
    """Probabilities are rounded, then the result; a mean of values is not larger than the largest of them."""
    wide = torch.from_numpy(got.detach().float().numpy())
    assert got.dtype is tenfold.bfloat16
    assert torch.allclose(wide, exact, rtol=2.0**-7, atol=2.0**-8 * float(exact.abs().max()), equal_nan=True)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("widths", [(32, 32), (64, 64), (128, 96)])
def test_sizes_at_all_edges(served, widths, causal):
    sizes = [*itertools.product((1, 31, 33, 128, 129), (1, 32, 100, 128, 257))]
    for queries, keys in sizes:
        q, k, v = drawn(2, 3, queries, widths[0]), drawn(2, 3, keys, widths[0]) * 2, drawn(2, 3, keys, widths[1])
        got = functional.scaled_dot_product_attention(ours(q), ours(k), ours(v), is_causal=causal)
        near(got, attend(q.float(), k.float(), v.float(), is_causal=causal))
    assert len(served) == len(sizes)


@pytest.mark.parametrize("shape", [(70, 90), (1, 90), (2, 1, 70, 90), (2, 3, 70, 90)])
def test_masks(served, shape):
    q, k, v, mask = drawn(2, 3, 70, 64), drawn(2, 3, 90, 64), drawn(2, 3, 90, 64), drawn(*shape)
    keep = mask > -0.5
    keep[..., 0, :] = False  # a query without keys
    for m in (mask, keep):
        got = functional.scaled_dot_product_attention(ours(q), ours(k), ours(v), ours(m), scale=0.3)
        wide = m if m.dtype == torch.bool else m.float()
        near(got, attend(q.float(), k.float(), v.float(), wide, scale=0.3))
    assert len(served) == 2


def test_heads_that_lie_beside_one_another_and_gradients(served):
    x = drawn(2, 50, 3, 4, 32)
    wide, mine = x.float().requires_grad_(), ours(x).requires_grad_()
    exact = attend(*wide.permute(2, 0, 3, 1, 4).unbind(0), is_causal=True)
    got = functional.scaled_dot_product_attention(*mine.permute(2, 0, 3, 1, 4).unbind(0), is_causal=True)
    near(got, exact.detach())
    grad = drawn(*exact.shape)
    exact.backward(grad.float())
    got.backward(ours(grad))
    near(mine.grad, wide.grad)
    assert len(served) == 1


def test_large_scores_and_infinities():
    q, k, v = drawn(1, 1, 40, 32) * 100, drawn(1, 1, 40, 32) * 100, drawn(1, 1, 40, 32)
    near(functional.scaled_dot_product_attention(*map(ours, (q, k, v))), attend(q.float(), k.float(), v.float()))
    v[0, 0, 3, 5] = float("inf")
    got = functional.scaled_dot_product_attention(*map(ours, (q / 100, k / 100, v)))
    assert got[0, 0, :, 5].isinf().all()
    assert got.isfinite().sum() == 40 * 31


def test_threads_change_no_number():
    q, k, v = (ours(drawn(2, 4, 300, 64)) for _ in range(3))
    before, found = tenfold.get_num_threads(), []
    try:
        for count in (1, 2, 3):
            tenfold.set_num_threads(count)
            found.append(functional.scaled_dot_product_attention(q, k, v))
    finally:
        tenfold.set_num_threads(before)
    assert found[0].equal(found[1])
    assert found[0].equal(found[2])
