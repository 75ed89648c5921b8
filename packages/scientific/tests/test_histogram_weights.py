"""Histograms of weights that are no numbers."""

from __future__ import annotations

import pytest

import tenfold


def test_a_weight_that_is_nan_counts_in_its_own_bin_alone() -> None:
    nan = float("nan")
    points, weights = tenfold.tensor([0.5, 1.5, 9.0, nan]), tenfold.tensor([1.0, nan, nan, nan])
    assert tenfold.histogram(points, 3, range=(0.0, 3.0), weight=weights).hist.nan_to_num(7.0).tolist() == [1.0, 7.0, 0.0]


@pytest.mark.parametrize("of_points", [False, True])
def test_what_does_not_fit_the_input_is_refused(of_points):
    points = tenfold.tensor([[0.5], [1.5]]) if of_points else tenfold.tensor([0.5, 1.5])
    counted = (
        (lambda b, **k: tenfold.histogramdd(points, [b], **k))
        if of_points
        else (lambda b, **k: tenfold.histogram(points, b, **k))
    )
    edges = tenfold.tensor([0.0, 1.0, 2.0])
    assert counted(edges).hist.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="bins tensors should have the same dtype"):
        counted(edges.double())
    with pytest.raises(RuntimeError, match="bins tensor should have one dimension, but got 2"):
        counted(edges.reshape(1, 3))
    with pytest.raises(RuntimeError, match="weight tensor should have the same dtype"):
        counted(edges, weight=tenfold.ones(2, dtype=tenfold.float64))
