"""Checkpoints of parts of a forward pass: the same program in both libraries."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from graph_programs import assert_as_pytorch

import tenfold

torch = pytest.importorskip("torch")


def checkpointing(lib: Any) -> Any:
    return importlib.import_module(f"{lib.__name__}.utils.checkpoint")


def network(lib: Any, x: Any, w: Any) -> Any:
    return lib.dropout((x @ w).sin(), 0.5, True).exp() @ w


def checkpointed(lib: Any, **options: Any) -> Any:
    x, w = lib.linspace(-1, 1, 6).view(2, 3).requires_grad_(True), lib.eye(3).mul_(0.5).requires_grad_(True)
    run = checkpointing(lib).checkpoint
    lib.manual_seed(3)
    out = run(lambda a, b: network(lib, a, b), run(lambda a, b: network(lib, a, b), x, w, **options), w, **options)
    out.sum().backward()
    lib.manual_seed(3)
    y, v = x.detach().requires_grad_(True), w.detach().requires_grad_(True)
    network(lib, network(lib, y, v), v).sum().backward()
    return bool(lib.allclose(x.grad, y.grad)), bool(lib.allclose(w.grad, v.grad))


def checkpoint_that_reenters(lib: Any) -> Any:
    return checkpointed(lib, use_reentrant=True)


def checkpoint_that_does_not(lib: Any) -> Any:
    return checkpointed(lib, use_reentrant=False)


def nested_checkpoints(lib: Any) -> Any:
    run, calls = checkpointing(lib).checkpoint, []

    def inner(x: Any) -> Any:
        calls.append("inner")
        return x.sin().exp()

    def outer(x: Any) -> Any:
        calls.append("outer")
        return run(inner, x.cos(), use_reentrant=False).tan()

    x = lib.tensor(0.3, requires_grad=True)
    run(outer, x, use_reentrant=False).backward()
    return x.grad


def second_derivative_of_a_checkpoint(lib: Any) -> Any:
    x = lib.tensor(0.3, requires_grad=True)
    y = checkpointing(lib).checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False)
    (g,) = lib.autograd.grad(y, x, create_graph=True)
    return lib.autograd.grad(g, x)


def checkpoint_of_another_size(lib: Any) -> Any:
    calls: list[int] = []

    def grows(x: Any) -> Any:
        calls.append(1)
        return x.sin().exp().sin() if len(calls) == 1 else x.sin()

    x = lib.tensor(0.3, requires_grad=True)
    checkpointing(lib).checkpoint(grows, x, use_reentrant=False).backward()


def checkpoint_under_grad(lib: Any) -> Any:
    x = lib.tensor(0.3, requires_grad=True)
    return lib.autograd.grad(checkpointing(lib).checkpoint(lambda x: x.sin(), x, use_reentrant=True), x)


def checkpointed_sequence(lib: Any) -> Any:
    x = lib.tensor([0.3, 0.5], requires_grad=True)
    steps = [lambda x: x.sin(), lambda x: x.exp(), lambda x: x * 3, lambda x: x.cos()]
    checkpointing(lib).checkpoint_sequential(steps, 2, x, use_reentrant=False).sum().backward()
    return x.grad


PROGRAMS = [f for f in list(globals().values()) if getattr(f, "__annotations__", {}) == {"lib": "Any", "return": "Any"}]
PROGRAMS = [f for f in PROGRAMS if f is not checkpointing]


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")  # PyTorch's advice on create_graph
@pytest.mark.filterwarnings("ignore:the .type, exc, tb. signature:DeprecationWarning")  # PyTorch throws so
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_pytorch(program: Any) -> None:
    assert_as_pytorch(program, tenfold, torch)


def test_a_pass_for_some_leaves_alone_is_no_place_for_another() -> None:
    """Libraries with checkpoints of their own ask for this inside their backward pass."""
    found: dict[str, list[bool]] = {"tenfold": [], "torch": []}
    for library in (tenfold, torch):

        class Asking(library.autograd.Function):  # type: ignore[misc, name-defined]
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g, library=library):
                found[library.__name__].append(library.autograd._is_checkpoint_valid())
                return g

        x = library.ones(2, requires_grad=True)
        Asking.apply(x).sum().backward()
        library.autograd.grad(Asking.apply(x).sum(), x)
        Asking.apply(x).sum().backward(inputs=[x])
        found[library.__name__].append(library.autograd._is_checkpoint_valid())
    assert found["tenfold"] == found["torch"]
