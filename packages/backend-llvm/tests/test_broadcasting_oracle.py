"""Arrays that are broadcast, in native code: PyTorch's values, shapes and layouts, and its errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated

import tenfold
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
RNG = np.random.default_rng(0)
SHAPES = [
    (), (1,), (5,), (4, 5), (4, 1), (1, 5), (3, 1, 5), (3, 1, 1), (1, 4, 1), (2, 1, 4, 1), (4, 0),
    (1, 1, 1, 1, 1, 1, 1, 1, 5), (7, 1, 2, 1, 3, 1, 4, 5),
]  # fmt: skip
BINARY = ["add", "sub", "mul", "div", "maximum", "minimum", "clamp_min", "eq", "lt", "copysign", "hypot", "logaddexp"]
TERNARY: dict[str, Any] = {
    "addcmul": lambda lib, a, b, c: lib.addcmul(a, b, c, value=0.5),
    "addcdiv": lambda lib, a, b, c: lib.addcdiv(a, b, c, value=2),
    "lerp": lambda lib, a, b, c: lib.lerp(a, b, c),
    "lerp by a number": lambda lib, a, b, c: lib.lerp(a, b, 0.3),
    "where": lambda lib, a, b, c: lib.where(a > 0, b, c),
    "where or a number": lambda lib, a, b, c: lib.where(a > 0, b, 0.25),
    "where a number or": lambda lib, a, b, c: lib.where(a > 0, -2, b),
    "add alpha": lambda lib, a, b, c: lib.add(a, b, alpha=3),
}
TOLERANCE = {"float32": 2e-6, "float64": 1e-14, "float16": 2e-3, "bfloat16": 1.6e-2}


def pair(numbers: Any, dtype: str = "float32") -> tuple[Any, Any]:
    array = np.ascontiguousarray(numbers).reshape(np.shape(numbers))
    return tuple(lib.from_numpy(array.copy()).to(getattr(lib, dtype)) for lib in (tenfold, torch))  # type: ignore[return-value]


def fitting(*shapes: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def same(ours: Any, theirs: Any, dtype: str, what: Any) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape), what
    assert tuple(ours.stride()) == tuple(theirs.stride()), what
    assert str(ours.dtype).rpartition(".")[2] == str(theirs.dtype).rpartition(".")[2], what
    a, b = ours.double().numpy(), theirs.double().numpy()
    np.testing.assert_allclose(a, b, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], err_msg=str(what))


def often(call: Any) -> Any:
    """The result once its loop is there: NumPy serves the first calls of what it computes to the same bits."""
    for _ in range(2):
        found = call()
    return found


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """All loops in use before the shapes are gone through."""
    with np.errstate(all="ignore"):
        wide = [
            tenfold.from_numpy(RNG.standard_normal(s).astype(t)) for t in ("f4", "f8") for s in ((100, 90), (100, 1), (90,), ())
        ]
        for (a, b), name in itertools.product(itertools.product(wide, wide), BINARY):
            if a.dtype is b.dtype:
                getattr(tenfold, name)(a, b)
        for call in TERNARY.values():
            for some in (wide[:4], wide[4:]):
                for a, b, c in itertools.product(some, repeat=3):
                    call(tenfold, a, b, c)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", BINARY)
def test_two_arrays(name, dtype):
    for one, other in itertools.product(SHAPES, SHAPES if dtype == "float32" else SHAPES[:6]):
        (a, x), (b, y) = pair(RNG.standard_normal(one), dtype), pair(RNG.standard_normal(other), dtype)
        if fitting(one, other):
            same(often(lambda: getattr(tenfold, name)(a, b)), getattr(torch, name)(x, y), dtype, (name, one, other))  # noqa: B023
        else:
            for lib, given in ((tenfold, (a, b)), (torch, (x, y))):
                with pytest.raises(RuntimeError):
                    getattr(lib, name)(*given)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TERNARY)
def test_three_arrays(name, dtype):
    call = TERNARY[name]
    for shapes in itertools.product(SHAPES[:10], repeat=3):
        if fitting(*shapes) and sum(map(len, shapes)) % 2:
            ours, theirs = zip(*(pair(RNG.standard_normal(s), dtype) for s in shapes), strict=True)
            same(call(tenfold, *ours), call(torch, *theirs), dtype, (name, shapes))


@pytest.mark.parametrize("name", ["add", "mul", "div", "maximum", "eq", "clamp_min"])
def test_numbers_that_hurt(name):
    hard = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, 3e38], np.float32)
    (a, x), (b, y) = pair(hard[:, None]), pair(hard)
    found, expected = often(lambda: getattr(tenfold, name)(a, b)), getattr(torch, name)(x, y)
    np.testing.assert_array_equal(found.double().numpy(), expected.double().numpy())


def test_strided_transposed_and_mixed_go_their_way():
    base = RNG.standard_normal((6, 8))
    for change in (lambda t: t.t(), lambda t: t[::2], lambda t: t[:, ::3].t(), lambda t: t[:1].expand(6, 8)):
        a, x = (change(t) for t in pair(base))
        for other in ((1,), (a.shape[1],), (a.shape[0], 1), (2, 1, 1)):
            b, y = pair(RNG.standard_normal(other))
            same(often(lambda: a * b), x * y, "float32", other)  # noqa: B023
    (a, x), (b, y) = pair(RNG.standard_normal((3, 1))), pair(RNG.standard_normal(4), "float64")
    same(often(lambda: a + b), x + y, "float32", "two dtypes")


def test_gradients_subclasses_and_transforms():
    class Own(tenfold.Tensor):
        pass

    (a, x), (b, y) = pair(RNG.standard_normal((4, 1))), pair(RNG.standard_normal(3))
    for t in (a, b, x, y):
        t.requires_grad_()
    for lib, given in ((tenfold, (a, b)), (torch, (x, y))):
        (lib.mul(*given) + lib.addcmul(given[0], given[1], given[1])).sum().backward()
    same(a.grad, x.grad, "float32", "a")
    same(b.grad, y.grad, "float32", "b")
    with tenfold.no_grad():
        assert (a * b).grad_fn is None
    assert (a * b).grad_fn.name() == "MulBackward0"
    assert type(a.detach().as_subclass(Own) * b) is Own
    found = tenfold.func.vmap(lambda v: v * b.detach())(a.detach())
    same(found, x.detach() * y.detach(), "float32", "vmap")
    out = tenfold.empty(4, 3)
    assert tenfold.mul(a.detach(), b.detach(), out=out) is out
    same(out, x.detach() * y.detach(), "float32", "out")
    with pytest.raises(RuntimeError):
        a.detach().mul_(b.detach())


def test_calls_leave_no_reference():
    a, b = tenfold.ones(4, 1), tenfold.ones(3)
    for _ in range(600):
        a + b
    arrays = a._array, b._array, a._array.dtype
    assert left_behind(repeated([lambda: a + b], 1000), arrays) < SMALL
