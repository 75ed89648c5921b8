"""Which dtypes layers' operators accept: as PyTorch, with its exception types."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
import tenfold.nn.functional as F

torch = pytest.importorskip("torch")

DTYPES = ("bool", "uint8", "int8", "int32", "int64", "float32", "float64", "complex64")
CALLS = {
    "avg_pool1d": lambda lib, x: lib.avg_pool1d(x[0], 2),
    "avg_pool2d": lambda lib, x: lib.avg_pool2d(x, 2),
    "avg_pool3d": lambda lib, x: lib.avg_pool3d(x, 2),
    "max_pool1d": lambda lib, x: lib.max_pool1d(x[0], 2),
    "max_pool2d": lambda lib, x: lib.max_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda lib, x: lib.adaptive_avg_pool2d(x, 2),
    "adaptive_max_pool2d": lambda lib, x: lib.adaptive_max_pool2d(x, 2),
    "conv2d": lambda lib, x: lib.conv2d(x, x[:, :, :1, :1]),
    "conv_transpose2d": lambda lib, x: lib.conv_transpose2d(x, x[:, :, :1, :1]),
    "linear": lambda lib, x: lib.linear(x[0, 0], x[0, 0]),
    "group_norm": lambda lib, x: lib.group_norm(x, 1),
    "layer_norm": lambda lib, x: lib.layer_norm(x, x.shape[1:]),
    "binary_cross_entropy": lambda lib, x: lib.binary_cross_entropy(x, x),
    "huber_loss": lambda lib, x: lib.huber_loss(x, x),
    "pixel_shuffle": lambda lib, x: lib.pixel_shuffle(x[..., :1, :1].expand(1, 4, 2, 2), 2),
    "nearest": lambda lib, x: lib.interpolate(x, scale_factor=2),
    "log_softmax": lambda lib, x: lib.log_softmax(x, 1),
    "silu": lambda lib, x: lib.silu(x),
}


def outcome(lib, call, dtype):
    values = lib.ones(1, 1, 4, 4, 4) if call is CALLS["avg_pool3d"] else lib.ones(1, 1, 4, 4)
    try:
        call(lib.nn.functional if lib is torch else F, values.to(getattr(lib, dtype)))
    except RuntimeError:  # NotImplementedError is one
        return "refused"
    return "accepted"


@pytest.mark.parametrize("name", CALLS)
def test_dtypes(name):
    ours = {d: outcome(tenfold, CALLS[name], d) for d in DTYPES}
    assert ours == {d: outcome(torch, CALLS[name], d) for d in DTYPES}


@pytest.mark.parametrize("name", ["avg_pool2d", "huber_loss", "log_softmax"])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_refusals_name_operator_and_dtype(name, device):
    x = tenfold.ones(1, 1, 4, 4, dtype=tenfold.int8, device=device)
    with pytest.raises(NotImplementedError, match=rf"{name}.*(int8)"):
        CALLS[name](F, x)


def test_nothing_is_computed_for_what_is_refused():
    x = tenfold.from_numpy(np.full((1, 1, 2, 2), 255, np.uint8))
    with pytest.raises(NotImplementedError, match="'Byte'"):
        F.adaptive_avg_pool2d(x, 1)
