"""Histograms of weights that are no numbers."""

from __future__ import annotations

import tenfold


def test_a_weight_that_is_nan_counts_in_its_own_bin_alone() -> None:
    nan = float("nan")
    points, weights = tenfold.tensor([0.5, 1.5, 9.0, nan]), tenfold.tensor([1.0, nan, nan, nan])
    assert tenfold.histogram(points, 3, range=(0.0, 3.0), weight=weights).hist.nan_to_num(7.0).tolist() == [1.0, 7.0, 0.0]
