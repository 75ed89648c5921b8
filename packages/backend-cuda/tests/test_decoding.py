"""Attention of few queries to many keys, in one piece, of sequences, and in pages, against the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.cuda.kernels import decoding
from tenfold.dispatch.devices import AcceleratorError
from tenfold.nn import functional as F
from tenfold.nn.attention.varlen import AuxRequest, varlen_attn

INT32 = tenfold.int32


def drawn(shape, dtype=tenfold.float32, seed=0):
    return tenfold.tensor(np.random.default_rng(seed).standard_normal(shape)).to(dtype)


@pytest.fixture(autouse=True)
def counted(monkeypatch):
    """Calls that are served by these kernels."""
    calls, given = [], decoding.attended
    monkeypatch.setattr(decoding, "FEWEST", 32)  # the interpreter is slow
    monkeypatch.setattr(decoding, "attended", lambda *a, **k: (calls.append(a), given(*a, **k))[1])
    return calls


# heads of queries and of keys, queries, keys, features, dtype
CASES = {
    "one query": (2, 2, 1, 140, 16, tenfold.float32),
    "groups": (8, 2, 3, 100, 20, tenfold.float32),
    "half precision": (4, 1, 2, 130, 16, tenfold.bfloat16),
    "many features": (2, 2, 1, 70, 300, tenfold.bfloat16),
}


@pytest.mark.parametrize("programs", [1, 99])  # one share, or as many as there may be
@pytest.mark.parametrize("name", CASES)
def test_few_queries(name, programs, counted, monkeypatch):
    H, own, t, S, E, dtype = CASES[name]
    monkeypatch.setattr(decoding, "PROGRAMS", programs)
    given = drawn((2, H, t, E), dtype), drawn((2, own, S, E), dtype, 1), drawn((2, own, S, E), dtype, 2)
    found = [F.scaled_dot_product_attention(*[x.to(d) for x in given], enable_gqa=own != H) for d in ("cpu", "cuda")]
    assert len(counted) == 1
    tolerance = 2e-2 if name in ("half precision", "many features") else 1e-5
    assert found[1].cpu().float().allclose(found[0].float(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("kind", ["bool", "numbers"])
def test_masks_and_gradients(kind, counted):
    mask = drawn((4, 2, 70), seed=5)
    mask = (mask > -0.3) if kind == "bool" else mask
    if kind == "bool":
        mask[1, 0] = False  # sees nothing
    found = []
    for device in ("cpu", "cuda"):
        leaves = [drawn((1, 4, n, 8), seed=n).to(device).requires_grad_() for n in (2, 70, 70)]
        out = F.scaled_dot_product_attention(*leaves, mask.to(device))
        out.backward(drawn((1, 4, 2, 8), seed=9).to(device))
        found.append([out, *[x.grad for x in leaves]])
    assert len(counted) == 1
    for expected, got in zip(*found, strict=True):
        assert got.cpu().allclose(expected, atol=1e-5)


def starts(lengths):
    return tenfold.tensor(np.cumsum([0, *lengths]), dtype=INT32)


@pytest.mark.parametrize("window", [(-1, 0), (40, 3)], ids=str)
def test_sequences_and_pages(window, counted):
    queries, keys, size = [2, 0, 1], [110, 7, 90], 16
    q = drawn((5, 4, 8))  # two of them belong to no sequence
    k, v = drawn((sum(keys), 2, 8), seed=1), drawn((sum(keys), 2, 5), seed=2)
    room = -(-max(keys) // size)
    pool = np.random.default_rng(0).permutation(room * len(keys) + 2)
    table = pool[: room * len(keys)].reshape(len(keys), room).astype(np.int32)
    for row, n in zip(table, keys, strict=True):
        row[-(-n // size) :] = -7  # behind what is used a row may hold anything
    pages = drawn((len(pool), size, 2, 8), seed=3), drawn((len(pool), size, 2, 5), seed=4)
    found = []
    for device in ("cpu", "cuda"):
        rest = {"window_size": window, "enable_gqa": True, "return_aux": AuxRequest(True)}
        tables = starts(queries).to(device), starts(keys).to(device)
        given = [x.to(device) for x in (q, k, v, *pages)]
        found.append([*varlen_attn(*given[:3], *tables, 2, 110, **rest)])
        used = {"seqused_k": tenfold.tensor(keys, dtype=INT32).to(device), "block_table": tenfold.tensor(table).to(device)}
        found[-1] += varlen_attn(given[0], *given[3:], tables[0], None, 2, 110, **rest, **used)
    assert len(counted) == 2
    for expected, got in zip(*found, strict=True):
        np.testing.assert_allclose(got.cpu().numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


def test_pages_of_many_queries_are_read_where_they_lie(counted):
    q, k, v = drawn((70, 2, 8)), drawn((4, 32, 1, 8), seed=1), drawn((4, 32, 1, 8), seed=2)
    tables = starts([70]), tenfold.tensor([90], dtype=INT32), tenfold.tensor([[3, 1, 0]], dtype=INT32)
    found = []
    for device in ("cpu", "cuda"):
        first, used, pages = (t.to(device) for t in tables)
        rest = {"seqused_k": used, "block_table": pages, "enable_gqa": True, "window_size": (-1, 0)}
        found.append(varlen_attn(*[x.to(device) for x in (q, k, v)], first, None, 70, 90, **rest))
    assert len(counted) == 1
    assert found[1].cpu().allclose(found[0], atol=1e-5)


def test_a_page_that_there_is_not_is_reported():
    q, k = drawn((1, 1, 4)).cuda(), drawn((2, 16, 1, 4)).cuda()
    for page in (2, -1):
        rest = {"seqused_k": tenfold.tensor([9], dtype=INT32).cuda(), "block_table": tenfold.tensor([[page]], dtype=INT32).cuda()}
        with pytest.raises(AcceleratorError, match="varlen_attn was wrong"):
            varlen_attn(q, k, k, starts([1]).cuda(), None, 1, 16, **rest).cpu()
