"""Cross products: PyTorch's numbers for every dtype, dimension and layout, and that NumPy's own are made in one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import OPERATORS
from tenfold.dispatch.runtime import RUNTIME

torch = pytest.importorskip("torch")
SPECIAL = [0.0, -0.0, 1.0, -1.5, 0.25, np.inf, -np.inf, np.nan, 2.0**60, 3.0, 2.0]  # whose products need no rounding
CASES = (
    ((3,), (3,), -1), ((4, 3), (4, 3), -1), ((4, 3), (4, 3), 1), ((3, 4), (3, 4), 0), ((2, 3, 5), (2, 3, 5), 1),
    ((2, 3, 5), (2, 3, 5), -2), ((4, 3), (1, 3), -1), ((1, 3), (4, 3), 1), ((0, 3), (0, 3), -1), ((3, 0), (3, 0), 0),
    ((4, 3), (4, 3), 0), ((4, 3), (4, 3), 5), ((4, 3), (3,), -1), ((2, 4), (2, 4), -1), ((4, 3), (5, 3), -1),
)  # fmt: skip


def outcome(call: Any, *given: Any, **named: Any) -> Any:
    try:
        return call(*given, **named)
    except Exception as error:  # noqa: BLE001 - compared
        return error


def pair(dtype: str, shape: tuple[int, ...], turn: int) -> list[Any]:
    numbers = np.resize(np.roll(SPECIAL if "float" in dtype else [0, 1, 2, 100, 2**31 - 1, 7], turn), shape)
    return [m.tensor(numbers).to(getattr(m, dtype)) for m in (tenfold, torch)]


def alike(ours: Any, theirs: Any, what: Any) -> None:
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), (what, ours)
        return
    assert not isinstance(ours, Exception), (what, ours)
    assert (tuple(ours.shape), tuple(ours.stride())) == (tuple(theirs.shape), tuple(theirs.stride())), what
    np.testing.assert_array_equal(ours.double().numpy(), theirs.double().numpy(), err_msg=str(what))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "uint8"])
def test_every_layout(dtype):
    for one, other, dim in CASES:
        for part in (lambda x: x, lambda x: x.repeat(*[2] * x.dim())[(slice(None, None, 2),) * x.dim()]):
            if part(pair(dtype, one, 0)[1]).shape != one:
                continue
            each = zip((tenfold, torch), pair(dtype, one, 0), pair(dtype, other, 4), strict=True)
            found = [outcome(m.linalg.cross, part(x), part(y), dim=dim) for m, x, y in each]
            alike(*found, (dtype, one, other, dim))


def test_gradients():
    found = []
    for m in (tenfold, torch):
        x, y = (m.linspace(-1.0, k, 12, dtype=m.float64).view(4, 3).requires_grad_() for k in (2, 3))
        m.linalg.cross(x, y).square().sum().backward()
        found += [x.grad.numpy(), y.grad.numpy()]
    np.testing.assert_allclose(found[0], found[2], rtol=1e-12)
    np.testing.assert_allclose(found[1], found[3], rtol=1e-12)


def test_the_kernel_serves_what_numpy_has():
    function = RUNTIME["kernel_for"](OPERATORS["linalg_cross"], CPU)
    assert function is not None
    x, y = (np.random.default_rng(k).random((5, 3)) for k in range(2))
    np.testing.assert_array_equal(function(x, y, -1), np.cross(x, y))
    assert function(x, y[:1], -1) is NotImplemented
