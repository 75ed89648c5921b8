"""Running log-sums at their limits: minus infinity has no phase, nan in one part tells all, a single number has slope 1."""

from __future__ import annotations

import math

import pytest

import tenfold

inf, nan = math.inf, math.nan


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_minus_infinity_adds_nothing_whatever_its_phase(dtype: str) -> None:
    x = tenfold.tensor([complex(-inf, 2), complex(-inf, inf), 1j, complex(-inf, -1)], dtype=getattr(tenfold, dtype))
    assert tenfold.logcumsumexp(x, 0).tolist() == [complex(-inf, 0), complex(-inf, 0), 1j, 1j]


@pytest.mark.parametrize("first", [complex(nan, 0), complex(1, nan), complex(-inf, nan)])
def test_nan_in_one_part_is_nan_in_both(first: complex) -> None:
    found = tenfold.logcumsumexp(tenfold.tensor([first, 1]), 0).tolist()
    assert all(math.isnan(v.real) and math.isnan(v.imag) for v in found)


@pytest.mark.parametrize("value", [inf, -inf, nan, 2.0])
def test_the_log_sum_of_one_number_is_the_number(value: float) -> None:
    x = tenfold.tensor(value, requires_grad=True)
    tenfold.logcumsumexp(x, 0).backward()
    assert x.grad.item() == 1


def test_the_gradient_of_nothing_is_the_gradient_that_came():
    x = tenfold.ones(0, 3, requires_grad=True)
    (g,) = tenfold.autograd.grad(tenfold.logcumsumexp(x, 0).sum(), x, create_graph=True)
    assert not g.requires_grad
