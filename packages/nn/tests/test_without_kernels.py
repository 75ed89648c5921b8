"""A device without kernels for neural-network operators still trains: the bodies do the work and differentiate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold as tf
import tenfold.nn.functional as F
from tenfold import nn_plugin
from tenfold.dispatch import kernels
from tenfold.dispatch.operators import OPERATORS


@pytest.fixture
def no_kernels() -> Any:
    """Take every kernel of this package's operators away for a while."""
    table = kernels.table("cpu")
    names = [name for name, operator in OPERATORS.items() if operator.family in nn_plugin.tenfold_kernels("cpu")]
    before = {name: getattr(table, name) for name in names}

    def put(found: dict[str, Any]) -> None:
        for name, kernel in found.items():
            setattr(table, name, kernel)
            OPERATORS[name].calls.kernels.clear()

    yield lambda: put(dict.fromkeys(names))
    put(before)


def _loss_and_gradients() -> tuple[Any, list[Any]]:
    rng = np.random.default_rng(0)
    make = lambda *shape: tf.from_numpy(rng.normal(size=shape)).requires_grad_()  # noqa: E731
    x, w, scale, w2, table = make(4, 2, 8, 8), make(6, 1, 3, 3), make(6), make(5, 24), make(7, 5)
    y = F.conv2d(x, w, padding=1, groups=2)
    y = F.max_pool2d(F.batch_norm(y, None, None, scale, training=True), 2).relu()
    y = F.avg_pool2d(y, 2)
    y = F.linear(y.reshape(4, 24), w2) + F.embedding(tf.tensor([1, 6, 0, 1]), table)
    y = F.scaled_dot_product_attention(y, y, y)
    loss = F.cross_entropy(F.layer_norm(y, (5,)), tf.tensor([0, 3, 4, -100]), label_smoothing=0.1)
    return loss, list(tf.autograd.grad(loss, [x, w, scale, w2, table]))


def test_a_network_trains_on_bodies_alone(no_kernels: Any) -> None:
    loss, gradients = _loss_and_gradients()
    no_kernels()
    slow, others = _loss_and_gradients()
    assert slow.item() == pytest.approx(loss.item(), rel=1e-12)
    for fast, body in zip(gradients, others, strict=True):
        np.testing.assert_allclose(body.numpy(), fast.numpy(), 1e-9, 1e-12)


def test_importing_the_functions_loads_no_kernels() -> None:
    import subprocess
    import sys

    heavy = "('tenfold.nn.cpu', 'tenfold.nn.rules')"
    code = f"import sys, tenfold.nn.functional; print([m for m in sys.modules if m.startswith({heavy})])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_linear_uses_a_kernel_of_the_product_from_outside() -> None:
    calls = []

    def product(input: Any, mat2: Any) -> Any:
        calls.append(input.shape)
        return np.matmul(input, mat2)

    kernels.kernel(tf.op.mm, device="cpu", when=lambda input, mat2: input.ndim == 2)(product)
    try:
        x = tf.ones(2, 3, requires_grad=True)
        out = tf.nn.Linear(3, 4)(x)
        assert calls == [(2, 3)]
        out.sum().backward()
        assert x.grad is not None
    finally:
        kernels._detach(tf.op.mm, "cpu", kernels.KERNELS["mm", "cpu"][-1])
    calls.clear()
    tf.nn.Linear(3, 4)(tf.ones(2, 3))
    assert not calls
