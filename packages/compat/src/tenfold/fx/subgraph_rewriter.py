"""Replaces what looks like a pattern in a graph."""

from __future__ import annotations

from typing import Any, NamedTuple

from tenfold.fx._symbolic_trace import symbolic_trace
from tenfold.fx.graph import Graph
from tenfold.fx.graph_module import GraphModule
from tenfold.fx.node import Node

__all__ = ["Match", "replace_pattern"]


class Match(NamedTuple):
    """A place that looks like the pattern: its last node, and the node for each node of the pattern."""

    anchor: Node
    nodes_map: dict[Node, Node]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Replace every place in a module's graph that looks like a function by another function; returns the places.

    The inputs of `pattern` stand for any value. Where places overlap the first in the graph counts.

    >>> import tenfold
    >>> traced = symbolic_trace(lambda x: tenfold.relu(x) + 1)
    >>> len(replace_pattern(traced, lambda a: tenfold.relu(a), lambda a: tenfold.sigmoid(a)))
    1
    >>> traced(tenfold.tensor([0.0]))
    tensor([1.5000])
    """
    wanted, made = _graph_of(pattern), _graph_of(replacement)
    inputs = [node for node in wanted.nodes if node.op == "placeholder"]
    others = [node for node in made.nodes if node.op == "placeholder"]
    if len(inputs) != len(others):
        raise ValueError(f"replace_pattern: the pattern has {len(inputs)} inputs and the replacement {len(others)}")
    matches = _matches(gm.graph, wanted)
    for match in matches:
        values: dict[Node, Any] = {}
        for theirs, pattern_input in zip(others, inputs):
            if pattern_input in match.nodes_map:
                values[theirs] = match.nodes_map[pattern_input]
        _replace(gm.graph, wanted, made, match, values)
    _rename(matches)
    for graph_module in (pattern, replacement):
        _adopt(gm, graph_module, made)
    gm.graph.lint()
    gm.recompile()
    return matches


def _graph_of(function: Any) -> Graph:
    if isinstance(function, Graph):
        return function
    graph: Graph = function.graph if isinstance(function, GraphModule) else symbolic_trace(function).graph
    return graph


def _matches(graph: Graph, pattern: Graph) -> list[Match]:
    result = pattern.output_node().args[0]
    anchors = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(anchors) != 1 or not isinstance(anchors[0], Node):
        raise NotImplementedError("replace_pattern: the pattern returns one value; a pattern of several is not matched")
    found, taken = list[Match](), set[Node]()
    for node in graph.nodes:
        nodes: dict[Node, Any] = {}
        if not _alike(anchors[0], node, nodes):
            continue
        inner = {mine for theirs, mine in nodes.items() if theirs.op != "placeholder" and isinstance(mine, Node)}
        if inner & taken or any(user not in inner for mine in inner if mine is not node for user in mine.users):
            continue
        taken |= inner
        found.append(Match(node, nodes))
    return found


def _alike(pattern: Any, node: Any, nodes: dict[Node, Any]) -> bool:
    """Whether a value looks like a pattern's; `nodes` is what the pattern's nodes stand for so far."""
    if isinstance(pattern, Node):
        if pattern in nodes:
            return nodes[pattern] is node or (not isinstance(node, Node) and bool(nodes[pattern] == node))
        if pattern.op != "placeholder":
            if not isinstance(node, Node) or node.op != pattern.op or node.target != pattern.target:
                return False
            if not (_alike(pattern.args, node.args, nodes) and _alike(pattern.kwargs, node.kwargs, nodes)):
                return False
        nodes[pattern] = node
        return True
    if isinstance(pattern, (tuple, list)):
        return isinstance(node, (tuple, list)) and len(node) == len(pattern) and all(
            _alike(a, b, nodes) for a, b in zip(pattern, node)
        )  # fmt: skip
    if isinstance(pattern, dict):
        return isinstance(node, dict) and node.keys() == pattern.keys() and all(
            _alike(value, node[key], nodes) for key, value in pattern.items()
        )  # fmt: skip
    return not isinstance(node, Node) and type(node) is type(pattern) and bool(node == pattern)


_moved: dict[Node, Node] = {}


def _replace(graph: Graph, wanted: Graph, made: Graph, match: Match, values: dict[Node, Any]) -> None:
    values = {theirs: _moved.get(mine, mine) if isinstance(mine, Node) else mine for theirs, mine in values.items()}
    with graph.inserting_before(match.anchor):
        result = graph.graph_copy(made, values)
    new = result[0] if isinstance(result, (tuple, list)) else result
    match.anchor.replace_all_uses_with(new)
    if isinstance(new, Node):
        _moved[match.anchor] = new
    for theirs in reversed(wanted.nodes):
        mine = match.nodes_map.get(theirs)
        if theirs.op not in ("placeholder", "output") and isinstance(mine, Node) and not mine.users:
            graph.erase_node(mine)


def _rename(matches: list[Match]) -> None:
    """Forget the nodes of this replacement."""
    for match in matches:
        _moved.pop(match.anchor, None)


def _adopt(gm: GraphModule, source: Any, made: Graph) -> None:
    """What the replacement's module has and its nodes read."""
    owner = made.owning_module
    for node in made.nodes:
        if owner is not None and node.op in ("call_module", "get_attr") and not _has(gm, node.target):
            value: Any = owner
            for part in node.target.split("."):
                value = getattr(value, part)
            if node.op == "call_module":
                gm.add_submodule(node.target, value)
            else:
                setattr(gm, node.target, value)


def _has(module: Any, path: str) -> bool:
    for part in path.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
    return True
