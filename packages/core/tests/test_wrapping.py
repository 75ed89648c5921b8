"""Kernels that wrap the one beneath them: `@kernel(..., wrap=True)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold import op
from tenfold.dispatch.kernels import KERNELS, _detach, kernel
from tenfold.dispatch.registration import registering
from tenfold.inspection.cards import card

calls: list[str] = []


@pytest.fixture
def attach():
    """`attach(operator, function, **options)`, taken back after the test."""
    attached = []
    calls.clear()

    def run(operator: Any, function: Any, **options: Any) -> None:
        kernel(operator, device="cpu", **options)(function)
        attached.append((operator, KERNELS[operator.name, "cpu"][-1]))

    yield run
    for operator, entry in reversed(attached):
        _detach(operator, "cpu", entry)


def noting(name: str, beneath: Any) -> Any:
    def run(*arguments: Any, **out: Any) -> Any:
        calls.append(name)
        return beneath(*arguments, **out)

    return run


def test_the_kernel_beneath_is_the_one_that_would_serve(attach):
    x = tenfold.ones(2)
    attach(op.exp, lambda input: np.full_like(input, 7), when=lambda input: input.ndim == 2)
    attach(op.exp, lambda beneath: noting("inner", beneath), wrap=True)
    attach(op.exp, lambda beneath: noting("outer", beneath), wrap=True)
    assert x.exp().tolist() == [pytest.approx(np.e)] * 2
    assert x.view(2, 1).exp().tolist() == [[7.0], [7.0]]
    assert calls == ["outer", "inner"] * 2


def test_the_last_attached_is_asked_first(attach):
    attach(op.exp, lambda beneath: noting("inner", beneath), wrap=True)
    attach(op.exp, lambda input: np.full_like(input, 7), when=lambda input: input.ndim == 2)
    attach(op.exp, lambda beneath: noting("outer", beneath), wrap=True)
    tenfold.ones(2).exp()
    assert calls == ["outer", "inner"]
    assert tenfold.ones(2, 1).exp().tolist() == [[7.0], [7.0]]
    assert calls == ["outer", "inner", "outer"]


def test_what_a_package_attaches_later_stands_beneath_a_programs_own(attach):
    tenfold.ones(2).exp()
    attach(op.exp, lambda input: np.full_like(input, 7), when=lambda input: input.ndim == 2)
    with registering("somebody"):
        kernel(op.exp, device="cpu", wrap=True)(lambda beneath: noting("theirs", beneath))
    try:
        assert tenfold.ones(2, 1).exp().tolist() == [[7.0], [7.0]]
        assert calls == []
        tenfold.ones(2).exp()
        assert calls == ["theirs"]
    finally:
        _detach(op.exp, "cpu", next(k for k in KERNELS["exp", "cpu"] if k.owner == "somebody"))


def test_it_is_taken_back(attach):
    attach(op.exp, lambda beneath: noting("own", beneath), wrap=True)
    tenfold.ones(2).exp()
    _detach(op.exp, "cpu", KERNELS["exp", "cpu"][-1])
    tenfold.ones(2).exp()
    assert calls == ["own"]


def test_beneath_a_body_it_gets_what_leads_there(attach):
    assert op.frac.body is not None
    attach(op.frac, lambda beneath: noting("own", beneath), wrap=True)
    assert tenfold.tensor([-3.25, 0.5]).frac().tolist() == [-0.25, 0.5]
    assert calls == ["own"]


def test_the_writing_kernel_is_wrapped_where_the_maker_says_so(attach):
    x = tenfold.zeros(2)
    attach(op.exp, lambda beneath: noting("allocating", beneath), wrap=True)
    attach(op.relu, lambda beneath: noting("both", beneath), wrap=True, into=True)
    x.exp_()  # after an attachment the first call may look everything up on the general path, which allocates
    calls.clear()
    x.zero_().exp_()
    assert not calls
    assert x.relu_().tolist() == [1.0, 1.0]
    assert calls == ["both"]


def test_an_acceleration_above_steps_aside(attach):
    a = tenfold.arange(6.0).view(2, 3)
    attach(op.mm, lambda beneath: noting("mm", beneath), wrap=True)
    assert (a @ a.T).tolist() == [[5.0, 14.0], [14.0, 50.0]]
    assert calls == ["mm"]


def test_the_card_and_the_debugging_layer_show_both(attach):
    def maker(beneath: Any) -> Any:
        return beneath

    attach(op.exp, maker, wrap=True, note="for large arrays")
    rows = [line for line in card("exp").splitlines() if "kernel    cpu" in line]
    assert len(rows) >= 2
    assert "test_wrapping.py" in rows[0]
    assert "wraps the next: for large arrays" in rows[0]
    assert not any("test_wrapping.py" in row for row in rows[1:])
    from tenfold.inspection.debug import served_by

    served = served_by(op.exp, (tenfold.ones(2),))
    assert "test_wrapping.py" in served
    assert " around " in served


def test_a_condition_and_a_wrapper_are_two_kernels():
    with pytest.raises(TypeError, match=r"kernel for operator exp: wrap=True takes no when="):
        kernel(op.exp, device="cpu", wrap=True, when=lambda input: True)
