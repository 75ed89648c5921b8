"""Native `equal`, and `inplace=True`: the same answers as in the interpreter."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold import nn
from tenfold.dispatch.runtime import Layer
from tenfold.llvm import call_paths
from tenfold.llvm.session import session

POSSIBLE = call_paths.possible()
pytestmark = pytest.mark.skipif(not POSSIBLE, reason="call paths are native from Python 3.12 on, where nobody has said no")
F = nn.functional


@pytest.fixture(autouse=True)
def _warm():
    """Have native code, which the first call of an operator with a compiled kernel brings."""
    tenfold.exp(tenfold.ones(3))


def outcome(call, *arguments, **named):
    try:
        return call(*arguments, **named)
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)


def tensors():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 7)).astype(np.float32)
    last, hole = x.copy(), x.copy()
    last[-1, -1], hole[2, 2] = 0, np.nan
    for array in (x, last, hole, x[:, ::2], x.T, x[:4], x[:0], x.ravel(), np.zeros(3, np.float32), -np.zeros(3, np.float32)):
        yield tenfold.from_numpy(array.copy("K"))
    for dtype in (tenfold.float64, tenfold.int64, tenfold.int32, tenfold.bool, tenfold.complex64, tenfold.float16):
        yield tenfold.from_numpy(np.abs(x)).to(dtype)
    yield tenfold.from_numpy(x).requires_grad_()
    yield tenfold.zeros(9000)
    yield tenfold.zeros(9000).index_fill_(0, tenfold.tensor([8999]), 1)
    yield tenfold.tensor(1.5)


def test_equal_is_that_of_the_interpreter():
    things = [*tensors(), 1.0, None, "a"]
    for a, b in itertools.product(things, things):
        got = outcome(tenfold.equal, a, b)
        with session().paths.suspended():
            assert outcome(tenfold.equal, a, b) == got
        assert got is True or got is False or isinstance(got, tuple)
    assert tenfold.equal(input=things[0], other=things[0]) is True


def test_equal_and_inplace_enter_nothing(entered):
    x, y = tenfold.randn(5, 7), tenfold.randn(5, 7)
    for call in (
        lambda: tenfold.equal(x, y), lambda: x.equal(x), lambda: F.relu(x, inplace=True), lambda: tenfold.relu(x, True),
        lambda: F.silu(y, inplace=True), lambda: F.relu(x, inplace=False),
    ):  # fmt: skip
        for _ in range(700):  # after which a loop is compiled for few elements, too
            call()
        assert entered(call) == ["<lambda>"]


@pytest.mark.parametrize("name", ["relu", "silu", "elu", "celu", "leaky_relu", "hardtanh", "relu6", "mish", "hardswish", "selu"])
def test_in_place_forms_that_a_parameter_asks_for(name):
    function = getattr(F, name)
    made = [
        lambda: tenfold.linspace(-4, 4, 9),
        lambda: tenfold.linspace(-4, 4, 9).double(),
        lambda: tenfold.linspace(-4, 4, 9)[::2],
    ]
    made += [lambda: tenfold.ones(3, requires_grad=True), lambda: tenfold.ones(3, requires_grad=True) * -2]
    made += [lambda: tenfold.arange(3), lambda: tenfold.ones(2) > 0, lambda: tenfold.ones(1).expand(3), lambda: 1.0]
    for make in made:
        for value in (True, False, 1, 0, None, "a"):
            results = []
            for _ in range(3):
                x = make()
                y = outcome(function, x, inplace=value)
                results.append(described(x, y))
            with session().paths.suspended():
                x = make()
                assert described(x, outcome(function, x, inplace=value)) == results[-1] == results[0]


def described(x, y):
    if not isinstance(y, tenfold.Tensor):
        return y
    return y is x, x._version, x.tolist(), y.tolist(), y.requires_grad, getattr(y.grad_fn, "name", str)()


def test_layers_see_what_was_called():
    class Names(Layer):
        def handle(self, operator, args, kwargs):
            seen.append(operator.name)
            return operator(*args, **kwargs)

    seen: list[str] = []
    x = tenfold.ones(3)
    with Names():
        F.relu(x, inplace=True)
        tenfold.equal(x, x)
    assert seen[0].startswith("relu")
    assert "equal" in seen
