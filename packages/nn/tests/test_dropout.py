"""Dropout draws what it should, keeps the mean, and refuses what is no probability."""

from __future__ import annotations

import pytest

import tenfold


def test_dropout_keeps_the_mean() -> None:
    tenfold.manual_seed(0)
    x = tenfold.ones(10000)
    y = tenfold.dropout(x, 0.25, True)
    assert set(y.unique().tolist()) == {0.0, tenfold.tensor(1 / 0.75).item()}
    assert abs(y.mean().item() - 1) < 0.02
    assert tenfold.dropout(x, 0.25, False) is x
    assert tenfold.dropout(x, 1.0, True).sum().item() == 0
    with pytest.raises(RuntimeError, match="probability"):
        tenfold.dropout(x, 1.5, True)
    whole = tenfold.feature_dropout(tenfold.ones(4, 8, 5), 0.5, True)
    assert all(len(set(row)) == 1 for block in whole.tolist() for row in block)


def test_dropout_inside_vmap_is_drawn_per_example_or_once() -> None:
    for randomness, low, high in (("different", 5, 8), ("same", 1, 1)):
        tenfold.manual_seed(3)
        dropped = tenfold.func.vmap(lambda x: tenfold.dropout(x + 1, 0.5, True), randomness=randomness)(tenfold.zeros(8, 4))
        distinct = {tuple(row) for row in dropped.tolist()}
        assert low <= len(distinct) <= high


@pytest.mark.parametrize("drop", ["dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout"])
def test_dropout_of_what_the_examples_share_differs_between_them(drop: str) -> None:
    tenfold.manual_seed(0)
    shared = tenfold.ones(2, 3, 200)
    made = tenfold.func.vmap(lambda _: getattr(tenfold, drop)(shared, 0.5, True), randomness="different")(tenfold.zeros(4))
    assert made.shape == (4, 2, 3, 200)
    assert len({tuple(one.flatten().tolist()) for one in made}) == 4
    same = tenfold.func.vmap(lambda _: getattr(tenfold, drop)(shared, 0.5, True), randomness="same")(tenfold.zeros(4))
    assert all((one == same[0]).all() for one in same)
