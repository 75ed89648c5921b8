"""Sums and differences with a multiple, and steps of Adam, round where PyTorch rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

N = 64  # whole vectors: what is left over PyTorch computes otherwise
CALLS = {
    "add": lambda t, x, y: t.add(x, y, alpha=0.3),
    "add into an output": lambda t, x, y: t.add(x, y, alpha=0.3, out=t.empty(N, dtype=x.dtype)),
    "sub": lambda t, x, y: t.sub(x, y, alpha=1.7),
    "sub in place": lambda t, x, y: (x * 1).sub_(y, alpha=1.7),
    "rsub": lambda t, x, y: t.rsub(x, y, alpha=1.7),
    "rsub of a number": lambda t, x, y: t.rsub(x, 1.3, alpha=1.7),
}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("call", CALLS)
def test_one_rounding(call: str, dtype: str, recorded: bool) -> None:
    if recorded and call == "add into an output":
        pytest.skip("outputs take no part in gradients")
    numbers = np.random.default_rng(0).standard_normal((2, N))
    results = []
    for t in (tenfold, torch):
        x, y = (t.tensor(row.tolist(), dtype=getattr(t, dtype)) for row in numbers)
        results.append(CALLS[call](t, x.requires_grad_(recorded), y))
    mine, theirs = results
    assert mine.tolist() == theirs.tolist()
    if recorded and call.startswith("sub"):
        assert mine.grad_fn.name() == theirs.grad_fn.name() == "SubBackward0"


def by_hand(param: Any, grads: Any, lr: float, weight_decay: float) -> Any:
    """PyTorch's step of one tensor, an operator after the other. Its own roots are the nearest but one now and then."""
    mean, square = tenfold.zeros_like(param), tenfold.zeros_like(param)
    for t, grad in enumerate(grads, 1):
        grad = grad.add(param, alpha=weight_decay)
        mean.lerp_(grad, 1 - 0.9)
        square.mul_(0.999).addcmul_(grad, grad, value=1 - 0.999)
        root = (square.sqrt() / (1 - 0.999**t) ** 0.5).add_(1e-8)
        param.addcdiv_(mean, root, value=-lr / (1 - 0.9**t))
    return param


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_steps_of_adam(dtype: str) -> None:
    numbers = np.random.default_rng(1).standard_normal((51, N))
    first, *grads = (tenfold.tensor(row.tolist(), dtype=getattr(tenfold, dtype)) for row in numbers)
    param = first.clone().requires_grad_()
    optimizer = tenfold.optim.Adam([param], lr=0.01, weight_decay=0.1)
    for grad in grads:
        param.grad = grad
        optimizer.step()
    assert param.tolist() == by_hand(first, grads, 0.01, 0.1).tolist()
