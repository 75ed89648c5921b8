"""Native call paths: the same results, gradients, errors and hooks as the calls in the interpreter."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading

import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated

import tenfold
from tenfold import nn
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.runtime import FLAGS, RUNTIME, Layer
from tenfold.llvm import call_paths
from tenfold.llvm.session import session

UNARY = ("relu", "exp", "sigmoid", "tanh", "abs", "neg", "sqrt", "log", "floor")
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum", "eq", "lt")

POSSIBLE = call_paths.possible()
pytestmark = pytest.mark.skipif(not POSSIBLE, reason="call paths are native from Python 3.12 on, where nobody has said no")


@pytest.fixture(autouse=True)
def _warm():
    """Have the paths installed, which the first call of each operator does."""
    if not POSSIBLE:
        return
    x = tenfold.randn(3)
    for name in UNARY:
        getattr(tenfold, name)(x)
    for name in BINARY:
        getattr(tenfold, name)(x, x)
    for method in (x.__add__, x.__radd__, x.__mul__, x.__sub__, x.__rsub__, x.__lt__):
        method(2.0)


def native(function):
    return function in session().paths.taken


def ordinary(call):
    """The result of a call with all functions called as they were."""
    with session().paths.suspended():
        return call()


def outcome(call):
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)


def same(a, b):
    if not isinstance(a, tenfold.Tensor):
        assert a == b
        return
    assert type(a) is type(b)
    assert a.dtype is b.dtype
    assert a.requires_grad == b.requires_grad
    assert type(a.grad_fn) is type(b.grad_fn)
    assert a.stride() == b.stride()
    np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())


def test_functions_stay_what_they_are():
    assert native(tenfold.add)
    assert native(tenfold.Tensor.__add__)
    assert list(inspect.signature(tenfold.add).parameters)[:2] == ["input", "other"]
    assert "def add(" in tenfold.add.source
    assert pickle.loads(pickle.dumps(tenfold.add)) is tenfold.add
    assert tenfold.Tensor.add is tenfold.add


def values():
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        x = rng.standard_normal((4, 6)).astype(dtype)
        x[0, :3] = np.nan, np.inf, -0.0
        yield tenfold.from_numpy(x)
        yield tenfold.from_numpy(x[:, ::2])
        yield tenfold.from_numpy(x.T)
        yield tenfold.from_numpy(x[0])
        yield tenfold.from_numpy(x[1, 1:2].reshape(()).copy())
        yield tenfold.from_numpy(x[:0])
        yield nn.Parameter(tenfold.from_numpy(x))
        yield tenfold.from_numpy(x).requires_grad_()
    yield tenfold.arange(6)
    yield tenfold.ones(4, 6, dtype=tenfold.bool)
    yield tenfold.ones(4, 6, dtype=tenfold.float16)
    yield tenfold.ones(4, 6, dtype=tenfold.complex64)
    yield tenfold.ones(4, 6, device="meta")


@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value|overflow)")
@pytest.mark.parametrize("name", UNARY)
def test_one_tensor(name):
    for x in values():
        if x.device.type == "cpu":
            same(outcome(lambda x=x: getattr(tenfold, name)(x)), ordinary(lambda x=x: outcome(lambda: getattr(tenfold, name)(x))))


@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value|overflow)")
@pytest.mark.parametrize("name", BINARY)
def test_two_operands(name):
    function = getattr(tenfold, name)
    others = [*values(), 2, 2.5, True, 10**30, -(2**63), np.float32(3), np.float64(1e300), "a", None, [1, 2]]
    for x in values():
        for y in others:
            if "meta" in (x.device.type, getattr(getattr(y, "device", None), "type", "")):
                continue
            same(outcome(lambda x=x, y=y: function(x, y)), ordinary(lambda x=x, y=y: outcome(lambda: function(x, y))))


def test_what_an_operator_does_not_accept_is_refused_each_time():
    x = tenfold.ones(3)
    for _ in range(3):
        assert tenfold.where(x > 0, x, x).tolist() == [1, 1, 1]
        with pytest.raises(RuntimeError, match="expected condition to be a boolean tensor"):
            tenfold.where(x, x, x)
        with pytest.raises(RuntimeError, match="boolean mask"):
            x.masked_fill(x, 1.0)


def test_keywords_and_further_arguments():
    x, y = tenfold.ones(3), tenfold.full((3,), 2.0)
    out = tenfold.empty(3)
    assert tenfold.add(x, y, alpha=3).tolist() == [7, 7, 7]
    assert tenfold.add(input=x, other=y).tolist() == [3, 3, 3]
    assert tenfold.add(x, y, out=out) is out
    assert tenfold.relu(-x, inplace=True).tolist() == [0, 0, 0]
    with pytest.raises(TypeError):
        tenfold.relu()
    with pytest.raises(TypeError):
        tenfold.add(x, y, 1, 2, 3)


def test_values_defaults_and_names():
    """Arguments beside tensors: by position, by name, left out, wrong."""
    F = nn.functional
    rows, w = tenfold.randn(4, 6), tenfold.randn(6)
    leaf = rows.clone().requires_grad_()
    calls = [
        lambda f: f(rows), lambda f: f(leaf), lambda f: f(rows, -1), lambda f: f(rows, dim=0), lambda f: f(dim=1, input=leaf),
        lambda f: f(rows, 1, True), lambda f: f(leaf, 1, keepdim=True), lambda f: f(rows, axis=1), lambda f: f(rows, -1, None),
        lambda f: f(rows, -1, tenfold.float64), lambda f: f(rows, dim=1, dtype=tenfold.float64), lambda f: f(rows, 7),
        lambda f: f(rows, "a"), lambda f: f(), lambda f: f(dim=1), lambda f: f(rows, 1, dim=1), lambda f: f(rows, 1, 2, 3, 4, 5),
        lambda f: f(rows, nonsense=1), lambda f: f(rows.double(), -1), lambda f: f(rows.half(), -1), lambda f: f(rows.t(), -1),
    ]  # fmt: skip
    for function in (tenfold.sum, tenfold.mean, tenfold.softmax, tenfold.log_softmax, tenfold.amax):
        for call in calls:
            outcome(lambda f=function, c=call: c(f))
        assert native(function)
        for call in calls:
            same(outcome(lambda f=function, c=call: c(f)), ordinary(lambda f=function, c=call: outcome(lambda: c(f))))
    norms = [
        lambda: F.layer_norm(rows, (6,)), lambda: F.layer_norm(rows, (6,), w, w), lambda: F.layer_norm(rows, (6,), bias=w),
        lambda: F.layer_norm(rows, normalized_shape=[6], weight=w, eps=1e-3), lambda: F.layer_norm(leaf, (6,), w, None),
        lambda: F.layer_norm(rows, (6,), w.double()), lambda: F.layer_norm(rows, (4, 6)), lambda: F.layer_norm(rows, (5,)),
        lambda: F.layer_norm(rows, (6,), nn.Parameter(w)), lambda: F.layer_norm(rows, (6,), 3), lambda: F.layer_norm(rows),
    ]  # fmt: skip
    for call in norms:
        same(outcome(call), ordinary(lambda c=call: outcome(c)))
    loss = (F.softmax(leaf, -1) * rows).sum() + leaf.mean(0).sum() + F.layer_norm(leaf, (6,), w).amax(dim=1).sum()
    loss.backward()
    got, leaf.grad = leaf.grad, None
    ordinary(
        lambda: (
            (F.softmax(leaf, -1) * rows).sum() + leaf.mean(0).sum() + F.layer_norm(leaf, (6,), w).amax(dim=1).sum()
        ).backward()
    )
    np.testing.assert_array_equal(got.numpy(), leaf.grad.numpy())


def test_gradients_and_their_switches():
    x, w = tenfold.randn(5), nn.Parameter(tenfold.randn(5))
    y = ((w * x + w) * 2.0 - 1.0).relu().sum()
    y.backward()
    inside = ((w * x + w) * 2.0 - 1.0).detach() > 0
    np.testing.assert_allclose(w.grad.numpy(), (2 * (x + 1) * inside).numpy(), rtol=1e-6)
    with tenfold.no_grad():
        assert (w + x).grad_fn is None
        with tenfold.enable_grad():
            assert (w + x).grad_fn is not None
    with tenfold.inference_mode():
        assert (w + x).is_inference()
    assert type((w * x).grad_fn).__name__.startswith("MulBackward")
    assert (w > x).grad_fn is None
    assert list(FLAGS) == [RUNTIME[name] for name in ("ACTIVE", "GRAD_OFF", "INFERENCE", "TRANSFORMS")]


def test_calls_stay_native_while_gradients_are_off(entered):
    x, w = tenfold.randn(5), nn.Parameter(tenfold.randn(5))
    y = (w * x) * x
    with tenfold.no_grad():
        assert "add" not in entered(lambda: tenfold.add(w, x))
        assert type(w * x).__name__ == "Tensor"
        assert (w * x)._node is None
        assert (w + 1.0).requires_grad is False
    y.sum().backward(retain_graph=True)  # compiles what it needs
    names = entered(lambda: y.backward(x))
    assert "apply" in names
    assert "mul" not in names


def test_another_thread_that_switched_gradients_off_changes_nothing_here():
    x, w = tenfold.randn(5), nn.Parameter(tenfold.randn(5))
    entered, leave, seen = threading.Event(), threading.Event(), []

    def other():
        with tenfold.no_grad():
            entered.set()
            leave.wait(10)
            seen.append((w * x).grad_fn)

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait(10)
    try:
        assert FLAGS[1] == 1
        assert (w * x).grad_fn is not None
        assert (x * x).grad_fn is None
    finally:
        leave.set()
        thread.join(10)
    assert seen == [None]


def test_layers_and_transforms_see_every_call():
    class Count(Layer):
        seen = 0

        def handle(self, operator, args, kwargs):
            self.seen += 1
            return operator(*args, **kwargs)

    x = tenfold.randn(3)
    with Count() as layer:
        tenfold.add(x, x)
        x * 2.0
        tenfold.relu(x)
    assert layer.seen == 3
    rows = tenfold.func.vmap(lambda row: row + row * 2.0)(tenfold.ones(4, 3))
    assert rows.tolist() == [[3.0] * 3] * 4
    assert tenfold.func.grad(lambda v: (v * v).sum())(x).tolist() == (2 * x).tolist()


def test_subclasses_are_asked():
    class Loud(tenfold.Tensor):
        asked = 0

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            Loud.asked += 1
            return super().__torch_function__(func, types, args, kwargs or {})

    x = tenfold.ones(2).as_subclass(Loud)
    assert isinstance(x + 1, Loud)
    assert isinstance(tenfold.ones(2) + x, Loud)
    assert isinstance(tenfold.relu(x), Loud)
    assert Loud.asked >= 3


def test_results_are_tensors_like_others():
    x = tenfold.ones(4)
    y = x + 1
    y.name = "mine"
    assert y.name == "mine"
    assert copy.deepcopy(y).tolist() == y.tolist()
    assert y._version == 0
    y.add_(1)
    assert y._version == 1
    assert (x + 1).view(2, 2)._base is not None
    kept = tenfold.ones(2, 3)
    assert (kept.t() + 1).stride() == ordinary(lambda: kept.t() + 1).stride()


def test_a_kernel_of_somebody_else_takes_over():
    x = tenfold.randn(3)
    before = tenfold.floor(x)
    kernels = tenfold.op.floor.calls.kernels
    held = kernels[CPU]
    kernels[CPU] = lambda a: np.full_like(a, 7)
    try:
        assert tenfold.floor(x).tolist() == [7, 7, 7]
    finally:
        kernels[CPU] = held
    assert tenfold.floor(x).tolist() == before.tolist()


def test_a_hundred_thousand_calls_leave_no_reference():
    x, w, number = tenfold.randn(8), tenfold.randn(8).requires_grad_(), 1.5
    calls = [
        lambda: tenfold.add(x, x), lambda: x * number, lambda: tenfold.relu(x), lambda: w + x, lambda: w * number,
        lambda: outcome(lambda: tenfold.add(x, "a")), lambda: tenfold.add(x, x, alpha=2), lambda: x[::2] + x[::2],
    ]  # fmt: skip
    for call in calls:
        for _ in range(600):
            call()
    things = (x, x._array, w, w._array, number, CPU, tenfold.Tensor, tenfold.float32, np.dtype(np.float32))
    assert left_behind(repeated(calls, 100_000 // len(calls)), things) < SMALL
