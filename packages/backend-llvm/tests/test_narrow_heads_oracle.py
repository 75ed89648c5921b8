"""Attention whose queries or values do not fill whole registers, compiled with zeros behind them, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import attention
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
SHAPES = [(1, 4, 8, 4), (2, 3, 7, 5), (2, 2, 20, 24), (3, 9, 17), (2, 2, 1, 3)]
KINDS = ["plain", "causal", "keep", "add"]


def _masks(m, rows, kind):
    kept = np.random.default_rng(3).random((rows, rows)) < 0.6
    kept[:, 0] = True
    if kind in ("keep", "add"):
        return {"attn_mask": m.from_numpy(kept if kind == "keep" else np.where(kept, 0.3, -1.0))}
    return {"is_causal": kind == "causal"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [None, 6])
@pytest.mark.parametrize("shape", SHAPES)
def test_values_gradients_and_strides(shape, width, kind):
    sizes = [shape, shape, (*shape[:-1], width or shape[-1])]
    arrays = [np.random.default_rng(i).standard_normal(size) for i, size in enumerate(sizes)]
    found = []
    for m in (tenfold, torch):
        given = [m.from_numpy(a.copy()).requires_grad_() for a in arrays]
        out = m.nn.functional.scaled_dot_product_attention(*given, **_masks(m, shape[-2], kind))
        (out * m.cos(m.arange(out.numel(), dtype=m.float64)).reshape(tuple(out.shape))).sum().backward()
        found.append((out, *(x.grad for x in given)))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-10, atol=1e-12)
    assert found[0][0].stride() == found[1][0].stride()


@pytest.mark.parametrize("width", [4, 16])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_results_lie_as_the_query(width, dtype):
    for turned in (False, True):
        for _ in range(2):  # the second finds a plan
            found = []
            for m in (tenfold, torch):
                x = m.ones(2, 7, 3, width, dtype=getattr(m, dtype)) if turned else m.ones(2, 3, 7, width, dtype=getattr(m, dtype))
                q = x.transpose(1, 2) if turned else x
                found.append(m.nn.functional.scaled_dot_product_attention(q, q, q).stride())
            assert found[0] == found[1]


def test_narrow_heads_are_compiled():
    q = np.random.default_rng(0).standard_normal((2, 3, 4, 5)).astype(np.float32)
    out, sums = attention.fused_attention(q, q, q, None, False, None)
    grads = attention.fused_attention_grad(out, q, q, q, out, sums, None, False, None)
    assert [g.shape for g in grads] == [q.shape] * 3
