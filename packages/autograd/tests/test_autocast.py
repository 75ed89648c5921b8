"""Autocast: which operators run in which dtype, nesting, gradients, the cache of casts."""

from __future__ import annotations

import threading

import pytest

import tenfold
from tenfold import amp
from tenfold.amp import lists
from tenfold.amp.settings import SETTINGS
from tenfold.dispatch.runtime import RUNTIME, Layer


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


def test_a_device_type_may_have_an_index(x):
    with tenfold.autocast("cpu:0", dtype=tenfold.float16):
        assert x.mm(x).dtype is tenfold.float16
        assert tenfold.is_autocast_enabled("cpu:0")
    assert amp.is_autocast_available("cpu:0")


def test_sensitive_operators_run_in_float32(x):
    with tenfold.autocast("cpu"):
        assert (x @ x).prod().dtype is tenfold.float32


def test_sizes_pass_through(x):
    with tenfold.autocast("cpu"):
        assert tenfold.zeros_like(x).equal(tenfold.zeros(x.shape))
        assert tenfold.ones(x.shape).reshape(x.shape[::-1]).shape == x.shape[::-1]


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
    with tenfold.autocast("cpu"):
        (x @ w) @ w
        assert len(SETTINGS.casts) == 1
        (_, _, cast) = SETTINGS.casts[id(w)]
        assert cast.dtype is tenfold.bfloat16
    assert SETTINGS.casts == {}


def test_a_changed_weight_is_cast_again(x):
    w = tenfold.ones(2, 2, requires_grad=True)
    with tenfold.autocast("cpu"):
        before = (x @ w).tolist()
        with tenfold.no_grad():
            w.mul_(2.0)
        assert (x @ w).tolist() == [[2 * v for v in row] for row in before]


def test_without_the_cache(x):
    w = tenfold.ones(2, 2, requires_grad=True)
    with tenfold.autocast("cpu", cache_enabled=False):
        (x @ w).sum().backward()
        assert SETTINGS.casts == {}
    assert w.grad.tolist() == [[4.0, 4.0], [6.0, 6.0]]


def test_another_devices_autocast_leaves_the_cpu_alone(x):
    with tenfold.autocast("meta", dtype=tenfold.float16):
        assert (x @ x).dtype is tenfold.float32
        assert (x.to("meta") @ x.to("meta")).dtype is tenfold.float16
        assert (x.to("meta") @ x.to("meta")).exp().dtype is tenfold.float32


def test_wrong_arguments():
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        tenfold.autocast(0)
    with pytest.raises(RuntimeError, match="Invalid device string: 'not a device'"):
        tenfold.autocast("not a device")
    with pytest.raises(RuntimeError, match="device type at start of device string: quantum"):
        tenfold.autocast("quantum")
    with pytest.raises(TypeError, match=r"argument 'enabled' .* must be bool, not str"):
        tenfold.set_autocast_enabled("cpu", "yes")
    with pytest.raises(RuntimeError, match="device type at start of device string: quantum"):
        tenfold.is_autocast_enabled("quantum")
    with pytest.raises(TypeError, match=r"argument 'dtype' .* must be tenfold.dtype, not str"):
        tenfold.set_autocast_dtype("cpu", "half")
    with pytest.raises(RuntimeError, match="device type at start of device string: quantum"):
        amp.is_autocast_available("quantum")


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.int64])
def test_a_dtype_that_is_no_half_type_switches_it_off_with_a_warning(x, dtype):
    with pytest.warns(UserWarning, match="In CPU autocast, but the target dtype is not supported. Disabling autocast."):
        scope = tenfold.autocast("cpu", dtype=dtype)
    with scope:
        assert (x @ x).dtype is tenfold.float32


@pytest.mark.parametrize("enabled", [True, False])
def test_the_outer_one_goes_on_inside_that_of_another_device_type(x, enabled):
    with tenfold.autocast("cpu"), tenfold.autocast("meta", enabled=enabled):
        assert (x @ x).dtype is tenfold.bfloat16
        assert tenfold.is_autocast_enabled("cpu")
    with tenfold.autocast("cpu"), tenfold.autocast("cpu", enabled=False), tenfold.autocast("meta", enabled=enabled):
        assert (x @ x).dtype is tenfold.float32


def test_switched_on_by_hand(x):
    tenfold.set_autocast_dtype("cpu", tenfold.float16)
    tenfold.set_autocast_enabled("cpu", True)
    try:
        assert (x @ x).dtype is tenfold.float16
        with tenfold.autocast("cpu", dtype=tenfold.bfloat16):
            assert (x @ x).dtype is tenfold.bfloat16
        with tenfold.autocast("cpu", enabled=False):
            assert (x @ x).dtype is tenfold.float32
            tenfold.set_autocast_enabled("cpu", True)
            assert (x @ x).dtype is tenfold.float16
        assert tenfold.is_autocast_cpu_enabled()
        assert (x @ x).dtype is tenfold.float16
    finally:
        tenfold.set_autocast_dtype("cpu", tenfold.bfloat16)
        tenfold.set_autocast_enabled("cpu", False)
    assert (x @ x).dtype is tenfold.float32
    assert RUNTIME["ACTIVE"] == 0


