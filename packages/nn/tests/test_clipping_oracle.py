"""Norms and clipping of gradients of several dtypes against PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

DTYPES = [
    ("complex64",), ("complex64", "float64"), ("float16", "float32"), ("float16", "bfloat16"), ("float16", "float16"),
    ("bfloat16", "float64"), ("float32", "float64"),
]  # fmt: skip


@pytest.mark.parametrize("order", [1.0, 2.0, float("inf"), 3.0])
@pytest.mark.parametrize("dtypes", DTYPES, ids="+".join)
def test_gradients_of_several_dtypes(dtypes: tuple[str, ...], order: float) -> None:
    def clipped(lib: Any) -> tuple[str, float, list[Any]]:
        params = [lib.nn.Parameter(lib.ones(3, dtype=getattr(lib, dtype))) for dtype in dtypes]
        for n, p in enumerate(params):
            p.grad = lib.full((3,), n + 2.0, dtype=p.dtype)
        total = lib.nn.utils.clip_grad_norm_(params, 1.0, order)
        return str(total.dtype).rpartition(".")[2], total.item(), [p.grad[0].item() for p in params]

    ours, theirs = clipped(tenfold), clipped(torch)
    assert ours[0] == theirs[0]
    assert ours[1:] == (pytest.approx(theirs[1], rel=1e-6), pytest.approx(theirs[2], rel=1e-6))
