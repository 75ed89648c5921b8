"""Gradients and a few steps of training on the device give the CPU's losses."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold

pytest.importorskip("tenfold.autograd")


def losses(device, dtype=tenfold.float32):
    rng = np.random.default_rng(0)
    x, y = (tenfold.tensor(rng.standard_normal(s).astype(np.float32), device=device).to(dtype) for s in ((16, 6), (16, 2)))
    shapes = ((6, 12), (12,), (12, 2), (2,))
    parameters = [
        tenfold.tensor(rng.standard_normal(s).astype(np.float32) * 0.4, device=device).to(dtype).requires_grad_() for s in shapes
    ]
    found = []
    for _ in range(8):
        w1, b1, w2, b2 = parameters
        loss = ((tenfold.op.gelu(x @ w1 + b1) @ w2 + b2 - y) ** 2).mean()
        loss.backward()
        with tenfold.no_grad():
            for p in parameters:
                p.sub_(p.grad, alpha=0.1)
                p.grad = None
        found.append(loss.item())
    return found


def test_the_losses_are_those_of_the_cpu():
    on_cpu, on_cuda = losses("cpu"), losses("cuda")
    np.testing.assert_allclose(on_cuda, on_cpu, rtol=2e-5)
    assert on_cuda[-1] < 0.8 * on_cuda[0]


def test_bfloat16_learns_too():
    found = losses("cuda", tenfold.bfloat16)
    assert found[-1] < 0.8 * found[0]


def test_a_step_is_left_out_where_a_gradient_overflowed():
    from tenfold import amp, optim

    p = tenfold.ones(3, device="cuda", requires_grad=True)
    scaler, optimizer = amp.GradScaler("cuda", init_scale=4.0), optim.SGD([p], lr=0.5)
    for bad, expected in ((float("inf"), 1.0), (0.0, 0.5), (float("nan"), 0.5)):
        scaler.scale(p.sum())
        p.grad = tenfold.full((3,), 4.0, device="cuda") * tenfold.tensor([1.0, 1.0, 1.0 + bad], device="cuda")
        if bad == 0.0:
            p.grad = p.grad * (scaler.get_scale() / 4)
        scaler.step(optimizer)
        scaler.update()
        assert p[0].item() == expected
