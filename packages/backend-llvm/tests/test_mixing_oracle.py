"""Operators of two arguments whose dtypes differ: PyTorch's numbers, and what the interpreter's path makes of the same call."""

from __future__ import annotations

import operator
import sys
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.skipif(sys.version_info < (3, 12), reason="call paths are native from Python 3.12 on"),
    pytest.mark.filterwarnings("ignore"),
]
RNG = np.random.default_rng(0)
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool")
OPERATORS = ("add", "sub", "mul", "truediv", "eq", "ne", "lt", "le", "gt", "ge")
NUMBERS = (
    0.1, 2, -3, 0.0, -0.0, 1e-8, 70000.0, 1e40, float("inf"), float("nan"), 2**40, True, False, np.float64(0.3), np.float32(0.7),
    np.int64(2),
)  # fmt: skip
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, 255.0, 65504.0, np.inf, -np.inf, np.nan, 1e-7, 3.0]


def pair(dtype: str, shape: tuple[int, ...] = (12,)) -> tuple[Any, Any]:
    """One tensor in both libraries."""
    numbers = np.resize(SPECIAL if dtype.startswith(("float", "bfloat")) else [0, 1, 2, 3, 100, 7], shape)
    theirs = torch.tensor(numbers).to(getattr(torch, dtype))
    return tenfold.tensor(numbers).to(getattr(tenfold, dtype)), theirs


def outcome(call: Any) -> Any:
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - compared
        return error


def alike(ours: Any, theirs: Any, what: Any) -> None:
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), what
        return
    assert not isinstance(ours, Exception), (what, ours)
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1], what
    assert tuple(ours.shape) == tuple(theirs.shape), what
    got, expected = ours.detach().double().numpy(), theirs.detach().double().numpy()
    np.testing.assert_array_equal(got, expected, err_msg=str(what))
    finite = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[finite]), np.signbit(expected[finite]), err_msg=str(what))


def as_ordinary(calls: list[tuple[Any, Any]]) -> None:
    """Calls have the outcomes of the interpreter's path: values, dtypes, graphs, words."""
    ours = [outcome(call) for _, call in calls]
    with session().paths.suspended():
        expected = [outcome(call) for _, call in calls]
    for (what, _), got, wanted in zip(calls, ours, expected, strict=True):
        assert type(got) is type(wanted), what
        if isinstance(wanted, Exception):
            assert str(got) == str(wanted), what
            continue
        assert got.dtype is wanted.dtype, what
        assert type(got.grad_fn) is type(wanted.grad_fn), what
        assert got.detach().double().numpy().tobytes() == wanted.detach().double().numpy().tobytes(), what


@pytest.mark.parametrize("name", OPERATORS)
def test_two_tensors(name):
    call = getattr(operator, name)
    calls = []
    shapes = [(12,), ()], [(), (12,)], [(3, 4), (4,)], [(3, 1), (1, 4)], [(0, 4), (4,)], [(12,), (12,)], [(12,), (5,)]
    for one in DTYPES:
        for other in DTYPES:
            for shape_a, shape_b in shapes:
                (a, ta), (b, tb) = pair(one, shape_a), pair(other, shape_b)
                what = name, one, other, shape_a, shape_b
                calls.append((what, lambda a=a, b=b: call(a, b)))
                alike(outcome(lambda a=a, b=b: call(a, b)), outcome(lambda ta=ta, tb=tb: call(ta, tb)), what)
    as_ordinary(calls)


@pytest.mark.parametrize("name", OPERATORS)
def test_a_number(name):
    call, calls = getattr(operator, name), []
    for dtype in DTYPES:
        for number in NUMBERS:
            for shape in ((12,), (), (0,), (5000,)):
                a, ta = pair(dtype, shape)
                calls.append(((name, dtype, number, shape), lambda a=a, number=number: call(a, number)))
                if type(number) is np.int64 and dtype == "bool":
                    continue  # PyTorch takes it for a tensor
                plain = number.item() if isinstance(number, np.generic) else number
                expected = outcome(lambda ta=ta, plain=plain: call(ta, plain))
                alike(outcome(calls[-1][1]), expected, calls[-1][0])
    as_ordinary(calls)


@pytest.mark.parametrize("name", OPERATORS)
def test_a_tensor_of_one_number(name):
    """Half precision meets what it does not hold as it is, in both orders."""
    call, calls = getattr(operator, name), []
    for half in ("float16", "bfloat16"):
        for wide in ("float32", "float64", "int64", "int32"):
            for number in (257, 70000, 100001, -3, *[0.1] * wide.startswith("float")):
                a, ta = pair(half)
                b, tb = tenfold.tensor(number).to(getattr(tenfold, wide)), torch.tensor(number).to(getattr(torch, wide))
                for order in (lambda f, x, y: f(x, y), lambda f, x, y: f(y, x)):
                    what = name, half, wide, number
                    calls.append((what, lambda order=order, a=a, b=b: order(call, a, b)))
                    alike(outcome(calls[-1][1]), outcome(lambda order=order, ta=ta, tb=tb: order(call, ta, tb)), what)
    as_ordinary(calls)


