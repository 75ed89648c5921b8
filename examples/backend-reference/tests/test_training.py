"""A small network learns on the device "ref" as it does on the CPU."""

from __future__ import annotations

import numpy as np

import tenfold


def spiral() -> tuple[np.ndarray, np.ndarray]:
    """Twelve points of two classes that no line separates."""
    angle = np.arange(12) / 2
    side = np.where(np.arange(12) % 2, 1.0, -1.0)
    points = side[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1) * angle[:, None] / 4
    return points.astype(np.float32), (side[:, None] > 0).astype(np.float32)


def losses_by_hand(device: str) -> list[float]:
    """Gradient descent on a network of bare operators."""
    rng = np.random.default_rng(0)
    x, y = (tenfold.tensor(a, device=device) for a in spiral())
    shapes = [(2, 8), (8,), (8, 1), (1,)]
    w1, b1, w2, b2 = parameters = [
        tenfold.tensor(rng.standard_normal(s).astype(np.float32), device=device, requires_grad=True) for s in shapes
    ]
    losses = []
    for _ in range(12):
        h = x @ w1 + b1
        h = tenfold.where(h > 0, h, h * 0.1)
        loss = ((h @ w2 + b2 - y) * (h @ w2 + b2 - y)).mean()
        loss.backward()
        with tenfold.no_grad():
            for p in parameters:
                p.sub_(p.grad * 0.02)
                p.grad = None
        losses.append(loss.item())
    return losses


def test_the_loss_curve_is_that_of_the_cpu():
    on_cpu, on_ref = losses_by_hand("cpu"), losses_by_hand("ref")
    np.testing.assert_allclose(on_ref, on_cpu, rtol=2e-5)
    assert on_ref[-1] < 0.7 * on_ref[0]