def test_switched_off_by_hand_inside(x):
    with tenfold.autocast("cpu"):
        tenfold.set_autocast_enabled(device_type="cpu", enabled=False)
        assert (x @ x).dtype is tenfold.float32
    assert not tenfold.is_autocast_enabled("cpu")


def test_the_cache_is_the_threads_setting(x):
    tenfold.set_autocast_cache_enabled(False)
    try:
        with tenfold.autocast("cpu"):
            x @ x.requires_grad_()
            assert SETTINGS.casts == {}
    finally:
        tenfold.set_autocast_cache_enabled(True)
    assert tenfold.is_autocast_cache_enabled()


def test_one_scope_entered_twice(x):
    scope = tenfold.autocast("cpu")
    with scope, scope:
        assert (x @ x).dtype is tenfold.bfloat16
    assert (x @ x).dtype is tenfold.float32


def test_arguments_that_have_to_agree_take_the_widest_dtype(x):
    half, at = x.bfloat16(), tenfold.tensor([1, 0])
    with tenfold.autocast("cpu"):
        assert tenfold.cat([half, x]).dtype is tenfold.float32
        assert tenfold.stack([half, half]).dtype is tenfold.bfloat16
        assert tenfold.index_copy(half, 0, at, x[:2]).dtype is tenfold.float32
        assert tenfold.index_copy(x, 0, at, half[:2]).dtype is tenfold.float32


def test_the_short_way_counts_layers_right(x):
    """Inside of autocast calls go the short way, and all that looks for layers finds what it did before."""
    before = RUNTIME["ACTIVE"]
    w = x.clone().requires_grad_()
    with tenfold.autocast("cpu"), tenfold.autocast("cpu", dtype=tenfold.float16):
        assert RUNTIME["ACTIVE"] == before + 2
        assert (x @ w).dtype is tenfold.float16
        with pytest.raises(RuntimeError):
            x @ tenfold.ones(3, 3)
        with tenfold.autocast("cpu", enabled=False):
            assert (x @ w).dtype is tenfold.float32
        assert RUNTIME["ACTIVE"] == before + 2
    assert RUNTIME["ACTIVE"] == before
    tenfold.set_autocast_enabled("cpu", True)
    try:
        assert (x @ w).dtype is tenfold.bfloat16
    finally:
        tenfold.set_autocast_enabled("cpu", False)
    assert RUNTIME["ACTIVE"] == before


def test_other_layers_see_what_autocast_calls(x):
    class Names(Layer):
        def __init__(self):
            self.names = []

        def handle(self, operator, args, kwargs):
            self.names.append(operator.name)
            return operator(*args, **kwargs)

    outside, inside = Names(), Names()
    with outside, tenfold.autocast("cpu"):
        (x @ x).reshape(-1) + 1
    with tenfold.autocast("cpu"), inside:
        (x @ x).reshape(-1) + 1
    assert {"to_dtype", "matmul"} <= set(outside.names)
    assert inside.names == ["matmul", "reshape", "add"]


def test_threads_have_layers_of_their_own(x):
    """While one thread's call goes the short way, another thread's layer is looked at."""
    found = []

    def other():
        with tenfold.autocast("cpu"):
            found.extend((x @ x).dtype for _ in range(200))

    thread = threading.Thread(target=other)
    with tenfold.autocast("cpu", dtype=tenfold.float16):
        thread.start()
        mine = [(x @ x).dtype for _ in range(200)]
        thread.join()
    assert set(found) == {tenfold.bfloat16}
    assert set(mine) == {tenfold.float16}
    assert RUNTIME["ACTIVE"] == 0


def test_the_logarithm_of_a_probability_is_refused_off_the_cpu(monkeypatch):
    F, x = pytest.importorskip("tenfold.nn").functional, tenfold.full((3,), 0.5)
    with tenfold.autocast("cpu"):
        assert F.binary_cross_entropy(x, x).dtype is tenfold.float32
    monkeypatch.setattr(lists, "CPU", lists.OTHER)
    with tenfold.autocast("cpu"):
        with pytest.raises(RuntimeError, match="binary_cross_entropy and its layer are unsafe to autocast"):
            F.binary_cross_entropy(x, x)
        with tenfold.autocast("cpu", enabled=False):
            assert F.binary_cross_entropy(x, x).dtype is tenfold.float32
        assert F.rms_norm(x.half(), (3,)).dtype is tenfold.float32
