"""Backward passes inside one another, and what must not be left over by those that fail."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from typing import Any, ClassVar

import pytest

import tenfold
from tenfold.autograd import Function, detect_anomaly, grad
from tenfold.dispatch.runtime import RUNTIME, STATE


class Deep(Function):
    """Goes backward inside of its own backward pass, as often as its argument says."""

    seen: ClassVar[list[Any]] = []

    @staticmethod
    def forward(ctx: Any, x: tenfold.Tensor) -> tenfold.Tensor:
        with tenfold.enable_grad():
            ctx.x = x.detach().requires_grad_() - 1
        return ctx.x.detach()

    @staticmethod
    def backward(ctx: Any, g: tenfold.Tensor) -> tenfold.Tensor:
        if ctx.x.item() >= 0:
            with tenfold.enable_grad():
                Deep.apply(ctx.x).sum().backward()
        else:
            Deep.seen.append((threading.get_ident(), STATE.layers))
            if Deep.refuses:
                raise KeyError("at the bottom")
        return g

    refuses = False


def counts() -> dict[str, int]:
    return {name: RUNTIME[name] for name in ("ACTIVE", "GRAD_OFF", "INFERENCE", "TRANSFORMS")}


def test_1500_passes_inside_one_another():
    before, threads = counts(), threading.active_count()
    x = tenfold.tensor(1500.0, requires_grad=True)
    Deep.apply(x).sum().backward()
    assert x.grad.item() == 1.0
    assert counts() == before
    assert threading.active_count() == threads


def test_modes_and_errors_pass_through_all_of_them(monkeypatch):
    monkeypatch.setattr(Deep, "refuses", True)
    before = counts()
    x = tenfold.tensor(100.0, requires_grad=True)
    with warnings.catch_warnings(action="ignore"), detect_anomaly(), pytest.raises(KeyError, match="at the bottom"):
        Deep.apply(x).sum().backward()
    assert counts() == before
    monkeypatch.setattr(Deep, "refuses", False)
    Deep.apply(x).sum().backward()
    assert x.grad.item() == 1.0


class Interrupted(Function):
    """A user who presses Ctrl-C in the middle."""

    @staticmethod
    def forward(ctx: Any, x: tenfold.Tensor) -> tenfold.Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: tenfold.Tensor) -> tenfold.Tensor:
        raise KeyboardInterrupt


def alive() -> int:
    gc.collect()
    return sum(issubclass(type(o), (tenfold.Tensor, tenfold.autograd.Node)) for o in gc.get_objects())


@pytest.mark.parametrize("how", ["interrupt", "hook", "second time"])
def test_a_pass_that_fails_leaves_nothing_and_the_next_one_is_right(how):
    x = tenfold.tensor([1.0, 2.0], requires_grad=True)

    def failing() -> None:
        y = (x * x).exp() * 2
        if how == "interrupt":
            y = Interrupted.apply(y)
        elif how == "hook":
            y.register_hook(lambda g: 1 / 0)
        z = (y + y.sin()).sum()
        if how == "second time":
            z.backward()
            x.grad = None
        z.backward()

    def once() -> None:
        with pytest.raises((KeyboardInterrupt, ZeroDivisionError, RuntimeError)):
            failing()

    before = counts()
    once()
    there = alive()
    for _ in range(5):
        once()
    assert alive() <= there
    assert counts() == before
    assert tenfold.is_grad_enabled()
    x.grad = None
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_hooks_that_hold_what_holds_them_are_collected():
    def cycle() -> Any:
        x = tenfold.ones(3, requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: g * y.detach().sum())
        y.grad_fn.register_prehook(lambda gs: (gs[0] * y.numel(),))
        parts = y.unbind()
        parts[0].register_hook(lambda g: None if g is None else g + parts[1].detach())
        parts[0].backward(retain_graph=True)
        y.grad_fn.metadata["self"] = y
        return weakref.ref(y), weakref.ref(x)

    found = [cycle() for _ in range(3)]
    gc.collect()
    assert all(ref() is None for pair in found for ref in pair)


def test_a_graph_of_a_million_nodes():
    x = tenfold.ones(1, requires_grad=True)
    gc.collect()
    gc.disable()  # a million live objects make each collection long
    try:
        y = x
        for _ in range(1_000_000):
            y = y + 1.0
        (g,) = grad(y, x)
        assert g.item() == 1.0
        watched = weakref.ref(y.grad_fn)
        del y, g
        assert watched() is None  # freed at once, without the collector
    finally:
        gc.enable()
