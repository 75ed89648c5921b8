"""Strided and broadcast arguments: layouts are planned once, results lie as PyTorch's, long formulas collect what lies apart."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm import elementwise
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.loops import BLOCK
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, -3e38, 1.5, -2.5]
LAYOUTS = {
    "turned": lambda x: (x[0].t(), x[1].t().contiguous(), x[2].t().contiguous()),
    "turned beside rows": lambda x: (x[0].t().contiguous(), x[1].t(), x[2].t()),
    "parts": lambda x: (x[0, 1:, 2:7], x[1, 1:, :5], x[2, 1:, ::2]),
    "expanded": lambda x: (x[0, :, :1], x[1, 1], x[2]),
    "expanded rows": lambda x: (x[0, :1].expand(6, 10), x[1], x[2, :, 3:4].expand(6, 10)),
    "planes": lambda x: (x.permute(2, 0, 1)[:, 0:1], x.permute(2, 0, 1), x.permute(2, 0, 1).contiguous()),
    "one column": lambda x: (x[0, :, 3:4], x[1, :, :1], x[2, :, 9:]),
    "empty": lambda x: (x[0, :0], x[1, :0, :], x[2, :1]),
}
CALLS = {
    "add": lambda m, a, b, c: m.add(a, b, alpha=0.3),
    "addcmul": lambda m, a, b, c: m.addcmul(a, b, c, value=0.5),
    "addcdiv": lambda m, a, b, c: m.addcdiv(a, b, c, value=2),
    "lerp": lambda m, a, b, c: m.lerp(a, b, c),
    "lerp by a number": lambda m, a, b, c: m.lerp(a, b, 0.25),
    "where": lambda m, a, b, c: m.where(c > 0, a, b),
    "logaddexp": lambda m, a, b, c: m.logaddexp(a, b),
    "sub": lambda m, a, b, c: a - b,
}


def _given(lib, layout, dtype, seed):
    x = np.random.default_rng(seed).standard_normal((3, 6, 10)).astype(np.float32)
    x[seed % 3].reshape(-1)[: len(SPECIAL)] = SPECIAL
    return LAYOUTS[layout](lib.from_numpy(x).to(getattr(lib, dtype)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CALLS)
def test_values_and_strides_of_calls_after_the_first(name, layout, dtype):
    for seed in range(3):
        ours, theirs = (CALLS[name](m, *_given(m, layout, dtype, seed)) for m in (tenfold, torch))
        assert (tuple(ours.shape), ours.stride()) == (tuple(theirs.shape), theirs.stride())
        loose = {"rtol": 1e-2, "atol": 1e-2} if dtype == "bfloat16" else {"rtol": 2e-6, "atol": 1e-30}
        np.testing.assert_allclose(ours.double().numpy(), theirs.double().numpy(), **loose)


def test_a_layout_is_planned_once(monkeypatch):
    x, y = tenfold.randn(7, 5), tenfold.randn(5, 7)
    first = tenfold.addcmul(x.t(), y, y)
    with monkeypatch.context() as patched:
        patched.setattr(elementwise.Operator, "serve", None)
        again, other = tenfold.addcmul(x.t(), y, y), tenfold.addcmul((x + 1).t(), y, y)
    assert again.tolist() == first.tolist()
    assert other.tolist() == tenfold.addcmul((x + 1).t().contiguous(), y, y).tolist()


def test_a_number_that_the_dtype_does_not_hold_is_no_part_of_a_plan():
    x, y = tenfold.randn(4, 9), tenfold.randn(9, 4)
    tenfold.clamp(x.t(), 0.0, 1.0)
    for call in (lambda m, a, b: m.lerp(a.t(), b, 0.5), lambda m, a, b: m.lerp(a.t(), b, 1e300)):
        found = []
        for m, a, b in ((tenfold, x, y), (torch, torch.tensor(x.tolist()), torch.tensor(y.tolist()))):
            try:
                found.append(call(m, a, b).tolist())
            except RuntimeError as error:
                found.append(type(error))
        np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["exp", "sigmoid", "tanh", "sin", "erf", "log1p", "logaddexp", "hypot", "neg"])
def test_elements_that_lie_far_apart(name, dtype):
    numbers = np.random.default_rng(3).standard_normal((7, 3 * BLOCK + 5)).astype(np.float32) * 20
    numbers[:, : len(SPECIAL)] = SPECIAL
    x = tenfold.from_numpy(numbers).to(getattr(tenfold, dtype))
    call = getattr(tenfold, name)
    for part in (x[0, ::2], x[:, ::3], x[:, 1::2], x[:, :4], x.t()[::5], x[:, : BLOCK * 2 : 2]):
        given = (part,) * (2 if name in ("logaddexp", "hypot") else 1)
        whole = call(*(a.contiguous() for a in given))
        np.testing.assert_array_equal(call(*given).double().numpy(), whole.double().numpy())
        room = tenfold.zeros(*part.shape, 2, dtype=x.dtype)
        room[..., 0] = 7
        tenfold.neg(part, out=room[..., 1])  # a result that lies far apart
        call(*given, out=room[..., 1])
        np.testing.assert_array_equal(room[..., 1].double().numpy(), whole.double().numpy())
        assert (room[..., 0] == 7).all()


def test_loops_of_long_formulas_collect_and_those_of_short_ones_do_not():
    stored = elementwise.FLOATING[0]
    assert "@near32" in ACCELERATED["exp"].text(stored, (), ("next", "far"))
    assert "@apart32" in ACCELERATED["exp"].text(stored, (), ("far", "next"))
    assert "@near32" not in ACCELERATED["neg"].text(stored, (), ("next", "far"))
