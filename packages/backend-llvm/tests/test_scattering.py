"""Native scatter, scatter_add and index_add: the same numbers, versions, gradients and errors as their kernels in Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated

import tenfold
from tenfold.dispatch.devices import CPU
from tenfold.llvm import call_paths
from tenfold.llvm.kernels import sending
from tenfold.llvm.session import session

POSSIBLE = call_paths.possible()
pytestmark = pytest.mark.skipif(not POSSIBLE, reason="call paths are native from Python 3.12 on, where nobody has said no")

BF16 = tenfold.bfloat16
RNG = np.random.default_rng(0)
NAMES = ("scatter", "scatter_add", "index_add")
DTYPES = (np.float32, np.float64, np.int64, np.int32, np.float16, np.bool_)
SHAPES = [((5,), 0, 3), ((4, 6), 0, 4), ((4, 6), 1, 9), ((4, 6), -1, 6), ((3, 4, 5), 1, 7), ((2, 3, 4, 5), 2, 4), ((1, 1), 0, 1)]


@pytest.fixture(autouse=True)
def _warm():
    """Have native code, which the first call of an operator with a compiled kernel brings."""
    tenfold.exp(tenfold.ones(3))


def outcome(call, *arguments):
    try:
        return call(*arguments)
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)


def ordinary(call, *arguments):
    with session().paths.suspended():
        return outcome(call, *arguments)


def given(name, shape, dim, many, dtype):
    """An input, places of which some are equal, and what is written there: whole numbers, whose sums are exact."""
    x = np.round(RNG.standard_normal(shape) * 9).astype(dtype)
    sizes = list(shape)
    sizes[dim] = many
    places = RNG.integers(0, shape[dim], many if name == "index_add" else sizes)
    values = np.round(RNG.standard_normal(sizes) * 9).astype(dtype)
    if np.dtype(dtype).kind == "f" and name == "scatter":
        x.flat[0], values.flat[-1] = np.nan, np.inf
    return tuple(tenfold.from_numpy(a) for a in (x, places, values))


def copied(value):
    """A copy of a tensor with its layout."""
    return tenfold.from_numpy(value.numpy().copy("K")) if isinstance(value, tenfold.Tensor) and value.dtype is not BF16 else value


def same(a, b):
    if not isinstance(a, tenfold.Tensor):
        assert a == b
        return
    assert (a.dtype, a.shape, a.stride(), a.requires_grad, a._version) == (
        b.dtype,
        b.shape,
        b.stride(),
        b.requires_grad,
        b._version,
    )
    np.testing.assert_array_equal(a.detach().double().numpy(), b.detach().double().numpy())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("threads", [1, 2])
def test_numbers(name, dtype, threads):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(threads)
    try:
        for shape, dim, many in [*SHAPES, ((300, 400), 0, 300), ((300, 400), 1, 400)]:
            x, places, values = given(name, shape, dim, many, dtype)
            call, write = getattr(tenfold, name), getattr(tenfold.Tensor, name + "_")
            same(outcome(call, x, dim, places, values), ordinary(call, x, dim, places, values))
            first, second = x.clone(), x.clone()
            got, expected = outcome(write, first, dim, places, values), ordinary(write, second, dim, places, values)
            assert (got is first) == (expected is second)
            same(got, expected)
    finally:
        tenfold.set_num_threads(before)


def test_single_numbers_are_those_that_the_dtype_has():
    numbers = [2.5, 3, -0.0, float("nan"), float("inf"), 1e39, -1e39, 1e38, 2**24, 2**24 + 1, 2**60, 10**400, True, 1j, "a", None]
    for number, dtype in itertools.product(numbers, (np.float32, np.float64, np.int64)):
        x, places, _ = given("scatter", (4, 6), 1, 6, dtype)
        same(outcome(x.scatter, 1, places, number), ordinary(x.scatter, 1, places, number))


def test_what_is_not_plain_goes_the_ordinary_way():
    x, places, values = given("scatter", (4, 6), 1, 6, np.float32)
    wide = tenfold.from_numpy(np.zeros((4, 12), np.float32))
    shared = tenfold.ones(4, 6)
    rows = shared[1:]
    for name in ("scatter", "scatter_add"):
        for given_by_position in (
            (x, 1, places[:, :3], values), (x, 1, places[:2], values), (x, 1, places, values[:, :2]),
            (x, 1, places.int(), values),
            (x, 1, places, values.double()), (x, 2, places, values), (x, 1, places + 9, values), (x, 1, -places - 1, values),
            (x, "a", places, values), (x.t(), 1, places.t(), values.t()), (wide[:, ::2], 1, places, values), (x, 1, places),
            (x, 1, places.float(), values), (x, 1, [0], values), (x, 0, places[:0], values), (x, True, places, values),
            (x[:0], 0, places[:0], values[:0]), (shared.clone(), 1, places, values), (x, 1, places, x), (x, 1, places, values, 3),
            (x[0, 0], 0, places[0, 0], x[0, 0]), (x.bfloat16(), 1, places, values.bfloat16()), (x,), (),
        ):  # fmt: skip
            for form in (getattr(tenfold, name), getattr(tenfold.Tensor, name + "_")):
                got, expected = (ask(form, *map(copied, given_by_position)) for ask in (outcome, ordinary))
                same(got, expected)
        assert getattr(x, name)(dim=1, index=places, src=values).shape == x.shape
        with pytest.raises(RuntimeError, match="index 9 is out of bounds for dimension 1 with size 6"):
            getattr(x.clone(), name + "_")(1, tenfold.full((4, 6), 9), values)
        with pytest.raises(RuntimeError):  # its own memory in part
            getattr(shared, name + "_")(0, places[:3].clamp(max=3), rows)


def test_a_place_outside_leaves_everything_as_it_was():
    x, places, values = given("index_add", (4, 6), 0, 5, np.float32)
    places[4] = 4
    kept = x.clone()
    with pytest.raises((RuntimeError, IndexError), match="out of"):
        x.index_add_(0, places, values)
    assert x.tolist() == kept.tolist()
    assert x._version == 0


def gradients(name, ask, x, places, values):
    """What flows back through an operator and its form in place."""
    leaf, written = x.clone().requires_grad_(), values.clone().requires_grad_()
    found = ask(getattr(leaf, name), 0, places, written)
    assert found.grad_fn is not None
    changed = ask(getattr(leaf * 1, name + "_"), 0, places, written)
    (found * 2 + changed).sum().backward()
    with tenfold.no_grad():
        assert not ask(getattr(leaf, name), 0, places, written).requires_grad
        assert ask(getattr(leaf, name + "_"), 0, places, values) is leaf
    with pytest.raises(RuntimeError, match="leaf"):
        getattr(leaf, name + "_")(0, places, values)
    return leaf.tolist(), leaf._version, leaf.grad.tolist(), written.grad.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_gradients_and_modes(name):
    x, places, values = given(name, (4, 6), 0, 4, np.float64)
    x, values = x.nan_to_num(), values.nan_to_num(posinf=1.0)
    assert gradients(name, outcome, x, places, values) == gradients(name, ordinary, x, places, values)
    rows = tenfold.func.vmap(lambda row: getattr(row, name)(0, tenfold.tensor([1, 1]), tenfold.ones(2)))(tenfold.zeros(3, 4))
    assert rows.tolist() == [[0, 1.0 if name == "scatter" else 2.0, 0, 0]] * 3


@pytest.mark.parametrize("name", NAMES)
def test_nothing_else_is_entered(name, entered):
    x, places, values = given(name, (4, 6), 0, 4, np.float32)
    for call in (lambda: getattr(x, name)(0, places, values), lambda: getattr(x, name + "_")(0, places, values)):
        call()
        call()
        assert entered(call) == ["<lambda>"]


def test_a_kernel_of_somebody_else_takes_over():
    x, places, values = given("scatter_add", (4, 6), 0, 4, np.float32)
    x.scatter_add(0, places, values)
    kernels = tenfold.op.scatter_add.calls.kernels
    held = kernels[CPU]
    kernels[CPU] = lambda array, dim, index, src, out=None: np.full_like(array, 7)
    try:
        assert x.scatter_add(0, places, values).tolist() == [[7.0] * 6] * 4
    finally:
        kernels[CPU] = held
    assert x.scatter_add(0, places, values).tolist() != [[7.0] * 6] * 4


def test_a_kernel_of_somebody_else_below_the_compiled_one():
    x, places, values = given("scatter_add", (4, 6), 0, 4, np.float32)
    x.scatter_add(0, places, values)
    kernels = tenfold.op.scatter_add.calls.kernels
    held = kernels[CPU]
    wrapped = sending._before(tenfold.op.scatter_add, lambda *arguments: NotImplemented)
    kernels[CPU] = wrapped(lambda array, dim, index, src, out=None: np.full_like(array, 7))
    try:
        assert x.scatter_add(0, places, values).tolist() == [[7.0] * 6] * 4
    finally:
        kernels[CPU] = held
    assert x.scatter_add(0, places, values).tolist() != [[7.0] * 6] * 4


def test_no_reference_is_left():
    x, places, values = given("scatter", (4, 6), 0, 4, np.float32)
    rows = places[:, 0].contiguous()
    calls = [
        lambda: x.scatter(0, places, values), lambda: x.scatter_(0, places, 2.5), lambda: x.scatter_add_(0, places, values),
        lambda: x.index_add(0, rows, values), lambda: outcome(lambda: x.scatter_(0, places + 9, values)),
    ]  # fmt: skip
    for call in calls:
        for _ in range(50):
            call()
    things = (x, x._array, places, places._array, values, values._array, CPU, tenfold.Tensor, np.dtype(np.float32))
    assert left_behind(repeated(calls, 2000), things) < SMALL
