"""Elementwise operators and activations against NumPy and closed forms; no other oracle is needed here."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

import tenfold
from tenfold.cpu.quiet import quiet

X = np.array([[-2.5, -1.0, -0.0], [0.5, 1.0, 3.0]], np.float32)


def t(array):
    return tenfold.from_numpy(np.array(array))


UFUNCS = {
    "add": np.add, "mul": np.multiply, "div": np.divide, "maximum": np.maximum, "fmin": np.fmin, "atan2": np.arctan2,
    "hypot": np.hypot, "logaddexp": np.logaddexp, "copysign": np.copysign, "fmod": np.fmod, "le": np.less_equal,
    "logical_xor": np.logical_xor,
}  # fmt: skip


@pytest.mark.parametrize("name", UFUNCS)
def test_binary_is_numpys_ufunc_with_broadcasting_and_any_strides(name):
    for a, b in [(X, X[:1] + 2), (X.T, X[:, ::-1].T), (X, X[0, 0]), (X[:0], X[:0])]:
        got = getattr(tenfold, name)(t(a), t(b))
        with np.errstate(all="ignore"):
            if name == "logaddexp":  # compiled where tenfold-backend-llvm is installed
                np.testing.assert_array_max_ulp(got.numpy(), UFUNCS[name](a, b))
            else:
                np.testing.assert_array_equal(got.numpy(), UFUNCS[name](a, b))


UNARY = "neg abs square sqrt reciprocal floor exp sin sign trunc sigmoid relu rsqrt log1p".split()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
@pytest.mark.parametrize("name", UNARY)
def test_columns_change_in_place(name, dtype):
    """Whatever the distance of a column's elements: NumPy reads others at some, where both arrays have gaps."""
    for width in (1, 2, 3, 4, 8, 16):
        rows = np.arange(1, 1 + 5 * width).reshape(5, width).astype(dtype)
        if dtype in (np.int32, np.int64) and getattr(tenfold, name)(t(rows)).is_floating_point():
            continue
        for part in (np.s_[:, 0], np.s_[:, -1:], np.s_[::2, 0]):
            x = t(rows)
            getattr(x[part], name + "_")()
            np.testing.assert_allclose(x[part].numpy(), getattr(tenfold, name)(t(rows[part])).numpy(), rtol=1e-6)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (2, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_by_an_exponent_that_is_repeated(dtype, shape):
    """IEEE's powers, not roots: 0 of -0, inf of -inf."""
    x = np.tile(np.array([-np.inf, -0.0, 4.0], dtype), (2, 20))
    power = (t(x) ** t(np.full(shape, 0.5, dtype))).numpy()
    np.testing.assert_array_equal(power, np.tile(np.array([np.inf, 0.0, 2.0], dtype), (2, 20)))
    assert not np.signbit(power).any()


def test_aliases_are_the_same_function():
    for alias, name in {"subtract": "sub", "multiply": "mul", "arcsin": "asin", "fix": "trunc", "greater": "gt"}.items():
        assert getattr(tenfold, alias) is getattr(tenfold, name)
        assert getattr(tenfold.Tensor, alias) is getattr(tenfold.Tensor, name)
    assert tenfold.Tensor.divide_ is tenfold.Tensor.div_
    assert tenfold.clip(t(X), 0, 1).numpy().max() == 1


def test_infinities_and_nan_make_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        big = tenfold.full((3,), 3e38)
        zero, inf = tenfold.zeros(3), tenfold.full((3,), float("inf"))
        results = [big * big, big + big, inf - inf, zero / zero, zero.log(), -big.sqrt(), (-big).sqrt(), big.exp(), big**3]
        results += [inf.sin(), tenfold.relu(inf), zero.rsqrt(), tenfold.softmax(-inf, 0), zero.add_(inf, alpha=0.0)]
        big.mul_(big)
    assert len(results) == 14
    assert np.isinf(big.numpy()).all()


def test_quiet_functions_run_in_two_threads_at_once():
    started, go = threading.Event(), threading.Event()

    def logarithm(x, wait):
        if wait:
            started.set()
            assert go.wait(10)
        return np.log(x)

    function, results = quiet(logarithm), []
    zero = np.zeros(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        thread = threading.Thread(target=lambda: results.append(function(zero, True)))
        thread.start()
        assert started.wait(10)
        results.append(function(zero, False))  # while the thread is inside
        go.set()
        thread.join(10)
    assert [r[0] for r in results] == [-np.inf, -np.inf]


def test_quiet_leaves_numpys_own_state():
    before = np.geterr()
    quiet(np.divide)(np.ones(1), np.zeros(1))
    assert np.geterr() == before
    with pytest.raises(ValueError, match="broadcast"):
        quiet(np.add)(np.ones(2), np.ones(3))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64"])
def test_add_with_alpha_in_place_is_out_of_place(dtype):
    x, y = tenfold.tensor([1, 2], dtype=getattr(tenfold, dtype)), tenfold.tensor([3, 5], dtype=getattr(tenfold, dtype))
    assert x.clone().add_(y, alpha=2).tolist() == tenfold.add(x, y, alpha=2).tolist() == [7, 12]
    assert x.clone().sub_(y, alpha=2).tolist() == tenfold.sub(x, y, alpha=2).tolist() == [-5, -8]
    assert x.clone().add_(y, alpha=2).add_(y, alpha=2).tolist() == [13, 22]


def test_in_place_forms_that_optimizers_use():
    x, y = t([1.0, 2.0]), t([4.0, 8.0])
    assert x.mul_(0.5).add_(y, alpha=0.25).tolist() == [1.5, 3.0]
    assert x.addcmul_(y, y, value=0.5).tolist() == [9.5, 35.0]
    assert x.addcdiv_(y, y, value=-0.5).tolist() == [9.0, 34.5]
    assert x.lerp_(y, 0.5).tolist() == [6.5, 21.25]
    assert x.lerp_(y, 1.0).tolist() == y.tolist()
    version = x._version
    assert x.zero_().tolist() == [0, 0]
    assert x.fill_(7).copy_(t([3])).tolist() == [3, 3]
    assert x._version == version + 3


def test_copy_converts_and_broadcasts():
    whole = tenfold.zeros((2, 2), dtype=tenfold.int64)
    assert whole.copy_(t([1.75, -1.75])).tolist() == [[1, -1], [1, -1]]
    with pytest.raises(RuntimeError, match="size of tensor a"):
        tenfold.zeros(2).copy_(t([1.0, 2.0, 3.0]))


def test_small_integers_wrap_around():
    assert (tenfold.tensor([250], dtype=tenfold.uint8) + 10).tolist() == [4]
    assert (tenfold.tensor([1], dtype=tenfold.int8) + 300).tolist() == [45]


def test_division_rounds_as_asked():
    x = tenfold.tensor([7, -7])
    assert tenfold.div(x, 2).tolist() == [3.5, -3.5]
    assert tenfold.div(x, 2, rounding_mode="floor").tolist() == [3, -4]
    assert tenfold.div(x, 2, rounding_mode="trunc").tolist() == [3, -3]
    assert x.remainder(4).tolist() == [3, 1]


def test_where_and_masks():
    x, mask = t(X), t(X > 0)
    np.testing.assert_array_equal(x.where(mask, 0).numpy(), np.where(X > 0, X, 0))
    np.testing.assert_array_equal(x.masked_fill(mask, 9).numpy(), np.where(X > 0, 9, X))
    np.testing.assert_array_equal(x.masked_fill_(mask, 9).numpy(), np.where(X > 0, 9, X))


def test_complex_parts_share_memory():
    z = tenfold.tensor([1 + 2j, 3 - 1j])
    z.real.mul_(10)
    z.imag = t(np.array([5, 6], np.float32))
    assert z.tolist() == [10 + 5j, 30 + 6j]
    pairs = tenfold.view_as_real(z)
    assert pairs.tolist() == [[10, 5], [30, 6]]
    assert tenfold.view_as_complex(pairs).data_ptr() == z.data_ptr()


@pytest.mark.parametrize("edge", [0.0, 7.9, 8.0, 31.9, 32.0, 88.0, 100.0, 3e38, float("inf"), float("nan")])
@pytest.mark.parametrize("sign", [1, -1])
def test_few_short_rows_are_right_at_the_edges_of_moderate_numbers(edge, sign):
    x = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
    x[1, 3] = x[2] = sign * edge
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        shifted = wide - wide.max(1, keepdims=True)
        logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
        np.testing.assert_allclose(tenfold.softmax(tenfold.from_numpy(x), -1).numpy(), np.exp(logs), rtol=2e-6, atol=1e-37)
        np.testing.assert_allclose(tenfold.log_softmax(tenfold.from_numpy(x), -1).numpy(), logs, rtol=1e-6, atol=1e-6)
        turned = tenfold.from_numpy(np.asfortranarray(x))
        np.testing.assert_allclose(tenfold.log_softmax(turned, -1).numpy(), logs, rtol=1e-6, atol=1e-6)


def test_softmax_sums_to_one_along_every_dimension():
    x = t(np.arange(24.0).reshape(2, 3, 4) * 50)
    for dim in (0, 1, 2, -1):
        y = tenfold.softmax(x, dim).numpy()
        np.testing.assert_allclose(y.sum(dim), 1, rtol=1e-12)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(tenfold.log_softmax(x, dim).exp().numpy(), y, atol=1e-12)
    assert tenfold.softmax(tenfold.tensor([1, 1]), 0, dtype=tenfold.float64).tolist() == [0.5, 0.5]


def test_equality():
    assert tenfold.equal(t([1.0]), t([1.0]))
    assert not tenfold.equal(t([1.0]), t([[1.0]]))
    assert tenfold.allclose(t([1.0, np.inf]), t([1.0 + 1e-9, np.inf]))
    assert not tenfold.allclose(t([np.nan]), t([np.nan]))
    assert tenfold.allclose(t([np.nan]), t([np.nan]), equal_nan=True)


def test_where_promotes_on_every_call():
    condition, whole, real = tenfold.tensor([True, False]), tenfold.tensor([1, 2]), tenfold.tensor([0.5, 1.5])
    for _ in range(2):  # the second call takes the short path
        assert tenfold.where(condition, whole, real).dtype is tenfold.float32
        assert tenfold.where(condition, whole.to(tenfold.int8), 1).dtype is tenfold.int8
        assert tenfold.where(condition, 1.0, real.half()).dtype is tenfold.float16
        assert tenfold.where(condition, real, 0.0).tolist() == [0.5, 0.0]


def test_powers_of_a_number_with_an_exponent_of_no_dimension():
    assert tenfold.pow(2, tenfold.tensor(3.0)).item() == 8
    assert (2.0 ** tenfold.tensor(-1.0)).item() == 0.5


def test_an_empty_out_gets_the_layout_of_the_result():
    x = tenfold.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
    out = tenfold.empty(0)
    assert tenfold.exp(x, out=out) is out
    assert out.stride() == tenfold.exp(x).stride() == x.stride()
    assert tenfold.equal(out, x.exp())
    assert tenfold.eq(x, x, out=tenfold.empty(0, dtype=tenfold.bool)).stride() == x.stride()
    sliced = tenfold.ones(2, 3, 8)[:, :, ::2].transpose(0, 1)
    assert tenfold.add(sliced, 1, out=tenfold.empty(0)).stride() == tenfold.add(sliced, 1).stride()


@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_nothing_may_be_divided_by_zero(name):
    zeros = tenfold.zeros(1, 3, dtype=tenfold.int64)
    assert getattr(tenfold, name)(tenfold.zeros(0, 3, dtype=tenfold.int64), zeros).shape == (0, 3)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        getattr(tenfold, name)(tenfold.ones(2, 3, dtype=tenfold.int64), zeros)


@pytest.mark.filterwarnings("error")
def test_nan_of_bfloat16_without_a_warning():
    x = tenfold.full((35,), float("nan"), dtype=tenfold.bfloat16)
    assert not (x < 1).any()
    assert tenfold.isnan(tenfold.maximum(x, tenfold.ones_like(x))).all()
    assert not tenfold.allclose(x, x)
