"""What programs touch to give layers their first values by themselves: lazy parameters' data, names of recurrent weights."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold as tf
import tenfold.nn as nn

torch = pytest.importorskip("torch")


def test_data_of_a_lazy_parameter_is_empty_and_may_be_written() -> None:
    for lib, layers in ((tf, nn), (torch, torch.nn)):
        layer = layers.LazyLinear(2)
        for parameter in layer.parameters():
            data = parameter.data
            assert type(data) is lib.Tensor
            assert tuple(data.normal_(0, 0.01).shape) == tuple(parameter.size()) == (0,)
            parameter.data = lib.zeros(0, dtype=lib.float64)
            assert type(parameter) is layers.UninitializedParameter
        assert layer(lib.ones(1, 3, dtype=lib.float64)).dtype is lib.float64
        assert tuple(layer.weight.shape) == (2, 3)


@pytest.mark.parametrize("options", [{}, {"bias": False}, {"num_layers": 2, "bidirectional": True}, {"proj_size": 2}])
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_names_of_recurrent_weights(kind: str, options: dict[str, Any]) -> None:
    if kind != "LSTM" and "proj_size" in options:
        options = {}
    ours, theirs = (getattr(lib, kind)(3, 4, **options) for lib in (nn, torch.nn))
    assert ours._flat_weights_names == theirs._flat_weights_names
    assert ours._all_weights == theirs._all_weights
    assert [tuple(weight.shape) for weight in ours._flat_weights] == [tuple(weight.shape) for weight in theirs._flat_weights]