def test_other_memory():
    """Tensors that lie in several pieces, or show one element many times."""
    for one in DTYPES:
        for other in ("float32", "float16", "int64", "bool"):
            (a, ta), (b, tb) = pair(one, (6, 4)), pair(other, (4, 6))
            for view in (lambda t: t.T, lambda t: t[::2, ::3][:2, :2], lambda t: t[:1, :1].expand(4, 6)):
                for f in (operator.mul, operator.le):
                    x, tx = view(a), view(ta)
                    y, ty = b[: x.shape[0], : x.shape[1]], tb[: x.shape[0], : x.shape[1]]
                    alike(f(x, y), f(tx, ty), (one, other))
                    alike(f(x, 0.3), f(tx, 0.3), (one, other))


@pytest.mark.parametrize("name", ["add", "mul", "truediv"])
def test_gradients(name):
    call = getattr(operator, name)
    for one in ("float32", "float64", "float16", "bfloat16"):
        for other in (*DTYPES, 0.1, 2):
            a, ta = pair(one, (3, 4))
            b, tb = (other, other) if not isinstance(other, str) else pair(other, (4,))
            a, ta = a.clamp(-3, 3).nan_to_num().requires_grad_(), ta.clamp(-3, 3).nan_to_num().requires_grad_()
            with_b = isinstance(other, str) and b.is_floating_point()
            if with_b:
                b, tb = (b.clamp(1, 3).nan_to_num(1.0).requires_grad_(), tb.clamp(1, 3).nan_to_num(1.0).requires_grad_())
            ours, theirs = call(a, b), call(ta, tb)
            ours.float().sum().backward()
            theirs.float().sum().backward()
            alike(ours, theirs, (name, one, other))
            near(a.grad, ta.grad)
            if with_b:
                near(b.grad, tb.grad)


def near(ours: Any, theirs: Any) -> None:
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
    kept = torch.finfo(theirs.dtype).eps
    np.testing.assert_allclose(ours.double().numpy(), theirs.double().numpy(), rtol=2 * kept)


@pytest.mark.parametrize("name", ["iadd", "imul", "isub", "itruediv"])
def test_in_place(name):
    call = getattr(operator, name)
    for one in DTYPES:
        for other in (*DTYPES, *NUMBERS[:8]):
            a, ta = pair(one)
            b, tb = (other, other) if not isinstance(other, str) else pair(other)
            got, expected = outcome(lambda a=a, b=b: call(a, b)), outcome(lambda ta=ta, tb=tb: call(ta, tb))
            alike(got, expected, (name, one, other))
            if not isinstance(expected, Exception):
                assert got is a


def test_numbers_written_into_half_precision():
    """What the ordinary path does: versions, views of what is recorded, memory shown many times, leaves."""
    half = tenfold.tensor(SPECIAL).half()
    before = half._version
    assert half.mul_(0.1) is half
    assert half._version == before + 1
    recorded = half.clone().requires_grad_()
    calls = [
        ("leaf", lambda: recorded.mul_(0.1)), ("recorded", lambda: (recorded * 2).mul_(0.1)),
        ("view", lambda: (recorded * 2)[:3].mul_(0.1)),
        ("many times", lambda: half[:1].expand(4).mul_(0.1)), ("of one number", lambda: half[3].clone().add_(0.1)),
    ]  # fmt: skip
    as_ordinary(calls)


def test_no_function_of_the_ordinary_path_is_entered(entered):
    x, mask, half = tenfold.randn(50), tenfold.ones(50).bool(), tenfold.randn(50).half()
    i = tenfold.arange(5)
    calls = lambda: x * mask, lambda: half * 0.1, lambda: i / 3, lambda: x * np.float64(2), lambda: mask == True  # noqa: E712
    for call in (*calls, lambda: half.mul_(0.9)):
        for _ in range(600):  # after which conversions and sums of few elements are compiled
            call()
        assert "__call__" in entered(call)
        assert not {"dispatch", "to", "promote"} & set(entered(call))


def test_the_default_dtype_counts():
    i = tenfold.arange(3)
    assert (i * 0.5).dtype is tenfold.float32
    tenfold.set_default_dtype(tenfold.float64)
    try:
        assert (i * 0.5).dtype is tenfold.float64
        assert (i / 2).dtype is tenfold.float64
    finally:
        tenfold.set_default_dtype(tenfold.float32)
    assert (i / 2).dtype is tenfold.float32


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_numbers_that_half_precision_holds_are_met_in_it(dtype):
    """Nothing wide is kept for the gradient, and the node is the operator's own; what does not fit is met in float32."""
    x = tenfold.ones(4, dtype=getattr(tenfold, dtype), requires_grad=True)
    for call, number in ((lambda y: y * 0.125, 0.125), (lambda y: y / 8.0, 0.125), (lambda y: y * -2, -2.0)):
        out = call(x)
        assert out.grad_fn.name() in ("MulBackward0", "DivBackward0")
        (slope,) = tenfold.autograd.grad(out.sum(), x)
        assert slope.dtype is out.dtype is x.dtype
        assert out.tolist() == slope.tolist() == [number] * 4
