"""Arrays that are broadcast to a shape that none of them has, as in outer products: PyTorch's values, by compiled loops."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from compared_calls import outcome, refused_alike

import tenfold
from tenfold.llvm.elementwise import SPREAD, STRIDED_FROM
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.session import session
from tenfold.llvm.storage import BY_DTYPE

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine"),
    pytest.mark.filterwarnings("ignore"),
]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, 255.0, 65504.0, np.inf, -np.inf, np.nan, 1e-7, 3.0]
SHAPES = (
    ((100, 1), (1, 100)), ((100, 1), (100,)), ((7, 1, 90), (30, 1)), ((7, 1, 30, 1), (1, 20, 1, 11)), ((1, 100), (100, 1)),
    ((100, 1), (1, 1)), ((1, 1, 1), (100, 1)), ((0, 1), (1, 100)), ((100, 1), (1, 0)), ((100, 2), (3, 100)), ((100, 1), ()),
    ((3, 1), (1, 5)), ((30, 1), (1, 40)), ((1,), (1, 9000)),
)  # fmt: skip
OPERATORS = ("add", "sub", "mul", "truediv", "eq", "lt", "ge", "ne")


def both(dtype: str, shape: tuple[int, ...], turn: int = 0) -> list[tuple[Any, Any]]:
    numbers = np.resize(np.roll(SPECIAL, turn), shape)
    return [(m, m.tensor(numbers).to(getattr(m, dtype))) for m in (tenfold, torch)]


def alike(ours: Any, theirs: Any, what: Any) -> None:
    if refused_alike(ours, theirs, what):
        return
    assert tuple(ours.shape) == tuple(theirs.shape), what
    assert tuple(ours.stride()) == tuple(theirs.stride()), what
    got, expected = ours.double().numpy(), theirs.double().numpy()
    np.testing.assert_array_equal(got, expected, err_msg=str(what))
    some = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[some]), np.signbit(expected[some]), err_msg=str(what))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name, dtype):
    call = getattr(operator, name)
    for one, other in SHAPES:
        for _ in range(2):  # the second time by what was planned
            pairs = zip(both(dtype, one), both(dtype, other, 5), strict=True)
            alike(*(outcome(call, x, y) for (_, x), (_, y) in pairs), (name, dtype, one, other))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_several_arguments_and_other_layouts(dtype):
    x, y, z = both(dtype, (100, 1)), both(dtype, (1, 100), 5), both(dtype, (100, 100), 2)
    for call in (
        lambda m, x, y, z: m.where(x > 0, y, z), lambda m, x, y, z: m.where(x > 0, y, x), lambda m, x, y, z: m.maximum(x, y),
        lambda m, x, y, z: m.addcmul(z, x, y), lambda m, x, y, z: m.add(x, y, out=m.empty(100, 100, dtype=x.dtype)),
        lambda m, x, y, z: x[::2] * y[:, ::3], lambda m, x, y, z: m.add(x, y, out=z.clone().t()),
        lambda m, x, y, z: x.expand(100, 5) + y[:, :5], lambda m, x, y, z: z.clone().mul_(y),
        lambda m, x, y, z: x.clone().mul_(y),
    ):  # fmt: skip
        alike(*(outcome(call, m, a, b, c) for (m, a), (_, b), (_, c) in zip(x, y, z, strict=True)), dtype)


@pytest.mark.parametrize(("dtype", "n"), [("float32", 128), ("float64", 128), ("bfloat16", 32), ("float16", 32)])
def test_what_is_made_decides(dtype, n):
    """Of few numbers many are made: NumPy takes several times as long."""
    made, stored = ACCELERATED["mul"], BY_DTYPE[getattr(tenfold, dtype).numpy]
    x, y = both(dtype, (n, 1))[0][1], both(dtype, (1, n))[0][1]
    assert max(x.numel(), y.numel()) < STRIDED_FROM
    key, place = (stored.memory, (False,), ("next", "same", "next")), SPREAD + 8 * made.dtypes.index(stored) + 1
    made._loops.pop(key, None)
    for words in made.tables:  # the native gate takes the loop where it is there
        words[place] = 0
    x * y
    assert made._loops[key]
    assert all(words[place] == made._loops[key] for words in made.tables)
