"""Ctrl-C during a backward pass leaves gradients recorded as before, wherever it comes."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.autograd import engine


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("turn", [1, 2])
def test_as_the_mode_is_switched(monkeypatch, turn, after):
    calls = []
    switch = engine.set_grad_enabled_here

    def interrupted(enabled):
        calls.append(enabled)
        if len(calls) != turn or after:
            switch(enabled)
        if len(calls) == turn:
            raise KeyboardInterrupt

    x = tenfold.ones(3, requires_grad=True)
    y = (x * x).sum()
    monkeypatch.setattr(engine, "set_grad_enabled_here", interrupted)
    with pytest.raises(KeyboardInterrupt):
        y.backward()
    assert tenfold.is_grad_enabled()
    monkeypatch.undo()
    (x * x).sum().backward()
    assert x.grad is not None
