"""`add(alpha=)` and `sub(alpha=)` of floats: one native call, with PyTorch's numbers, nodes and refusals."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from compared_calls import outcome, refused_alike

import tenfold

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="call paths are native from Python 3.12 on")
NUMBERS = np.array([0.0, -0.0, 1.5, -3.0, 1e30, np.inf, -np.inf, np.nan, 7.0, 0.1, 2.0, -0.5]).reshape(3, 4)
ALPHAS = (2, -3, 0, 1, 0.1, -0.0, 1e-30, float("inf"), float("nan"), True, 1e40, 2**70, 2j, "x", None)
LAYOUTS = {
    "rows": lambda x: x, "turned": lambda x: x.t(), "row": lambda x: x[:1], "strided": lambda x: x[:, ::2],
    "empty": lambda x: x[:0], "one": lambda x: x[0, 2],
}  # fmt: skip
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "bool", "complex64")


def _pair(dtype, layout):
    theirs = torch.tensor(NUMBERS if dtype not in ("int64", "bool") else np.arange(12).reshape(3, 4)).to(getattr(torch, dtype))
    ours = tenfold.tensor(theirs.tolist(), dtype=getattr(tenfold, dtype))
    return LAYOUTS[layout](ours), LAYOUTS[layout](theirs)


def _same(ours, theirs, what):
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1], what
    assert (tuple(ours.shape), ours.stride()) == (tuple(theirs.shape), theirs.stride()), what
    wide = (ours.to(tenfold.complex128) if ours.is_complex() else ours.double(), theirs)
    np.testing.assert_allclose(wide[0].numpy(), theirs.to(torch.complex128 if theirs.is_complex() else torch.double).numpy(),
                               rtol=1e-2 if ours.dtype.itemsize == 2 else 1e-6, err_msg=str(what))  # fmt: skip


@pytest.mark.parametrize("name", ["add", "sub"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64"])
def test_sums_with_a_multiple(name, dtype):
    for left, right, alpha in itertools.product(LAYOUTS, (*LAYOUTS, 3, 0.5), ALPHAS):
        x, want_x = _pair(dtype, left)
        y, want_y = _pair(dtype, right) if right in LAYOUTS else (right, right)
        got = outcome(getattr(tenfold, name), x, y, alpha=alpha)
        want = outcome(getattr(torch, name), want_x, want_y, alpha=alpha)
        if not refused_alike(got, want, (left, right, alpha)):
            _same(got, want, (left, right, alpha))


@pytest.mark.parametrize("name", ["add", "sub"])
def test_sums_of_two_dtypes(name):
    for dtype, other, alpha in itertools.product(DTYPES, DTYPES, (2, 0.5)):
        (x, want_x), (y, want_y) = _pair(dtype, "rows"), _pair(other, "rows")
        got = outcome(getattr(x, name), y, alpha=alpha)
        want = outcome(getattr(want_x, name), want_y, alpha=alpha)
        if not refused_alike(got, want, (dtype, other, alpha)):
            _same(got, want, (dtype, other, alpha))


@pytest.mark.parametrize(("name", "node"), [("add", "AddBackward0"), ("sub", "SubBackward0")])
def test_gradients_and_names_of_nodes(name, node):
    found = []
    for lib in (tenfold, torch):
        x = lib.arange(6.0).reshape(2, 3).requires_grad_()
        y = lib.ones(3, requires_grad=True)
        made = getattr(lib, name)(x, y, alpha=0.5)
        made.backward(lib.ones(2, 3))
        with lib.no_grad():
            free = getattr(lib, name)(x, y, alpha=0.5).requires_grad
        found.append((made.grad_fn.name(), x.grad.tolist(), y.grad.tolist(), free))
    assert found[0] == found[1]
    assert found[0][0] == node


@pytest.mark.parametrize("name", ["add", "sub"])
def test_a_plain_sum_with_a_multiple_goes_past_the_interpreters_path(name, entered):
    x, y = tenfold.randn(4, 8), tenfold.randn(4, 8)
    for function, first in ((getattr(tenfold, name), (x,)), (getattr(x, name), ())):
        for other, alpha in itertools.product((y, 2.0, 3), (2, 0.1)):
            function(*first, other, alpha=alpha)
            assert name not in entered(lambda f=function, a=first, o=other, k=alpha: f(*a, o, alpha=k)), (other, alpha)


@pytest.mark.parametrize("size", [64, 1 << 13])
def test_of_half_precision_the_multiple_is_rounded_first(size):
    """PyTorch rounds the product, too, in what is left of the elements after blocks of 32: there is nothing left here."""
    x, y = np.random.default_rng(size).standard_normal((2, size))
    for alpha in (0.1, 3, 1.001, -0.01, 7000.0):
        theirs, ours = (
            m.add(*(m.tensor(a).to(m.bfloat16) for a in (x, y)), alpha=alpha).double().tolist() for m in (torch, tenfold)
        )
        assert theirs == ours, alpha
