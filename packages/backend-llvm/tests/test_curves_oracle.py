"""Functions with bends, steps and limits in one pass, and calls that are those of other operators, against PyTorch."""

from __future__ import annotations

import contextlib
import math
import sys
from typing import Any

import numpy as np
import pytest
from compared_calls import watchers
from left_behind import SMALL, left_behind

import tenfold
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
RNG = np.random.default_rng(0)
HARD = np.array(
    [0.0, -0.0, 1, -1, 0.5, -0.5, 0.3, 2.5, -2.5, 7, math.inf, -math.inf, math.nan, 1e-20, 123456.7, math.pi, 0.1, 1e10]
)
ONE: dict[str, Any] = {
    "sgn": lambda lib, x: lib.sgn(x), "angle": lambda lib, x: lib.angle(x), "sinc": lambda lib, x: lib.sinc(x),
    "logit": lambda lib, x: lib.logit(x), "logit within": lambda lib, x: lib.logit(x, 0.2),
    "logit by name": lambda lib, x: lib.logit(x, eps=0.3), "entropy": lambda lib, x: lib.special.entr(x),
    "xlogy of a number": lambda lib, x: lib.xlogy(2.5, x), "xlogy beside": lambda lib, x: lib.xlogy(x, 0.5),
    "xlog1py of a number": lambda lib, x: lib.special.xlog1py(0, x), "wave": lambda lib, x: lib.special.spherical_bessel_j0(x),
    "remainder of a number": lambda lib, x: lib.remainder(2.5, x), "remainder": lambda lib, x: lib.remainder(x, 0.3),
    "fmod": lambda lib, x: lib.fmod(x, -3), "floor_divide": lambda lib, x: lib.floor_divide(x, 0.7),
    "floored": lambda lib, x: lib.div(x, 0.7, rounding_mode="floor"), "truncated": lambda lib, x: x.div(3, rounding_mode="trunc"),
    "at least": lambda lib, x: x.clamp(min=0), "at most": lambda lib, x: x.clamp(max=0.1),
    "first limit": lambda lib, x: x.clamp(0),
    "between": lambda lib, x: lib.clamp(x, -0.5, 0.5), "the wrong way round": lambda lib, x: lib.clamp(x, 0.5, -0.5),
}  # fmt: skip
TWO: dict[str, Any] = {
    "heaviside": lambda lib, x, y: lib.heaviside(x, y), "xlogy": lambda lib, x, y: lib.xlogy(x, y),
    "xlog1py": lambda lib, x, y: lib.special.xlog1py(x, y), "fmod": lambda lib, x, y: lib.fmod(x, y),
    "remainder": lambda lib, x, y: lib.remainder(x, y), "floor_divide": lambda lib, x, y: lib.floor_divide(x, y),
    "floored": lambda lib, x, y: lib.div(x, y, rounding_mode="floor"),
    "truncated": lambda lib, x, y: x.div(y, rounding_mode="trunc"),
    "at least": lambda lib, x, y: x.clamp(min=y), "at most": lambda lib, x, y: x.clamp(max=y),
    "between": lambda lib, x, y: lib.clamp(x, y, y + 1),
}  # fmt: skip
EPSILON = {"float32": 5e-6, "float64": 1e-12, "float16": 4e-3, "bfloat16": 3e-2}
NO_GRADIENT = {"floor_divide", "floor_divide of two", "wave", "heaviside of two"}


def pair(numbers: Any, dtype: str = "float32") -> tuple[Any, Any]:
    return tuple(lib.from_numpy(np.array(numbers, np.float64)).to(getattr(lib, dtype)) for lib in (tenfold, torch))  # type: ignore[return-value]


def same(ours: Any, theirs: Any, tolerance: float, what: Any) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape), what
    assert tuple(ours.stride()) == tuple(theirs.stride()), what
    assert str(ours.dtype).rpartition(".")[2] == str(theirs.dtype).rpartition(".")[2], what
    a, b = ours.detach().double().numpy(), theirs.detach().double().numpy()
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance / 10, err_msg=str(what))


def compiled(call: Any) -> Any:
    """The result once the loop is there, which some have only after many calls."""
    for _ in range(520):
        found = call()
    return found


