"""A differentiable step of NAdam: the product of its momenta has a gradient, too."""

from __future__ import annotations

import pytest

import tenfold


@pytest.mark.parametrize("momentum_decay", [0.004, 0.5])
def test_the_product_of_momenta_has_a_gradient(momentum_decay):
    def stepped(product):
        param = tenfold.tensor([1.0, 2.0], dtype=tenfold.float64, requires_grad=True)
        moved = param.clone()
        moved.grad = tenfold.tensor([0.5, -1.0], dtype=tenfold.float64)
        optimizer = tenfold.optim.NAdam([moved], lr=0.9, differentiable=True, momentum_decay=momentum_decay)
        zeros = {name: tenfold.full((2,), 0.1, dtype=tenfold.float64) for name in ("exp_avg", "exp_avg_sq")}
        step = tenfold.tensor(10.0, dtype=tenfold.float64)
        optimizer.state[moved] = {"step": step, "mu_product": product * 1, **zeros}
        optimizer.step()
        return moved.sum()

    product = tenfold.tensor(0.7, dtype=tenfold.float64, requires_grad=True)
    (found,) = tenfold.autograd.grad(stepped(product), product)
    near = [stepped(tenfold.tensor(0.7 + d, dtype=tenfold.float64)).item() for d in (1e-6, -1e-6)]
    assert found.item() == pytest.approx((near[0] - near[1]) / 2e-6, rel=1e-5)
    assert found.item() != 0
