"""The gradients of attention in one pass and in two, against PyTorch: values, what is chosen, and what must not be."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest

import tenfold
from tenfold.backends import cudnn
from tenfold.cuda import tuning
from tenfold.cuda.kernels import attention_gradient
from tenfold.nn.attention.varlen import varlen_attn
from tenfold.testing.tolerances import implementation

torch = pytest.importorskip("torch")

ONE, TWO = attention_gradient.ONE, attention_gradient.TWO


@pytest.fixture(params=[ONE, TWO], ids=["one", "two"])
def passes(request, monkeypatch):
    monkeypatch.setattr(attention_gradient, "forms", lambda call: [request.param])


def drawn(shape, seed=0, size=1.0):
    return size * np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def compare(shapes, dtype="float32", attn_mask=None, sizes=(1.0, 1.0, 1.0, 1.0), **options):
    """Gradients of attention for (query, key, value, incoming gradient) of these shapes."""
    arrays = [drawn(s, i, size) for i, (s, size) in enumerate(zip(shapes, sizes))]
    found = []
    for lib, device in ((torch, "cpu"), (tenfold, "cuda")):
        *leaves, g = [lib.tensor(x).to(getattr(lib, dtype)).to(device) for x in arrays]
        leaves = [x.detach().requires_grad_() for x in leaves]
        mask = None if attn_mask is None else lib.tensor(attn_mask).to(device)
        if mask is not None and attn_mask.dtype != bool:
            mask = mask.to(getattr(lib, dtype))
        lib.nn.functional.scaled_dot_product_attention(*leaves, attn_mask=mask, **options).backward(g)
        found.append([x.grad for x in leaves])
    check(*found, dtype)


def check(expected, got, dtype):
    rtol, atol = implementation(getattr(tenfold, dtype))
    for a, b in zip(expected, got, strict=True):
        assert b.device.type == "cuda"
        np.testing.assert_allclose(b.cpu().float().numpy(), a.float().numpy(), rtol=8 * rtol, atol=8 * atol)


def of(heads, queries, keys, features, values=None, own=None):
    own, values = own or heads, values or features
    return (1, heads, queries, features), (1, own, keys, features), (1, own, keys, values), (1, heads, queries, values)


@pytest.mark.usefixtures("passes")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("causal", [False, True])
def test_types_and_odd_sizes(dtype, causal):
    compare(of(2, 70, 150, 20, 5), dtype, is_causal=causal, scale=-0.3)


@pytest.mark.usefixtures("passes")
@pytest.mark.parametrize("sizes", [(1, 1), (3, 200), (129, 64)], ids=str)
def test_more_queries_than_keys_and_fewer(sizes):
    compare(of(1, *sizes, 16), "bfloat16", is_causal=True)


@pytest.mark.usefixtures("passes")
def test_groups_of_heads():
    compare(of(4, 33, 130, 16, own=2), is_causal=True, enable_gqa=True)


@pytest.mark.usefixtures("passes")
@pytest.mark.parametrize("kind", ["bool", "numbers"])
def test_masks_and_queries_that_see_nothing(kind):
    mask = drawn((70, 90), 7)
    mask = mask > -0.3 if kind == "bool" else mask
    if kind == "bool":
        mask[[2, 69]] = False
    compare(of(2, 70, 90, 16), attn_mask=mask)


@pytest.mark.usefixtures("passes")
def test_keys_that_there_are_not_add_nothing_to_queries():
    """All scores are far below 0, so that a key of zeros had an infinite weight."""
    one = np.ones((1, 1, 70, 16), np.float32)
    found = []
    for lib, device in ((torch, "cpu"), (tenfold, "cuda")):
        q, k, v = (lib.tensor(x).to(device).requires_grad_() for x in (6 * one, -6 * one, drawn((1, 1, 70, 16))))
        lib.nn.functional.scaled_dot_product_attention(q, k, v).backward(lib.tensor(one).to(device))
        found.append([q.grad, k.grad, v.grad])
    check(*found, "float32")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_dropout_is_the_same_in_both(dtype, monkeypatch):
    words, found = tenfold.tensor([-5, 2**32 - 3], device="cuda"), []
    for form in (TWO, ONE):
        monkeypatch.setattr(attention_gradient, "forms", lambda call, form=form: [form])
        q, k, v = (tenfold.tensor(drawn((1, 70, 16), i)).to(getattr(tenfold, dtype)).cuda().requires_grad_() for i in range(3))
        tenfold.op.fused_dropped_attention(q, k, v, None, words, 0.4, True, None)[0].sum().backward()
        found.append([x.grad for x in (q, k, v)])
    check([x.cpu() for x in found[0]], found[1], dtype)


@pytest.mark.usefixtures("passes")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_sequences_and_what_belongs_to_none(dtype):
    lengths, more = [70, 0, 3], 5
    starts = [0, *accumulate(lengths)]
    arrays = [drawn((sum(lengths) + more, 2, 16), i) for i in range(4)]
    *leaves, g = [tenfold.tensor(x).to(getattr(tenfold, dtype)).cuda() for x in arrays]
    leaves = [x.detach().requires_grad_() for x in leaves]
    table = tenfold.tensor(starts, dtype=tenfold.int32).cuda()
    varlen_attn(*leaves, table, table, max(lengths), max(lengths), window_size=(-1, 0)).backward(g)
    *given, g = [torch.tensor(x).to(getattr(torch, dtype)) for x in arrays]
    given = [x.requires_grad_() for x in given]
    for first, length in zip(starts, lengths):
        if length:
            parts = [x[first : first + length].transpose(0, 1)[None] for x in (*given, g)]
            out = torch.nn.functional.scaled_dot_product_attention(*parts[:3], is_causal=True)
            out.backward(parts[3])
    check([x.grad for x in given], [x.grad for x in leaves], dtype)


def forms(queries, keys, causal=False, features=64):
    """What is guessed for a call, and what is timed against it."""
    from tenfold.cuda.kernels.attention import _call  # its arrays are the interpreter's

    q, k = (tenfold.zeros(1, 1, n, features, dtype=tenfold.bfloat16, device="cuda")._array for n in (queries, keys))
    return attention_gradient.forms(_call(q, k, k, None, causal, None))


def test_the_guess_and_what_has_two_passes_always():
    assert forms(1, 511) == forms(1, 1023, True) == [TWO, ONE]
    assert forms(1, 512) == forms(1, 1024, True) == [ONE, TWO]
    assert forms(1, 512, features=129) == [TWO]
    tenfold.use_deterministic_algorithms(True)
    try:
        assert forms(1, 512) == [TWO]
    finally:
        tenfold.use_deterministic_algorithms(False)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_timing_adds_nothing_to_the_result(dtype, known, monkeypatch, tmp_path):
    timed = []
    if known:  # only blocks are timed
        monkeypatch.setattr(attention_gradient, "forms", lambda call: [ONE])

    def measure(run, tile, index):
        timed.append(tile)
        run(tile)
        run(tile)
        return float(tile != ONE)

    monkeypatch.setattr(tuning, "measure", measure)
    monkeypatch.setattr(tuning, "path_of", lambda name: tmp_path / "tiles.json")
    monkeypatch.setattr(cudnn, "benchmark", True)
    tuning.forget()
    try:
        compare(of(1, 5, 20, 16), dtype, is_causal=True)
    finally:
        tuning.forget()
    assert ({ONE, TWO} & set(timed)) == (set() if known else {ONE, TWO})
    assert any(len(tile) > 1 for tile in timed) == (dtype == "bfloat16"), "float32 has one size of blocks"
