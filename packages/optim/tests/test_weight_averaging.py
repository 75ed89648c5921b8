"""SWA and EMA: averages of weights, batch statistics, errors."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold
from tenfold.optim import SGD

nn = pytest.importorskip("tenfold.nn")


def line(weight: float) -> Any:
    model = nn.Linear(1, 1, bias=False)
    with tenfold.no_grad():
        model.weight.fill_(weight)
    return model


def averaged(weights: list[float], **options: Any) -> float:
    model = tenfold.optim.swa_utils.AveragedModel(line(0.0), **options)
    for weight in weights:
        model.update_parameters(line(weight))
    assert int(model.n_averaged) == len(weights)
    return model.module.weight.item()


def test_default_is_the_mean() -> None:
    assert averaged([1.0, 2.0, 6.0]) == pytest.approx(3.0)


def test_exponential_moving_average() -> None:
    utils = tenfold.optim.swa_utils
    expected = 0.5 * (0.5 * 1.0 + 0.5 * 2.0) + 0.5 * 6.0
    assert averaged([1.0, 2.0, 6.0], multi_avg_fn=utils.get_ema_multi_avg_fn(0.5)) == pytest.approx(expected)
    assert averaged([1.0, 2.0, 6.0], avg_fn=utils.get_ema_avg_fn(0.5)) == pytest.approx(expected)
    assert averaged([1.0, 2.0, 6.0], avg_fn=utils.get_swa_avg_fn()) == pytest.approx(3.0)


def test_the_copy_is_apart_and_saves_like_pytorchs() -> None:
    source = line(1.0)
    model = tenfold.optim.swa_utils.AveragedModel(source)
    assert list(model.state_dict()) == ["n_averaged", "module.weight"]
    model.update_parameters(line(5.0))
    assert source.weight.item() == 1.0
    assert model(tenfold.ones(1, 1)).item() == 5.0


def test_buffers_are_copied_or_averaged() -> None:
    for use_buffers, expected in ((False, 4.0), (True, 3.0)):
        source = nn.BatchNorm1d(1)
        model = tenfold.optim.swa_utils.AveragedModel(source, use_buffers=use_buffers)
        for value in (2.0, 4.0):
            source.running_mean.fill_(value)
            model.update_parameters(source)
        assert model.module.running_mean.item() == expected


def test_update_bn_takes_the_mean_over_batches() -> None:
    model = nn.BatchNorm1d(1)
    model.eval()
    batches = [tenfold.tensor([[0.0], [2.0]]), [tenfold.tensor([[4.0], [6.0]]), "label"]]
    tenfold.optim.swa_utils.update_bn(batches, model)
    assert model.running_mean.item() == pytest.approx(3.0)
    assert model.running_var.item() == pytest.approx(2.0)
    assert (model.momentum, model.training) == (0.1, False)


def test_wrong_options() -> None:
    utils = tenfold.optim.swa_utils
    for make in (utils.get_ema_avg_fn, utils.get_ema_multi_avg_fn):
        with pytest.raises(ValueError, match="Invalid decay value 2"):
            make(2)
    with pytest.raises(AssertionError, match="Only one of"):
        utils.AveragedModel(line(0.0), avg_fn=utils.get_swa_avg_fn(), multi_avg_fn=utils.get_swa_multi_avg_fn())
    optimizer = SGD([tenfold.ones(1, requires_grad=True)])
    with pytest.raises(ValueError, match="anneal_strategy"):
        utils.SWALR(optimizer, 0.1, anneal_strategy="step")
    with pytest.raises(ValueError, match="anneal_epochs"):
        utils.SWALR(optimizer, 0.1, anneal_epochs=-1)
    with pytest.raises(ValueError, match="swa_lr must have the same length"):
        utils.SWALR(optimizer, [0.1, 0.2])
