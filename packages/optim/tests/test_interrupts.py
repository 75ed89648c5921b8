"""Ctrl-C during an optimizer's step leaves gradients recorded as before."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.optim import rule


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("turn", [1, 2])
def test_as_the_mode_is_switched(monkeypatch, turn, after):
    calls = []
    switch = rule.set_grad_enabled_here

    def interrupted(enabled):
        calls.append(enabled)
        if len(calls) != turn or after:
            switch(enabled)
        if len(calls) == turn:
            raise KeyboardInterrupt

    parameter = tenfold.nn.Parameter(tenfold.ones(3))
    optimizer = tenfold.optim.SGD([parameter], lr=0.1)
    parameter.grad = tenfold.ones(3)
    monkeypatch.setattr(rule, "set_grad_enabled_here", interrupted)
    with pytest.raises(KeyboardInterrupt):
        optimizer.step()
    assert tenfold.is_grad_enabled()
