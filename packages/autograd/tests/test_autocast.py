"""Autocast: which operators run in which dtype, nesting, gradients, the cache of casts."""

from __future__ import annotations

import pytest

import tenfold
from tenfold import amp


@pytest.fixture
def x():
    return tenfold.tensor([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("dtype", [tenfold.bfloat16, tenfold.float16])
def test_products_run_in_the_half_type(x, dtype):
    with tenfold.autocast("cpu", dtype=dtype):
        product = x @ x
    assert product.dtype is dtype
    assert product.tolist() == [[7.0, 10.0], [15.0, 22.0]]
    assert (x @ x).dtype is tenfold.float32


def test_the_cpus_default_is_bfloat16(x):
    with tenfold.autocast("cpu"):
        assert x.mm(x).dtype is tenfold.bfloat16


def test_sensitive_operators_run_in_float32(x):
    with tenfold.autocast("cpu"):
        assert (x @ x).prod().dtype is tenfold.float32


def test_other_operators_take_what_comes(x):
    with tenfold.autocast("cpu"):
        assert (x + 1).dtype is tenfold.float32
        assert ((x @ x) + (x @ x)).dtype is tenfold.bfloat16
        assert ((x @ x) + x).dtype is tenfold.float32


def test_float64_and_integers_stay(x):
    with tenfold.autocast("cpu"):
        assert (x.double() @ x.double()).dtype is tenfold.float64
        assert (x.long() @ x.long()).dtype is tenfold.int64


def test_a_disabled_autocast_inside(x):
    with tenfold.autocast("cpu"), tenfold.autocast("cpu", enabled=False):
        assert (x @ x).dtype is tenfold.float32


def test_the_innermost_decides(x):
    with tenfold.autocast("cpu", dtype=tenfold.float16), tenfold.autocast("cpu", dtype=tenfold.bfloat16):
        assert (x @ x).dtype is tenfold.bfloat16


def test_as_a_decorator(x):
    @tenfold.autocast("cpu")
    def product(a):
        """Squares."""
        return a @ a

    assert product(x).dtype is tenfold.bfloat16
    assert product.__doc__ == "Squares."


def test_bodies_of_composites_are_cast(x):
    with tenfold.autocast("cpu"):
        assert x.unsqueeze(0).matmul(x).dtype is tenfold.bfloat16
        assert x.mv(x[0]).dtype is tenfold.float32


def test_gradients_come_in_the_parameters_dtype(x):
    w = tenfold.tensor([[0.5, -1.0], [2.0, 1.0]], requires_grad=True)
    with tenfold.autocast("cpu"):
        loss = (x @ w).float().sum()
    loss.backward()
    assert w.grad.dtype is tenfold.float32
    assert w.grad.tolist() == [[4.0, 4.0], [6.0, 6.0]]


def test_a_weight_is_cast_once(x):
    w = tenfold.ones(2, 2, requires_grad=True)
    with tenfold.autocast("cpu") as scope:
        (x @ w) @ w
        assert len(scope._casts) == 1
        (_, _, cast) = scope._casts[id(w)]
        assert cast.dtype is tenfold.bfloat16
    assert scope._casts == {}


def test_a_changed_weight_is_cast_again(x):
    w = tenfold.ones(2, 2, requires_grad=True)
    with tenfold.autocast("cpu"):
        before = (x @ w).tolist()
        with tenfold.no_grad():
            w.mul_(2.0)
        assert (x @ w).tolist() == [[2 * v for v in row] for row in before]


def test_without_the_cache(x):
    w = tenfold.ones(2, 2, requires_grad=True)
    with tenfold.autocast("cpu", cache_enabled=False) as scope:
        (x @ w).sum().backward()
        assert scope._casts == {}
    assert w.grad.tolist() == [[4.0, 4.0], [6.0, 6.0]]


def test_another_devices_autocast_leaves_the_cpu_alone(x):
    with tenfold.autocast("meta", dtype=tenfold.float16):
        assert (x @ x).dtype is tenfold.float32
        assert (x.to("meta") @ x.to("meta")).dtype is tenfold.float16
        assert (x.to("meta") @ x.to("meta")).exp().dtype is tenfold.float32


def test_wrong_arguments():
    with pytest.raises(ValueError, match="expected `device_type` of type `str`"):
        tenfold.autocast(0)
    with pytest.raises(RuntimeError, match="unsupported autocast device_type 'quantum'"):
        tenfold.autocast("quantum")
    with pytest.raises(RuntimeError, match=r"dtype must be tenfold.float16 or tenfold.bfloat16, got tenfold.int64"):
        tenfold.autocast("cpu", dtype=tenfold.int64)
    assert not amp.is_autocast_available("quantum")
