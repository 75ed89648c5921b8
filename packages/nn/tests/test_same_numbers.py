"""A layer gives the same numbers, to the last bit, whether a gradient is wanted or not."""

from __future__ import annotations

import pytest

import tenfold
from tenfold import nn

LAYERS = {
    "LayerNorm": lambda n: nn.LayerNorm(n),
    "LayerNorm without bias": lambda n: nn.LayerNorm(n, bias=False),
    "LayerNorm, plain": lambda n: nn.LayerNorm(n, elementwise_affine=False),
    "RMSNorm": lambda n: nn.RMSNorm(n),
    "GroupNorm": lambda n: nn.GroupNorm(1, 4),
    "Softmax": lambda n: nn.Softmax(-1),
    "LogSoftmax": lambda n: nn.LogSoftmax(-1),
    "GELU": lambda n: nn.GELU(),
    "SiLU": lambda n: nn.SiLU(),
    "Sigmoid": lambda n: nn.Sigmoid(),
    "MaxPool1d": lambda n: nn.MaxPool1d(2, 2, 1),
    "LSTM": lambda n: nn.LSTM(n, 3),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("n", [1, 8, 24, 25, 100])
@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64])
def test_with_and_without_a_gradient(name, n, dtype):
    tenfold.manual_seed(0)
    layer = LAYERS[name](n).to(dtype)
    x = 3 * tenfold.randn(2, 4, n, dtype=dtype)
    recorded = layer(x.clone().requires_grad_())
    with tenfold.no_grad():
        plain = layer(x)
    if name == "LSTM":
        recorded, plain = recorded[0], plain[0]
    assert tenfold.equal(recorded, plain)
