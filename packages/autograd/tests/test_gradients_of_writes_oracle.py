"""Gradients of recorded writes where the gradient that comes in lies in other memory than the written tensor, against PyTorch."""

from __future__ import annotations

import pytest

import tenfold

torch = pytest.importorskip("torch")


def test_the_gradient_of_a_write_is_part_of_larger_memory() -> None:
    found = []
    for lib in (torch, tenfold):
        x, grad = lib.arange(12.0).reshape(2, 6).requires_grad_(), lib.arange(24.0)[8:20].view(2, 6)
        y = x * 1
        y[0, 1:3] = x[1, :2] * 2
        y[:, 3] *= 3
        first = lib.autograd.grad(y, x, grad)[0]
        z = x * x
        z[:, ::2] = (z[:, ::2] * 1) ** 2
        (slope,) = lib.autograd.grad(z, x, grad, create_graph=True)
        second = lib.autograd.grad(slope, x, grad.flip(0))[0]
        found.append((first.tolist(), second.tolist(), grad.tolist()))
    assert found[1] == found[0]
