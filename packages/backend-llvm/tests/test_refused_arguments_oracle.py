"""Arguments that only equal usual ones, or cannot be what is asked for: quick ways refuse what PyTorch refuses."""

from __future__ import annotations

import numpy as np
import pytest
from compared_calls import results, seen

import tenfold

torch = pytest.importorskip("torch")

PLACES = [1, 0]
CALLS = {
    "slice_scatter": (lambda lib, n: lib.ones(4).slice_scatter(lib.zeros(3), 0, n), 1),
    "slice_scatter end": (lambda lib, n: lib.ones(4).slice_scatter(lib.zeros(1), 0, 0, n), 1),
    "diag_embed": (lambda lib, n: lib.ones(2).diag_embed(0, n, -1), -2),
    "eye": (lambda lib, n: lib.eye(1, n), 1),
    "layer_norm": (lambda lib, n: lib.nn.functional.layer_norm(lib.ones(3, 1), (n,)), 1),
    "expand": (lambda lib, n: lib.ones(3, 1).expand(3, n), 1),
    "reshape": (lambda lib, n: lib.ones(1).reshape((n,)), 1),
    "sum": (lambda lib, n: lib.ones(3, 2).sum(n), 1),
    "sum of several": (lambda lib, n: lib.ones(3, 2).sum([n, 0]), 1),
    "mean": (lambda lib, n: lib.ones(3, 2).mean(dim=n), 1),
    "linspace": (lambda lib, n: lib.linspace(0, n, 3), 2),
    "index_fill": (lambda lib, n: lib.zeros(3).index_fill(0, lib.tensor(PLACES), n), 2),
    "arange": (lambda lib, n: lib.arange(0, n, 2), 3),
    "a gradient wanted": (lambda lib, n: lib.tensor(1.0, requires_grad=n), True),
    "without a wait": (lambda lib, n: lib.ones(2).to(lib.float64, non_blocking=n), True),
    "a dtype": (lambda lib, n: lib.zeros(2, dtype=n), None),
    "a dtype like": (lambda lib, n: lib.ones_like(lib.ones(2), dtype=n), None),
}
OTHERS = {
    "True": lambda lib: True,
    "False": lambda lib: False,
    "0": lambda lib: 0,
    "1": lambda lib: 1,
    "1.0": lambda lib: 1.0,
    "-1": lambda lib: -1,
    "-2.0": lambda lib: -2.0,
    "a bool of NumPy": lambda lib: np.bool_(True),
    "an int of NumPy": lambda lib: np.int64(1),
    "a float of NumPy": lambda lib: np.float64(1),
    "beyond 64 bits": lambda lib: 1 << 70,
    "a tensor": lambda lib: lib.tensor(1),
    "a vector of one": lambda lib: lib.tensor([1]),
    "text": lambda lib: "1",
}
# Where the ordinary way differs from PyTorch: an int that overflows is a dimension or a size that is not there, a vector of one
# is no int, a bool of NumPy is a bool.
APART = {("slice_scatter", "a vector of one"), ("slice_scatter end", "a vector of one"), ("eye", "a vector of one")}
APART |= {("arange", "a bool of NumPy")}
OVERFLOWING = ("linspace", "index_fill", "a gradient wanted", "without a wait", "a dtype", "a dtype like")


@pytest.mark.parametrize("name", CALLS)
def test_what_is_refused(name):
    call, usual = CALLS[name]
    for _ in range(3):
        call(tenfold, usual)
    for what, other in OTHERS.items():
        if (name, what) not in APART and (what != "beyond 64 bits" or name in OVERFLOWING):
            ours, theirs = (results(lambda lib=lib, value=other: call(lib, value(lib)), seen) for lib in (tenfold, torch))
            assert ours == theirs, what
    assert results(lambda: call(tenfold, usual), seen) == results(lambda: call(torch, usual), seen)


@pytest.mark.parametrize("name", ["sum", "mean", "amax"])
def test_a_list_of_dimensions_may_change_after_the_call(name):
    found = []
    for lib in (tenfold, torch):
        x = lib.arange(6.0).view(2, 3).requires_grad_()
        for _ in range(3):
            dims = [0]
            y = getattr(x, name)(dims)
            dims[0] = 1
        y.backward(lib.arange(3.0))
        found.append(x.grad.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("given", [("tensor", 2.0), (1, "tensor")])
def test_where_writes_no_number_however_often_it_was_called(given):
    def call(lib):
        values = [lib.ones(2) if v == "tensor" else v for v in given]
        return lib.where(lib.tensor([True, False]), *values, out=lib.empty(2))

    x, condition = tenfold.ones(2), tenfold.tensor([True, False])
    for _ in range(600):  # after which a loop is compiled for few elements, too
        tenfold.where(condition, *[x if v == "tensor" else v for v in given])
    assert results(lambda: call(tenfold), seen) == results(lambda: call(torch), seen) == "TypeError"


def test_a_pad_with_an_int_of_more_than_64_bits_is_refused_after_a_float_that_equals_it():
    def call(lib, value):
        return lib.constant_pad_nd(lib.ones(2), (1, 1), value)

    for _ in range(3):
        assert results(lambda: call(tenfold, 2.0**70), seen) == results(lambda: call(torch, 2.0**70), seen)
    with pytest.raises((OverflowError, RuntimeError)):
        call(torch, 1 << 70)
    with pytest.raises((OverflowError, RuntimeError)):
        call(tenfold, 1 << 70)
