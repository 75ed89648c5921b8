"""Hooks of a leaf that nothing but the graph holds any more."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

CALLS: dict[str, Any] = {
    "operator": lambda engine, x: x * 2,
    "vmap": lambda engine, x: engine.func.vmap(lambda a: a * 2)(x),
    "view": lambda engine, x: x[:1] * 2,
}


def seen(engine: Any, name: str, register: str) -> list[Any]:
    found: list[Any] = []
    x = engine.ones(2).requires_grad_()
    if register == "register_hook":
        x.register_hook(lambda g: found.append(g.tolist()))
    else:
        x.register_post_accumulate_grad_hook(lambda leaf: found.append(leaf.grad.tolist()))
    y = CALLS[name](engine, x)
    del x
    gc.collect()
    y.sum().backward()
    return found


def with_a_hook(engine: Any, where: str, hook: Any) -> Any:
    x = engine.ones(2).requires_grad_()
    y = x * 2
    (x if where == "leaf" else y).register_hook(hook)
    y.sum().backward()
    return x.grad


@pytest.mark.parametrize("where", ["leaf", "result"])
@pytest.mark.parametrize("name", ["double", "half", "int", "cfloat"])
def test_a_hook_that_changes_the_dtype_is_refused(where: str, name: str) -> None:
    for engine in (tenfold, torch):
        with pytest.raises(RuntimeError, match="changed the type of value"):
            with_a_hook(engine, where, lambda g: getattr(g, name)())


@pytest.mark.parametrize("where", ["leaf", "result"])
def test_a_hook_that_changes_the_device_is_refused(where: str) -> None:
    for engine in (tenfold, torch):
        with pytest.raises(RuntimeError, match="changed the type of value"):
            with_a_hook(engine, where, lambda g: g.to("meta"))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("register", ["register_hook", "register_post_accumulate_grad_hook"])
def test_hooks_are_called(name: str, register: str) -> None:
    assert seen(tenfold, name, register) == seen(torch, name, register) != []


def test_the_leaf_goes_with_the_graph() -> None:
    x = tenfold.ones(2).requires_grad_()
    x.register_post_accumulate_grad_hook(lambda leaf: None)
    y, reference = x * 2, weakref.ref(x)
    del x
    gc.collect()
    assert reference() is not None
    del y
    gc.collect()
    assert reference() is None
