"""nn.init: what the values are, without reference to another library."""

from __future__ import annotations

import math

import pytest

import tenfold
from tenfold import nn
from tenfold.nn import init


@pytest.mark.parametrize(
    ("name", "param", "gain"),
    [
        ("linear", None, 1),
        ("conv2d", None, 1),
        ("sigmoid", None, 1),
        ("tanh", None, 5 / 3),
        ("relu", None, math.sqrt(2)),
        ("leaky_relu", None, math.sqrt(2 / 1.0001)),
        ("leaky_relu", 0.2, math.sqrt(2 / 1.04)),
        ("selu", None, 0.75),
    ],
)
def test_gains(name, param, gain):
    assert init.calculate_gain(name, param) == pytest.approx(gain)


def test_wrong_gains():
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        init.calculate_gain("nope")
    with pytest.raises(ValueError, match="not a valid number"):
        init.calculate_gain("leaky_relu", True)


@pytest.mark.parametrize(
    ("fill", "low", "high"),
    [
        (lambda t: init.uniform_(t, 2.0, 3.0), 2.0, 3.0),
        (lambda t: init.xavier_uniform_(t, gain=2.0), -2 * math.sqrt(6 / 300), 2 * math.sqrt(6 / 300)),
        (lambda t: init.kaiming_uniform_(t, nonlinearity="relu"), -math.sqrt(6 / 200), math.sqrt(6 / 200)),
        (lambda t: init.kaiming_uniform_(t, mode="fan_out", a=math.sqrt(5)), -0.1, 0.1),
        (lambda t: init.trunc_normal_(t, 0.0, 1.0, -1.0, 0.5), -1.0, 0.5),
        (lambda t: init.trunc_normal_(t, 0.0, 1.0, 1.0, 2.0), 1.0, 2.0),
    ],
)
def test_bounds(fill, low, high):
    tenfold.manual_seed(0)
    t = tenfold.empty(100, 200)
    assert fill(t) is t
    width = high - low
    assert low <= t.min().item() < low + width / 50
    assert high - width / 50 < t.max().item() <= high


@pytest.mark.parametrize(
    ("fill", "mean", "std"),
    [
        (lambda t: init.normal_(t, 1.0, 2.0), 1.0, 2.0),
        (lambda t: init.xavier_normal_(t), 0.0, math.sqrt(2 / 300)),
        (lambda t: init.kaiming_normal_(t, nonlinearity="relu"), 0.0, math.sqrt(2 / 200)),
        (lambda t: init.trunc_normal_(t), 0.0, 0.8796),  # variance 1 - 4 phi(2) / (2 Phi(2) - 1) = 0.7737
    ],
)
def test_moments(fill, mean, std):
    tenfold.manual_seed(0)
    t = fill(tenfold.empty(100, 200))
    assert t.mean().item() == pytest.approx(mean, abs=std / 30)
    assert t.std().item() == pytest.approx(std, rel=0.03)


@pytest.mark.parametrize("shape", [(4, 7), (7, 4), (4, 2, 3)])
def test_orthogonal(shape):
    t = init.orthogonal_(tenfold.empty(shape), gain=2.0).reshape(shape[0], -1)
    small = t @ t.T if t.shape[0] <= t.shape[1] else t.T @ t
    assert (small - 4 * tenfold.eye(small.shape[0])).abs().max().item() < 1e-5


def test_constants_eye_and_dirac():
    assert init.constant_(tenfold.empty(2), 3.0).tolist() == [3.0, 3.0]
    assert init.ones_(tenfold.empty(2)).tolist() == [1.0, 1.0]
    assert init.zeros_(tenfold.empty(2)).tolist() == [0.0, 0.0]
    assert init.eye_(tenfold.empty(2, 3)).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    conv = nn.Conv1d(2, 4, 3, padding=1, bias=False)
    init.dirac_(conv.weight, groups=2)
    x = tenfold.arange(10.0).reshape(1, 2, 5)
    assert conv(x)[0].tolist() == [*x[0].tolist(), *x[0].tolist()]


def test_sparse():
    t = init.sparse_(tenfold.empty(10, 3), 0.35)
    assert (t == 0).sum(0).tolist() == [4, 4, 4]


def test_functions_leave_the_gradient_mode_and_leaf_alone():
    p = nn.Parameter(tenfold.empty(3, 3))
    assert init.xavier_normal_(p) is p
    assert p.requires_grad
    assert p.grad_fn is None
    assert tenfold.is_grad_enabled()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: init.eye_(tenfold.empty(2)),
        lambda: init.dirac_(tenfold.empty(2, 2)),
        lambda: init.dirac_(tenfold.empty(3, 2, 2), groups=2),
        lambda: init.sparse_(tenfold.empty(2), 0.1),
        lambda: init.orthogonal_(tenfold.empty(2)),
        lambda: init.xavier_uniform_(tenfold.empty(2)),
        lambda: init.kaiming_normal_(tenfold.empty(2, 2), mode="nope"),
    ],
)
def test_errors(wrong):
    with pytest.raises(ValueError):
        wrong()


def test_warnings():
    with pytest.warns(UserWarning, match="no-op"):
        init.kaiming_uniform_(tenfold.empty(0, 3))
    with pytest.warns(UserWarning, match="more than 2 std"):
        init.trunc_normal_(tenfold.empty(3), 9.0)
    with pytest.warns(FutureWarning, match="xavier_normal_"):
        init.xavier_normal(tenfold.empty(2, 2))
