"""A product and a sum are rounded once, as PyTorch's are: every bit of `add(alpha=)`, `addcmul`, `lerp` and SGD's step."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
CALLS = {
    "add": lambda m, x, a, b: m.add(x, a, alpha=0.3),
    "sub": lambda m, x, a, b: m.sub(x, a, alpha=0.3),
    "add_": lambda m, x, a, b: x.clone().add_(a, alpha=-0.03),
    "sub_": lambda m, x, a, b: x.clone().sub_(a, alpha=0.03),
    "addcmul": lambda m, x, a, b: m.addcmul(x, a, b, value=0.3),
    "addcmul of 1": lambda m, x, a, b: m.addcmul(x, a, b),
    "addcmul_": lambda m, x, a, b: x.clone().addcmul_(a, b, value=-0.3),
    "addcdiv": lambda m, x, a, b: m.addcdiv(x, a, b, value=0.3),
    "lerp": lambda m, x, a, b: m.lerp(x, a, 0.3),
    "lerp beyond": lambda m, x, a, b: m.lerp(x, a, 0.7),
    "lerp of weights": lambda m, x, a, b: m.lerp(x, a, b),
    "lerp_": lambda m, x, a, b: x.clone().lerp_(a, 0.1),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_every_bit_is_pytorchs(name, dtype):
    numbers = np.random.default_rng(5)
    for size, step in ((1, 1), (7, 1), (64, 1), (1000, 1), (5000, 1), (40, 2), (9000, 2)):
        given = [numbers.standard_normal(size * step).astype(dtype) for _ in range(3)]

        def result(m, given=given, step=step):
            return CALLS[name](m, *(m.from_numpy(x)[::step] for x in given)).numpy()

        np.testing.assert_array_equal(result(tenfold), result(torch), err_msg=f"{size} {step}")


@pytest.mark.parametrize(
    "settings", [{}, {"weight_decay": 0.01}, {"momentum": 0.9, "weight_decay": 0.01}, {"momentum": 0.9, "nesterov": True}]
)
def test_steps_of_sgd(settings):
    numbers = np.random.default_rng(7)
    start = numbers.standard_normal(3000).astype(np.float32)
    gradients = [numbers.standard_normal(3000).astype(np.float32) for _ in range(4)]

    def trained(m):
        parameter = m.nn.Parameter(m.tensor(start))
        optimizer = m.optim.SGD([parameter], 0.1, **settings)
        for g in gradients:
            parameter.grad = m.tensor(g)
            optimizer.step()
        return parameter.detach().numpy()

    np.testing.assert_array_equal(trained(tenfold), trained(torch))
