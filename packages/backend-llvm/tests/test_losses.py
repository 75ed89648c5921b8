"""Cross entropy by native gates: the numbers and refusals of the kernels beneath, for calls that they serve and for others."""

from __future__ import annotations

import numpy as np
import pytest
from left_behind import SMALL, left_behind

import tenfold
from tenfold.dispatch.kernels import KERNELS
from tenfold.llvm import session as sessions
from tenfold.nn.functional import cross_entropy

pytestmark = pytest.mark.skipif(sessions.session() is None, reason="no compiled kernels on this machine")
NAMES = ("fused_cross_entropy", "fused_cross_entropy_grad")
TARGET = [0, 4, 1, 2, 3, 3]
CALLS = {
    "mean": lambda x, t: cross_entropy(x, t),
    "sum": lambda x, t: cross_entropy(x, t, reduction="sum"),
    "each": lambda x, t: cross_entropy(x, t, reduction="none").sum(),
    "a text made anew": lambda x, t: cross_entropy(x, t, reduction=str(b"mean", "ascii")),
    "scaled": lambda x, t: cross_entropy(x, t) * 3,
    "weighted": lambda x, t: cross_entropy(x, t, tenfold.arange(5).to(x.dtype)),
    "smooth": lambda x, t: cross_entropy(x, t, label_smoothing=0.1),
    "smooth by a whole number": lambda x, t: cross_entropy(x, t, label_smoothing=0),
    "one class ignored": lambda x, t: cross_entropy(x, t, ignore_index=3),
    "far ignored": lambda x, t: cross_entropy(x, t, ignore_index=10**15),
    "some ignored": lambda x, t: cross_entropy(x, tenfold.where(t == 3, -100, t)),
    "all ignored": lambda x, t: cross_entropy(x, tenfold.full_like(t, -100)),
    "beyond": lambda x, t: cross_entropy(x, t + 1),
    "far beyond": lambda x, t: cross_entropy(x, t + (1 << 62)),
    "negative": lambda x, t: cross_entropy(x, t - 1),
    "every second": lambda x, t: cross_entropy(x[::2], t[::2]),
    "one": lambda x, t: cross_entropy(x[0], t[0]),
    "none": lambda x, t: cross_entropy(x[:0], t[:0], reduction="sum"),
    "turned": lambda x, t: cross_entropy(x.t().contiguous().t(), t),
    "infinite": lambda x, t: cross_entropy(x * float("inf"), t),
    "other targets": lambda x, t: cross_entropy(x, t.to(tenfold.uint8)),
    "too few targets": lambda x, t: cross_entropy(x, t[:3]),
}


def outcome(call, x):
    leaf = x.clone().requires_grad_()
    try:
        loss = call(leaf, tenfold.tensor(TARGET))
        loss.backward()
    except (RuntimeError, IndexError, ValueError) as error:
        return type(error).__name__, str(error)
    return loss.detach().numpy(), leaf.grad.numpy()


def beneath(call):
    """The result of a call by the kernels that the gates are around."""
    known = {name: getattr(tenfold.op, name).calls.kernels for name in NAMES}
    held = {name: dict(kernels) for name, kernels in known.items()}
    for name, kernels in known.items():
        plain = next(k.function for k in KERNELS[name, "cpu"] if not k.accelerates)
        kernels.update(dict.fromkeys(kernels, plain))
    try:
        return call()
    finally:
        for name, kernels in known.items():
            kernels.update(held[name])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64, tenfold.float16])
@pytest.mark.parametrize("name", list(CALLS))
def test_as_beneath(name, dtype):
    x = tenfold.randn(6, 5, generator=tenfold.Generator().manual_seed(3)).to(dtype)
    tolerance = {2: 1e-2, 4: 3e-6, 8: 1e-14}[dtype.itemsize]
    for _ in range(2):  # the first call compiles
        got = outcome(CALLS[name], x)
    expected = beneath(lambda: outcome(CALLS[name], x))
    for g, e in zip(got, expected, strict=True):
        if isinstance(g, str) or isinstance(e, str):
            assert g == e
        else:
            assert (g.dtype, g.shape) == (e.dtype, e.shape)
            np.testing.assert_allclose(g, e, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["mean", "beyond", "weighted", "some ignored"])
def test_many_calls_leave_no_reference(name):
    x, target = tenfold.randn(6, 5, requires_grad=True), tenfold.tensor(TARGET)

    def run(times):
        for _ in range(times):
            try:
                CALLS[name](x, target).backward()
            except (RuntimeError, IndexError):
                continue
        x.grad = None

    run(100)
    things = (x, x._array, target, target._array, np.dtype(np.float32), np.dtype(np.int64))
    assert left_behind(lambda: run(2000), things) < SMALL
