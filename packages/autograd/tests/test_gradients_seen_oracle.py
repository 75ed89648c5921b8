"""Gradients of means as programs see them: in memory of their own, as PyTorch makes them; those of sums are expanded."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

MEANS: dict[str, Any] = {
    "all": lambda x: x.mean(),
    "a dimension": lambda x: x.mean(0).sum(),
    "kept": lambda x: x.mean(-1, keepdim=True).sum(),
    "two": lambda x: x.mean((0, 1)),
    "of a view": lambda x: x.view(-1).mean(),
    "a part": lambda x: x[:, 0].mean(),
    "scaled": lambda x: 3 * x.mean(),
    "a sum": lambda x: x.sum(),
    "a sum over a dimension": lambda x: x.sum(1).square().sum(),
}


def of_grad(lib: Any, mean: Any) -> Any:
    x = lib.ones(3, 4, requires_grad=True)
    (g,) = lib.autograd.grad(mean(x), x)
    return g


def of_a_result(lib: Any, mean: Any) -> Any:
    y = lib.ones(3, 4, requires_grad=True) * 1
    (g,) = lib.autograd.grad(mean(y), y)
    return g


def with_a_graph(lib: Any, mean: Any) -> Any:
    y = lib.ones(3, 4, requires_grad=True) * 1
    (g,) = lib.autograd.grad(mean(y), y, create_graph=True)
    return g.detach()


def of_a_hook(lib: Any, mean: Any) -> Any:
    y, seen = lib.ones(3, 4, requires_grad=True) * 1, []
    y.register_hook(seen.append)
    mean(y).backward()
    return seen[0]


def of_a_prehook(lib: Any, mean: Any) -> Any:
    y, seen = lib.ones(3, 4, requires_grad=True) * 1, []
    y.grad_fn.register_prehook(lambda given: seen.append(given[0]))
    mean(y).backward()
    return seen[0]


def of_a_function(lib: Any, mean: Any) -> Any:
    seen = []

    class Same(lib.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(g)
            return g

    mean(Same.apply(lib.ones(3, 4, requires_grad=True))).backward()
    return seen[0]


def of_a_transform(lib: Any, mean: Any) -> Any:
    return lib.func.grad(mean)(lib.ones(3, 4))


def retained(lib: Any, mean: Any) -> Any:
    y = lib.ones(3, 4, requires_grad=True) * 1
    y.retain_grad()
    mean(y).backward()
    return y.grad


@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize(
    "way", [of_grad, of_a_result, with_a_graph, of_a_hook, of_a_prehook, of_a_function, of_a_transform, retained]
)
def test_how_it_lies_and_whether_it_can_be_written(way: Any, name: str) -> None:
    found = []
    for lib in (tenfold, torch):
        g = way(lib, MEANS[name])
        before = g.tolist(), g.stride()
        try:
            after = g.mul_(2).tolist()
        except RuntimeError:
            after = None
        found.append((*before, after))
    assert found[0] == found[1]


def test_a_hook_that_writes_changes_what_flows_on() -> None:
    found = []
    for lib in (tenfold, torch):
        x = lib.ones(3, 4, requires_grad=True)
        y = x * 5
        y.register_hook(lambda g: g.mul_(2))
        y.mean().backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1]


def test_the_engine_s_own_nodes_read_it_expanded() -> None:
    x = tenfold.ones(3, 4, requires_grad=True)
    y = x * 1
    with tenfold.profiler.profile() as profiler:
        y.mean().backward()
    seen = [event.name for event in profiler.events()]
    assert not [name for name in seen if "clone" in name or "contiguous" in name]
