"""Histograms between edges that rise, fall or do neither, with weights and as densities, against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch: Any = pytest.importorskip("torch")

EDGES = {
    "rising": ([-2.0, -0.5, 0.0, 2.5], [-1.0, 0.5, 1.0]),
    "falling": ([2.0, 0.0, -2.0], [1.0, 0.0]),
    "neither": ([-2.0, 1.0, -0.5, 2.0], [-1.5, 2.0, 0.25, 1.0]),
}


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("edges", EDGES)
def test_points_between_edges(edges: str, weighted: bool, density: bool) -> None:
    rng = np.random.default_rng(3)
    points, weights = rng.normal(size=(40, 2)), rng.random(40)
    results = []
    for lib in (tenfold, torch):
        bins = [lib.tensor(side, dtype=lib.float64) for side in EDGES[edges]]
        weight = lib.from_numpy(weights) if weighted else None
        found = lib.histogramdd(lib.from_numpy(points), bins, weight=weight, density=density)
        one = lib.histogram(lib.from_numpy(points[:, 0].copy()), bins[0], weight=weight, density=density)
        results.append([found.hist.numpy(), one.hist.numpy()])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_counts_and_edges_are_written_where_they_are_wanted() -> None:
    for t in (tenfold, torch):
        x, into = t.tensor([1.0, 2.0, 1.0]), (t.empty(4), t.empty(5))
        hist, edges = t.histogram(x, 4, range=(0.0, 3.0), out=into)
        assert hist is into[0]
        assert edges is into[1]
        assert hist.tolist() == [0.0, 2.0, 1.0, 0.0]
        assert edges.tolist() == [0.0, 0.75, 1.5, 2.25, 3.0]
        for wrong in ((t.empty(0, dtype=t.float64), t.empty(0)), (t.empty(0), t.empty(0, dtype=t.int32))):
            with pytest.raises(RuntimeError, match="dtype"):
                t.histogram(x, 4, out=wrong)


@pytest.mark.parametrize("points", [0, 3])
def test_points_without_coordinates(points):
    for lib in (torch, tenfold):
        found = lib.histogramdd(lib.ones(points, 0), [])
        assert found.hist.tolist() == 0.0
        assert tuple(found.bin_edges) == ()


def test_bins_are_a_hundred_where_none_are_said() -> None:
    points = np.random.default_rng(4).normal(size=50)
    for density in (False, True):
        ours = tenfold.histogram(tenfold.from_numpy(points), density=density)
        theirs = torch.histogram(torch.from_numpy(points), density=density)
        assert ours.hist.shape == (100,)
        np.testing.assert_allclose(ours.hist.numpy(), theirs.hist.numpy(), rtol=1e-12)
        np.testing.assert_allclose(ours.bin_edges.numpy(), theirs.bin_edges.numpy(), rtol=1e-12)
    method = tenfold.from_numpy(points).histogram(range=(0.0, 1.0))
    np.testing.assert_array_equal(method.hist.numpy(), torch.from_numpy(points).histogram(range=(0.0, 1.0)).hist.numpy())


def test_a_range_is_for_a_number_of_bins():
    for t in (torch, tenfold):
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            t.histogram(t.ones(2), t.tensor([0.0, 1.0]), range=(0, 1))
