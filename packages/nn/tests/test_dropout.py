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


@pytest.mark.parametrize("name", ["dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"])
@pytest.mark.parametrize(("p", "training"), [(0.0, True), (0.5, False)])
def test_in_place_with_nothing_to_drop_writes_nothing(name: str, p: float, training: bool) -> None:
    x = tenfold.ones(2, 3, *[4] * {"2": 2, "3": 3}.get(name[7:8], 1), requires_grad=True)
    y = (x * 2).relu_()
    version = y._version
    assert getattr(tenfold.nn.functional, name)(y, p, training, True) is y
    assert y._version == version
    y.sum().backward()  # from what relu_ saved
    assert x.grad is not None
    assert x.grad.sum().item() == 2 * x.numel()
