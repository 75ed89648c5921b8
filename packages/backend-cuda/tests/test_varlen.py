"""Attention over sequences of different lengths by kernels of the device, with its gradients, against the CPU."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest

import tenfold
from tenfold.cuda.kernels import varlen
from tenfold.dispatch.devices import AcceleratorError
from tenfold.nn.attention.varlen import AuxRequest, varlen_attn
from tenfold.testing.tolerances import implementation


def drawn(shape, dtype=tenfold.float32, seed=0):
    return tenfold.tensor(np.random.default_rng(seed).standard_normal(shape)).to(dtype)


def table(lengths):
    return tenfold.tensor([0, *accumulate(lengths)], dtype=tenfold.int32)


def compare(queries, keys, dtype=tenfold.float32, heads=(2, 2), sizes=(8, 8), more=0, move=lambda x: x, **options):
    (H, own), (E, V), T, S = heads, sizes, sum(queries) + more, sum(keys) + more
    given = [drawn(s, dtype, i) for i, s in enumerate(((T, H, E), (S, own, E), (S, own, V), (T, H, V)))]
    tables, most, found = (table(queries), table(keys)), (max(queries), max(keys)), []
    for device in ("cpu", "cuda"):
        *leaves, g = [x.to(device).detach().requires_grad_() for x in given]
        out, lse = varlen_attn(
            *map(move, leaves), *[t.to(device) for t in tables], *most, return_aux=AuxRequest(True), enable_gqa=own != H,
            **options,
        )  # fmt: skip
        out.backward(g)
        found.append([out, lse, *[x.grad for x in leaves]])
    rtol, atol = implementation(dtype)
    for expected, got in zip(*found, strict=True):
        assert got.device.type == "cuda"
        assert got.dtype is expected.dtype
        a, b = (t.detach().cpu().double().numpy() for t in (got, expected))
        np.testing.assert_allclose(a, b, rtol=4 * rtol, atol=4 * atol)


LENGTHS = {
    "one block each": ([3, 1, 5], [3, 1, 5]),
    "several blocks": ([70, 2, 33], [70, 2, 33]),
    "other lengths": ([5, 40], [37, 3]),
    "empty ones": ([0, 3, 4, 0], [2, 0, 6, 0]),
}
WINDOWS = {
    "all": (-1, -1),
    "causal": (-1, 0),
    "window": (3, 1),
    "before": (2, -1),
    "causal window": (20, 0),
    "larger": (9999, 9999),
}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_and_windows(name, window):
    compare(*LENGTHS[name], window_size=WINDOWS[window])


@pytest.mark.parametrize("dtype", [tenfold.bfloat16, tenfold.float16], ids=lambda d: d.name)
def test_half_precision(dtype):
    compare([70, 20], [130, 20], dtype, window_size=(-1, 0))


@pytest.mark.parametrize("heads", [(4, 2), (3, 1)], ids=str)
def test_groups_of_heads_features_and_scale(heads):
    compare([5, 33], [6, 40], heads=heads, sizes=(20, 5), window_size=(8, 0), scale=0.3)


def test_what_belongs_to_no_sequence_is_zero():
    compare([3, 2], [4, 1], more=75)
    compare([3, 0], [4, 0], more=2, window_size=(-1, 0))


def test_layouts():
    compare([4, 3], [4, 3], move=lambda x: x.transpose(0, 1).contiguous().transpose(0, 1))
    compare([4, 3], [4, 3], move=lambda x: x.transpose(1, 2).contiguous().transpose(1, 2))
    compare([4, 3], [4, 3], heads=(4, 2), move=lambda x: x.transpose(1, 2).contiguous().transpose(1, 2))


def test_keys_in_use_and_pages():
    q, k, v = (drawn((n, 2, 8), seed=n) for n in (4, 9, 10))
    used = tenfold.tensor([2, 3], dtype=tenfold.int32)
    pages = tenfold.tensor([[1, 0], [2, -5]], dtype=tenfold.int32)

    def both(device):
        tables = [x.to(device) for x in (q, k, v[:9], table([1, 3]), table([5, 4]))]
        out = [varlen_attn(*tables, 3, 5, window_size=(-1, 0), seqused_k=used.to(device))]
        pool = [x[:9].reshape(3, 3, 2, 8).to(device) for x in (k, v)]
        rest = {"seqused_k": used.to(device), "block_table": pages.to(device)}
        return [*out, varlen_attn(tables[0], *pool, tables[3], None, 3, 3, **rest)]

    for expected, got in zip(both("cpu"), both("cuda"), strict=True):
        assert tenfold.allclose(got.cpu(), expected, atol=1e-5)


def test_which_calls_are_served():
    x, starts = drawn((3, 1, 4)).cuda(), table([1, 2]).cuda()
    used = tenfold.tensor([1, 1], dtype=tenfold.int32).cuda()

    def served(*given, most=2):
        arrays = [None if t is None else t._array for t in given]
        return varlen.fused_varlen_attention(*arrays, most, most, None, -1, -1) is not NotImplemented

    assert served(x, x, x, starts, starts, None)
    assert served(x.half(), x.half(), x.half(), starts, starts, used)
    assert served(x[:, 0], x[:, 0], x[:, 0], starts.long(), starts.long(), None)
    assert not served(x.double(), x.double(), x.double(), starts, starts, None)
    assert not served(x, x[:0], x[:0], starts, table([0, 0]).cuda(), None)
    assert not served(x, x, x, starts, starts, None, most=0)
    assert not served(x.expand(3, 1, 4).repeat(1, 1, 65), *[x.repeat(1, 1, 65)] * 2, starts, starts, None)


WRONG = {
    "not from 0": [1, 3, 5],
    "falls": [0, 4, 3],
    "too far": [0, 3, 6],
    "longer than max_q": [0, 1, 5],
    "negative": [0, -1, 5],
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tables_are_reported(name):
    x, right = drawn((5, 1, 4)).cuda(), table([2, 3]).cuda()
    wrong = tenfold.tensor(WRONG[name], dtype=tenfold.int32).cuda()
    varlen_attn(x, x, x, right, right, 3, 3).cpu()
    for tables in ((wrong, right), (right, wrong)):
        with pytest.raises(AcceleratorError, match="varlen_attn was wrong"):
            varlen_attn(x, x, x, *tables, 3, 3).cpu()
    used = tenfold.tensor([2, 4], dtype=tenfold.int32).cuda()
    with pytest.raises(AcceleratorError, match="varlen_attn was wrong"):
        varlen_attn(x, x, x, right, right, 3, 3, seqused_k=used).cpu()


def test_what_kernels_do_not_serve_goes_another_way():
    compare([3, 2], [4, 1], tenfold.float64, window_size=(-1, 0))
    compare([3, 2], [3, 2], sizes=(300, 4))
    x, none = drawn((3, 1, 4)).cuda(), table([0, 0]).cuda()
    out = varlen_attn(x, x[:0], x[:0], table([1, 2]).cuda(), none, 2, 0)
    assert out.abs().sum() == 0
