"""Conversions by native code: NumPy's numbers for every pair of dtypes, and the interpreter's answers for all else."""

from __future__ import annotations

import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated

import tenfold
from tenfold import nn
from tenfold.llvm import call_paths
from tenfold.llvm.conversions import METHODS
from tenfold.llvm.session import session

pytestmark = pytest.mark.skipif(
    session() is None or not call_paths.possible(), reason="call paths are native from Python 3.12 on, with compiled kernels"
)
NAMES = (*METHODS, "bfloat16", "uint8", "complex64")
NUMBERS = [0.0, -0.0, 0.4, 1.5, 2.5, -1.5, -2.7, 127.0, 300.0, 65504.0, 65520.0, 1e-8, 6e-8, 1e9, -1e9]
SPECIAL = [2.0**31, -(2.0**31), 2.0**31 - 1, 1e10, 2.0**63, -(2.0**63), 1e30, 1e300, np.nan, np.inf, -np.inf]


def outcome(call):
    try:
        made = call()
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)
    if not isinstance(made, tenfold.Tensor):
        return made
    values = np.ascontiguousarray(made.detach()._array).tobytes() if made.device.type == "cpu" else None
    return values, made.dtype, made.shape, made.stride(), type(made.grad_fn).__name__, made._version


def same(call):
    got = outcome(call)
    with session().paths.suspended():
        assert str(got) == str(outcome(call))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("source", NAMES)
def test_every_pair(source, target):
    wanted = getattr(tenfold, target)
    small = tenfold.tensor(NUMBERS, dtype=tenfold.float64).to(getattr(tenfold, source))
    for _ in range(260):  # after which the loop is compiled
        small.to(wanted)
    for numbers in (NUMBERS, SPECIAL, NUMBERS * 9, [*NUMBERS * 5, *SPECIAL], [], NUMBERS * 2500, [*NUMBERS * 2500, *SPECIAL]):
        with np.errstate(all="ignore"):
            x = tenfold.tensor(numbers, dtype=tenfold.float64).to(getattr(tenfold, source))
        for call in (
            lambda x=x: x.to(wanted), lambda x=x: x.to(wanted, copy=True), lambda x=x: x.view(1, -1).to(wanted),
            lambda x=x: x[::2].to(wanted), lambda x=x: x.to(dtype=wanted),
        ):  # fmt: skip
            same(call)
        if target in METHODS:
            same(lambda x=x: getattr(x, METHODS[target])())
            same(lambda x=x: getattr(tenfold.Tensor, METHODS[target])(self=x))


def test_the_tensor_itself():
    x, p = tenfold.randn(3), nn.Parameter(tenfold.randn(3))
    recorded = p * 2
    for t in (x, p, recorded, x[::2], tenfold.zeros(0), tenfold.tensor(1.0)):
        assert t.float() is t
        assert t.to(tenfold.float32) is t
        assert t.to("cpu") is t
        assert t.to(tenfold.device("cpu")) is t
        assert t.double() is not t
    assert x.to(x) is x
    assert x.to("meta").device.type == "meta"
    same(lambda: x.to("nowhere"))
    same(lambda: x.to(None))
    same(lambda: x.to(3))
    same(lambda: x.to())
    same(lambda: tenfold.Tensor.long())
    same(lambda: tenfold.Tensor.long(3))
    same(lambda: tenfold.Tensor.to(3, tenfold.int64))


def test_gradients_pass_conversions():
    w = tenfold.ones(3, requires_grad=True)
    (w.double() * 2).sum().backward()
    assert w.grad.tolist() == [2, 2, 2]
    assert w.grad.dtype is tenfold.float32
    assert w.to(tenfold.float64).grad_fn is not None
    assert w.long().grad_fn is None
    with tenfold.no_grad():
        assert w.double().grad_fn is None
    with tenfold.inference_mode():
        assert tenfold.ones(3).long().is_inference()
    assert tenfold.func.vmap(lambda row: row.long())(tenfold.ones(2, 3)).tolist() == [[1] * 3] * 2


def test_many_conversions_leave_no_reference():
    x, wide = tenfold.randn(8), tenfold.full((8,), 1e30)
    calls = [lambda: x.long(), lambda: x.to(tenfold.float64), lambda: x.to("cpu"), lambda: wide.int(), lambda: x.bool()]
    for call in calls:
        for _ in range(500):
            call()
    things = (x, x._array, wide, tenfold.int64, np.dtype(np.int64), np.dtype(np.float32), np.dtype(np.bool_))
    assert left_behind(repeated(calls, 5000), things) < SMALL