@pytest.mark.parametrize("name", ONE)
def test_of_one_array(name):
    call = ONE[name]
    for dtype, tolerance in EPSILON.items():
        if name == "wave" and dtype in ("float16", "bfloat16"):
            continue  # which PyTorch does not compute
        a, x = pair(HARD, dtype)
        same(compiled(lambda: call(tenfold, a)), call(torch, x), tolerance, (name, dtype))  # noqa: B023
        for change in (lambda t: t[::2], lambda t: t[0], lambda t: t[:0], lambda t: t.view(3, 6).t(), lambda t: t.expand(2, 18)):
            same(call(tenfold, change(a)), call(torch, change(x)), tolerance, (name, dtype))
    a, x = pair(RNG.standard_normal(20_000) * 3)
    same(call(tenfold, a), call(torch, x), 1e-4 if name in ("sinc", "wave", "logit") else 5e-6, name)


@pytest.mark.parametrize("name", TWO)
def test_of_two_arrays(name):
    call = TWO[name]
    for dtype in ("float32", "float64"):
        (a, x), (b, y) = pair(HARD[:-1, None], dtype), pair(HARD[:-1], dtype)
        tall = pair(np.repeat(HARD[:-1, None], 17, 1), dtype)
        found = compiled(lambda: call(tenfold, a, b))  # noqa: B023
        same(found, call(torch, x, y), EPSILON[dtype], (name, dtype))
        same(compiled(lambda: call(tenfold, tall[0], b.expand(17, 17))), call(torch, tall[1], y.expand(17, 17)), 1e-5, name)  # noqa: B023
        for shape in ((), (1,), (17,), (1, 17), (0,)):
            (c, z) = pair(RNG.standard_normal(shape), dtype)
            if shape != (0,):
                same(call(tenfold, a, c), call(torch, x, z), EPSILON[dtype], (name, shape))
        (c, z) = pair(RNG.standard_normal((4, 0)), dtype)
        same(call(tenfold, c, c), call(torch, z, z), 0, name)


@pytest.mark.parametrize("name", [*ONE, *(f"{name} of two" for name in TWO)])
def test_gradients(name):
    inside = RNG.random((3, 4)) * 0.8 + 0.1
    call = ONE.get(name) or TWO[name.removesuffix(" of two")]
    if name in NO_GRADIENT:
        given = [tenfold.ones(3, requires_grad=True) for _ in range(2 - (name in ONE))]
        with pytest.raises(RuntimeError):
            tenfold.autograd.grad(call(tenfold, *given).sum(), given)
        return
    found = []
    for lib, place in ((tenfold, 0), (torch, 1)):
        if name == "remainder of a number" and lib is torch:
            continue  # which has no such derivative
        given = [pair(inside)[place].requires_grad_(), pair(inside[:1] * 1.7)[place].requires_grad_()][: 2 - (name in ONE)]
        result = call(lib, *given)
        found.append((lib.autograd.grad(result, given, lib.ones_like(result), allow_unused=True), result.grad_fn.name(), given))
    for ours, theirs in zip(found[0][0], found[-1][0], strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            same(ours, theirs, 1e-4, name)
    with tenfold.no_grad():
        assert call(tenfold, *found[0][2]).grad_fn is None


def test_quotients_that_are_large_leave_exact_remainders():
    large, little = np.float32([3e38, -1e30, 7e20, 1e38]), np.float32([1e-45, 3e-40, 0.37, -7.7e-30])
    x, y = np.tile(large, 4), np.repeat(little, 4)
    a, b = tenfold.from_numpy(x), tenfold.from_numpy(y)
    np.testing.assert_array_equal(compiled(lambda: a.fmod(b)).numpy(), np.fmod(x.astype(np.float64), y.astype(np.float64)))
    rest = np.fmod(x, y)
    expected = np.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)
    np.testing.assert_array_equal(compiled(lambda: a.remainder(b)).numpy(), expected)


def test_other_arguments_go_the_operators_own_way():
    x = tenfold.tensor([-7, 3, 8])
    assert x.clamp(min=0).tolist() == [0, 3, 8]
    assert x.clamp(min=0.5).dtype is tenfold.float32
    assert x.div(2, rounding_mode="floor").tolist() == [-4, 1, 4]
    assert tenfold.ones(2).clamp(min=tenfold.ones(2, dtype=tenfold.float64) * 2).dtype is tenfold.float64
    assert tenfold.remainder(7, x).tolist() == [0, 1, 7]
    for call in (
        lambda lib: lib.ones(2).clamp(), lambda lib: lib.ones(2).clamp(min="a"), lambda lib: lib.ones(2).clamp(0, lib.ones(2)),
        lambda lib: lib.ones(2).clamp(lib.ones(3)), lambda lib: lib.div(lib.ones(2), 2, rounding_mode="up"),
        lambda lib: lib.div(lib.ones(2), lib.ones(3), rounding_mode="floor"), lambda lib: lib.xlogy(1, 2),
        lambda lib: lib.fmod(lib.ones(2), lib.ones(3)), lambda lib: lib.heaviside(lib.ones(2), lib.ones(2).double()),
    ):  # fmt: skip
        raised = []
        for lib in (tenfold, torch):
            with pytest.raises((RuntimeError, TypeError)) as error:
                call(lib)
            raised.append(error.type)
        assert raised[0] is raised[1]


