"""Where new nodes of a graph come to lie, compared with PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold
from tenfold import fx

torch = pytest.importorskip("torch")
torch_fx = pytest.importorskip("torch.fx")


def _of_two(x: Any) -> Any:
    return x.sin().cos()


def _behind(graph: Any, add: Any, node: Any) -> None:
    with graph.inserting_after(node):
        for name in "abc":
            add(name)
    add("d")


def _in_front(graph: Any, add: Any, node: Any) -> None:
    with graph.inserting_before(node):
        for name in "abc":
            add(name)


def _at_the_ends(graph: Any, add: Any, node: Any) -> None:
    with graph.inserting_before():
        for name in "ab":
            add(name)
    with graph.inserting_after():
        for name in "cd":
            add(name)


def _without_with(graph: Any, add: Any, node: Any) -> None:
    graph.inserting_after(node)
    add("a")
    graph.inserting_before(node)
    for name in "bc":
        add(name)


def _nested(graph: Any, add: Any, node: Any) -> None:
    with graph.inserting_before(node):
        with graph.inserting_after(node):
            add("a")
        add("b")


@pytest.mark.parametrize("program", [_behind, _in_front, _at_the_ends, _without_with, _nested])
def test_order(program: Any) -> None:
    orders = []
    for t, module in ((tenfold, fx), (torch, torch_fx)):
        graph = module.symbolic_trace(_of_two).graph
        node = list(graph.nodes)[1]
        program(graph, lambda name, g=graph, t=t: g.create_node("call_function", t.exp, (next(iter(g.nodes)),), name=name), node)
        orders.append([each.name for each in graph.nodes])
    assert orders[0] == orders[1]
