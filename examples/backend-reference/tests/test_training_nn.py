"""A network of `tenfold.nn` learns on the device "ref" as it does on the CPU."""

from __future__ import annotations

import numpy as np

import tenfold
from tenfold import nn, optim


def spiral() -> tuple[np.ndarray, np.ndarray]:
    """Twelve points of two classes that no line separates."""
    angle = np.arange(12) / 2
    side = np.where(np.arange(12) % 2, 1.0, -1.0)
    points = side[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1) * angle[:, None] / 4
    return points.astype(np.float32), (side[:, None] > 0).astype(np.float32)


def losses_with_nn(device: str) -> list[float]:
    """Adam on a network of `tenfold.nn`, initialised on the CPU and moved."""
    rng = np.random.default_rng(1)
    net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    with tenfold.no_grad():
        for p in net.parameters():
            p.copy_(tenfold.tensor(rng.standard_normal(tuple(p.shape)).astype(np.float32)))
    net.to(device)
    x, y = (tenfold.tensor(a, device=device) for a in spiral())
    optimizer = optim.Adam(net.parameters(), lr=0.05)
    losses = []
    for _ in range(12):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_the_loss_curve_is_that_of_the_cpu():
    on_cpu, on_ref = losses_with_nn("cpu"), losses_with_nn("ref")
    np.testing.assert_allclose(on_ref, on_cpu, rtol=2e-5)
    assert on_ref[-1] < 0.7 * on_ref[0]