def test_equal_limits_give_the_gradient_to_the_upper_one():
    given = [lib.zeros(2).requires_grad_() for lib in (tenfold, torch) for _ in range(3)]
    for lib, (x, low, high) in ((tenfold, given[:3]), (torch, given[3:])):
        (lib.clamp(x - 1, low, high) * 2).sum().backward()
    for ours, theirs in zip(given[:3], given[3:], strict=True):
        same(ours.grad, theirs.grad, 0, "equal limits")


def test_in_place_out_and_half_precision():
    a, x = pair(RNG.standard_normal((4, 5)))
    for change in (
        lambda t: t.clone().clamp_(min=0), lambda t: t.clone().remainder_(0.3),
        lambda t: t.clone().div_(0.3, rounding_mode="floor"),
        lambda t: t.clone().sgn_(), lambda t: t.clone().xlogy_(2.0), lambda t: t.clone().logit_(0.1),
    ):  # fmt: skip
        same(change(a), change(x), 1e-5, "in place")
    ours, theirs = tenfold.empty(4, 5), torch.empty(4, 5)
    assert tenfold.fmod(a, 0.3, out=ours) is ours
    same(ours, torch.fmod(x, 0.3, out=theirs), 1e-6, "out")
    assert tenfold.clamp(a, min=0, out=ours) is ours
    same(ours, torch.clamp(x, min=0, out=theirs), 0, "out")


def test_subclasses_modes_and_transforms_see_the_calls():
    Told, Mode, seen = watchers()
    x = tenfold.randn(3, 4)
    assert type(tenfold.clamp(x.as_subclass(Told), min=0)) is Told
    assert seen == [tenfold.clamp]
    with Mode():
        tenfold.div(x, 2.0, rounding_mode="floor")
        tenfold.clamp(x, 0.0)
    assert seen[1:] == [tenfold.div, tenfold.clamp]
    low = tenfold.randn(4)
    found = tenfold.func.vmap(lambda row: tenfold.clamp(row, low).remainder(low).sgn())(x)
    assert found.tolist() == tenfold.clamp(x, low).remainder(low).sgn().tolist()
    assert tenfold.func.grad(lambda t: t.clamp(min=0).sum())(x).tolist() == (x >= 0).float().tolist()
    values = tenfold.func.jvp(lambda t: tenfold.xlogy(t, 2.0), (x,), (x,))
    assert np.allclose(values[1].numpy(), (x * math.log(2)).numpy(), rtol=1e-5)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="call paths are native from Python 3.12 on")
def test_calls_leave_no_reference():
    x, low = tenfold.randn(3, 4).requires_grad_(), tenfold.zeros(4)
    calls = (
        lambda: x.clamp(min=0), lambda: x.clamp(-1.0, 1.0), lambda: x.clamp(low, low), lambda: x.div(2.0, rounding_mode="trunc"),
        lambda: tenfold.remainder(2.0, x), lambda: x.clamp(min=tenfold.zeros(7)),
    )  # fmt: skip
    things = [x._array, low._array, x._node, None, 0, tenfold.clamp]

    def run(times: int) -> None:
        for _ in range(times):
            for call in calls:
                with contextlib.suppress(RuntimeError):
                    call()

    run(50)
    assert left_behind(lambda: run(500), things) < SMALL


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_quotients_of_half_precision_are_rounded_before_they_are_cut(dtype):
    numbers = np.random.default_rng(0).uniform(-4, 4, (2, 64, 70)).astype(np.float32)
    found = []
    for lib in (tenfold, torch):
        x, y = (lib.from_numpy(a).to(getattr(lib, dtype)) for a in numbers)
        for _ in range(150):  # loops are compiled after some calls
            result = x[:2].div(y[:2], rounding_mode="trunc")
        found.append((result.tolist(), x.div(y, rounding_mode="trunc").tolist(), x.div(0.0561, rounding_mode="trunc").tolist()))
    assert found[0] == found[1]
