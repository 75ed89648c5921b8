"""What checkpoints save of memory, by the profiler's account."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold
from tenfold.profiler import profile
from tenfold.utils.checkpoint import checkpoint, checkpoint_sequential

LAYERS = 24
W = [tenfold.randn(32, 32).div_(6).requires_grad_() for _ in range(LAYERS)]


def layer(w: Any) -> Any:
    return lambda x: (x @ w).tanh()


def peak(run: Any) -> tuple[int, Any]:
    for w in W:
        w.grad = None
    with profile(profile_memory=True) as prof:
        run().sum().backward()
    return prof.account.peak_bytes(), [w.grad.clone() for w in W]


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_quarter_of_the_layers_at_a_time_takes_well_below_all(reentrant):
    x = tenfold.randn(512, 32, requires_grad=True)
    steps = [layer(w) for w in W]
    whole, expected = peak(lambda: checkpoint_sequential(steps, 1, x, use_reentrant=reentrant))
    parts, found = peak(lambda: checkpoint_sequential(steps, 6, x, use_reentrant=reentrant))
    assert parts < 0.75 * whole
    for a, b in zip(found, expected):
        assert tenfold.equal(a, b)


def test_each_layer_by_itself():
    def run() -> Any:
        x = tenfold.randn(512, 32, requires_grad=True)
        for w in W:
            x = checkpoint(layer(w), x, use_reentrant=False)
        return x

    def plain() -> Any:
        x = tenfold.randn(512, 32, requires_grad=True)
        for w in W:
            x = layer(w)(x)
        return x

    assert peak(run)[0] < 1.15 * peak(plain)[0]  # the inputs of all layers stay: no more than their results
