"""Bags of a table's rows in half precision: PyTorch's numbers, and those of wide rows in every dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.llvm.kernels import bags

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)


def both(dtype: str, *arrays: Any) -> list[list[Any]]:
    return [[m.tensor(a).to(getattr(m, dtype)) if a.dtype.kind == "f" else m.tensor(a) for a in arrays] for m in (tenfold, torch)]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("width", [1, 3, 16, 50, 80, 200])
def test_halves(width, mode, dtype):
    table, index, offsets = RNG.standard_normal((30, width)), RNG.integers(0, 30, 15), np.array([0, 4, 4, 15])
    slopes, weights = RNG.standard_normal((4, width)), RNG.standard_normal(15)
    given = both(dtype, table.astype(np.float32), slopes.astype(np.float32), weights.astype(np.float32), index, offsets)
    for options in ({}, {"include_last_offset": True}, {"weighted": True}):
        if mode != "sum" and "weighted" in options:
            continue
        results = []
        for m, (w, g, factors, i, o) in zip((tenfold, torch), given, strict=True):
            w = w.clone().requires_grad_()
            named = {"per_sample_weights": factors} if "weighted" in options else dict(options)
            y = m.nn.functional.embedding_bag(i, w, o, mode=mode, **named)
            y.backward(g[: len(y)])
            results.append((y.detach().double().numpy(), w.grad.double().numpy()))
        for ours, theirs in zip(*results, strict=True):
            np.testing.assert_array_equal(ours, theirs, err_msg=str(options))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("width", [1, 8, 17, 64, 65, 130, 300])
def test_rows_of_any_width(width, dtype):
    table, index = RNG.integers(-4, 5, (30, width)).astype(dtype), RNG.integers(0, 30, (6, 7))
    out, sizes, _ = bags.fused_bags(table, index, None, None, "sum", 6, 3, False, False)
    kept = np.where(index == 3, 0, 1)
    np.testing.assert_array_equal(out, (table[index] * kept[..., None]).sum(1))
    np.testing.assert_array_equal(sizes, kept.sum(1))
    out, _, places = bags.fused_bags(table, index, None, None, "max", 6, -1, False, False)
    np.testing.assert_array_equal(out, table[index].max(1))
    np.testing.assert_array_equal(np.take_along_axis(table, places, 0), out)
