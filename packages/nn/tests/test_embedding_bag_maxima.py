"""Maxima of bags: which of several equal rows gets the gradient, bags without rows; and what knows of shrunken rows."""

from __future__ import annotations

import math

import pytest

import tenfold
from tenfold.nn import functional as F

forward_ad = pytest.importorskip("tenfold.autograd.forward_ad")


def maxima(rows: list[float], offsets: list[int]) -> tuple[list[float], list[float]]:
    weight = tenfold.tensor(rows).unsqueeze(1).requires_grad_()
    out = F.embedding_bag(tenfold.arange(len(rows)), weight, tenfold.tensor(offsets), mode="max")
    out.sum().backward()
    return out.flatten().tolist(), weight.grad.flatten().tolist()


def test_the_first_of_equal_rows_gets_the_gradient() -> None:
    assert maxima([1.0, 3.0, 3.0, 2.0, 2.0], [0, 3]) == ([3.0, 2.0], [0.0, 1.0, 0.0, 1.0, 0.0])
    assert maxima([-math.inf, -math.inf], [0]) == ([-math.inf], [1.0, 0.0])


def test_bags_without_rows_are_zero() -> None:
    assert maxima([-1.0, -2.0], [0, 2, 2]) == ([-1.0, 0.0, 0.0], [1.0, 0.0])
    weight = tenfold.ones(2, 3, requires_grad=True)
    out = F.embedding_bag(tenfold.zeros(0, dtype=tenfold.int64), weight, tenfold.tensor([0, 0]), mode="max")
    out.sum().backward()
    assert out.tolist() == [[0.0] * 3] * 2
    assert weight.grad.tolist() == [[0.0] * 3] * 2


def test_nan_counts_where_it_comes_first() -> None:
    assert maxima([1.0, math.nan, 2.0], [0]) == ([2.0], [0.0, 0.0, 1.0])
    out, grad = maxima([math.nan, 1.0, math.inf], [0])
    assert math.isnan(out[0])
    assert grad == [1.0, 0.0, 0.0]


def test_tangents_know_nothing_of_shrunken_rows() -> None:
    weight = tenfold.full((3, 4), 5.0)
    with forward_ad.dual_level():
        table = forward_ad.make_dual(weight, tenfold.ones(3, 4))
        primal, tangent = forward_ad.unpack_dual(F.embedding(tenfold.tensor([0, 2]), table, max_norm=1.0))
    assert tangent.tolist() == [[1.0] * 4] * 2
    assert primal.norm(dim=1).tolist() == pytest.approx([1.0, 1.0])
    assert weight[1].tolist() == [5.0] * 4


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_no_offsets_are_no_bags(mode):
    none, weight = tenfold.zeros(0, dtype=tenfold.int64), tenfold.ones(3, 2)
    assert F.embedding_bag(none, weight, none, mode=mode).shape == (0, 2)
    assert F.embedding_bag(tenfold.tensor([1]), weight, none, mode=mode).shape == (0, 2)
    with pytest.raises(RuntimeError, match="at least 1"):
        F.embedding_bag(none, weight, none, mode=mode, include_last_offset=True)
