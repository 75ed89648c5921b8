"""`draw`: the graph behind a tensor as a picture, operations below what they were computed from."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from tenfold.autograd.canvas import Canvas
from tenfold.autograd.lettering import FONT, width_of
from tenfold.autograd.nodes import Node
from tenfold.autograd.tape import _as_tuple, get_gradient_edge
from tenfold.tensor.tensor import Tensor

COLOURS = {"leaf": "#bde0fe", "parameter": "#95d5b2", "result": "#ffd166", "operation": "#eeeeee", "saved": "#f4a261"}
GAP_X, GAP_Y, BOX_H, MARGIN = 24, 34, 24, 20


def draw(
    outputs: Any, params: Any = None, *, path: str | os.PathLike[str] | None = None, show_saved: bool = False,
    max_nodes: int = 2000,
) -> Canvas:  # fmt: skip
    """Draw the gradient graph behind one or several tensors: leaves above, operations with their names, results below.

    Returns the picture: a notebook shows it, `.svg()` is its text, `.save(path)` writes `.svg` (with nothing else installed)
    or `.png` (with Pillow: the extra `draw`).

    Args:
        outputs: tensors that require gradients, or edges of the graph.
        params: a module, or a dictionary of tensors by name: these leaves are drawn with their names.
        path: where to save the picture at once.
        show_saved: draw also what operations keep for the backward pass, and how much it is.
        max_nodes: how many operations to draw at most, the last ones; what lies beyond is drawn as an ellipsis.

    Raises RuntimeError for a tensor that requires no gradients.

    >>> import tenfold
    >>> w = tenfold.ones(3, requires_grad=True)
    >>> picture = tenfold.autograd.draw((w * 2).sum(), {"w": w})
    >>> "MulBackward0" in picture.svg(), "w [3]" in picture.svg()
    (True, True)
    """
    roots = [_node_of(t) for t in _as_tuple(outputs)]
    names = _names(params)
    kept, order = _visited(roots, max_nodes)
    layers = _layers(order, kept)
    canvas_boxes = _labels(order, kept, names, set(roots), show_saved)
    _untangle(layers, kept)
    picture = _painted(layers, kept, canvas_boxes)
    if path is not None:
        picture.save(path)
    return picture


def _node_of(t: Any) -> Node:
    if isinstance(t, Tensor) and not t.requires_grad:
        raise RuntimeError("draw: a tensor that does not require gradients has no graph")
    edge = get_gradient_edge(t) if isinstance(t, Tensor) else t
    return edge.node  # type: ignore[no-any-return]


def _names(params: Any) -> dict[int, str]:
    """Names of leaves by the identity of the tensor."""
    if params is None:
        return {}
    pairs: Iterable[tuple[str, Any]] = params.items() if isinstance(params, dict) else params.named_parameters()
    return {id(t): name for name, t in pairs}


def _visited(roots: list[Node], limit: int) -> tuple[dict[Node, list[Node]], list[Node]]:
    """For each node what it leads to, and the nodes so that each comes before what it leads to."""
    edges: dict[Node, list[Node]] = {}
    frontier = list(dict.fromkeys(roots))
    seen = set(frontier)
    for node in frontier:  # which grows meanwhile
        edges[node] = list(dict.fromkeys(n.shown for n in node._next if n is not None))
        for n in edges[node]:
            if n not in seen and len(frontier) < limit:
                seen.add(n)
                frontier.append(n)
    kept = {node: [n for n in found if n in edges] for node, found in edges.items()}
    waits = dict.fromkeys(kept, 0)
    for found in kept.values():
        for n in found:
            waits[n] += 1
    order = [node for node, count in waits.items() if not count]
    for node in order:
        for n in kept[node]:
            waits[n] -= 1
            if not waits[n]:
                order.append(n)
    return kept, order


def _layers(order: list[Node], edges: dict[Node, list[Node]]) -> list[list[Node]]:
    """The nodes by how far above the results they are; leaves as close to their users as can be."""
    depth = dict.fromkeys(order, 0)
    for node in order:
        for n in edges[node]:
            depth[n] = max(depth[n], depth[node] + 1)
    layers: list[list[Node]] = [[] for _ in range(max(depth.values()) + 1)]
    for node in order:
        layers[depth[node]].append(node)
    return layers


def _untangle(layers: list[list[Node]], edges: dict[Node, list[Node]]) -> None:
    """Order each layer by the mean place of what its nodes are connected to, so that few lines cross."""
    users: dict[Node, list[Node]] = {}
    for node, found in edges.items():
        for n in found:
            users.setdefault(n, []).append(node)
    for sweep in range(4):
        places = {node: i / max(len(layer) - 1, 1) for layer in layers for i, node in enumerate(layer)}
        neighbours = users if sweep % 2 == 0 else edges
        for layer in layers if sweep % 2 == 0 else layers[::-1]:

            def mean(node: Node, neighbours: Any = neighbours, places: Any = places) -> float:
                near = [places[n] for n in neighbours.get(node, ())]
                return sum(near) / len(near) if near else places[node]  # type: ignore[no-any-return]

            layer.sort(key=mean)
            places.update({node: i / max(len(layer) - 1, 1) for i, node in enumerate(layer)})


def _labels(
    order: list[Node], edges: dict[Node, list[Node]], names: dict[int, str], roots: set[Node], show_saved: bool
) -> dict[Node, tuple[str, str, str]]:
    """For each node what its box says, what it tells to who points at it, and its colour."""
    made = {}
    for node in order:
        told = f"{node.name()}, gradient of shape {_shape(node)}"
        if node.is_leaf:
            leaf: Any = getattr(node, "variable", None)
            name = names.get(id(leaf), "")
            kind = "parameter" if name or type(leaf).__name__ == "Parameter" else "leaf"
            made[node] = f"{name} {_shape(node)}".strip(), f"{told}, {getattr(leaf, 'dtype', 'freed')}", COLOURS[kind]
            continue
        label, colour = node._title, COLOURS["result" if node in roots else "operation"]
        saved = _saved(node)
        if saved:
            told += f"; keeps {', '.join(f'{name} {shape}' for name, shape, _ in saved)}"
        if show_saved and saved:
            label += f" ({_bytes(sum(size for _, _, size in saved))})"
            colour = COLOURS["saved"] if node not in roots else colour
        missing = sum(n is not None for n in node._next) - len(edges[node])
        made[node] = label + (" …" if missing > 0 and not edges[node] else ""), told, colour
    return made


def _shape(node: Node) -> str:
    shapes: Any = node._shape
    if node.is_multiple:
        return ", ".join(str(list(d[0])) for d in shapes if d is not None)
    return str(list(shapes))


def _saved(node: Node) -> list[tuple[str, list[int], int]]:
    """(name, shape, bytes) of the tensors that a node keeps."""
    found = []
    for name in node.tensors:
        value = getattr(node, "s_" + name, None)
        several = value if isinstance(value, (list, tuple)) else (value,)
        found += [(name, list(t.shape), t.numel() * t.itemsize) for t in several if isinstance(t, Tensor)]
    return found


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def _painted(layers: list[list[Node]], edges: dict[Node, list[Node]], boxes: dict[Node, tuple[str, str, str]]) -> Canvas:
    """The picture: results below, so that it reads as the program does."""
    widths = {node: width_of(label) + 16 for node, (label, _, _) in boxes.items()}
    rows = [sum(widths[n] for n in layer) + GAP_X * (len(layer) - 1) for layer in layers]
    width = max(rows) + 2 * MARGIN
    height = float(len(layers) * (BOX_H + GAP_Y) - GAP_Y + 2 * MARGIN)
    canvas = Canvas(width, height)
    corner: dict[Node, tuple[float, float]] = {}
    for depth, layer in enumerate(layers):
        x, y = (width - rows[depth]) / 2, height - MARGIN - BOX_H - depth * (BOX_H + GAP_Y)
        for node in layer:
            corner[node] = x, y
            x += widths[node] + GAP_X
    for node, found in edges.items():
        x, y = corner[node]
        for i, n in enumerate(found):
            start = corner[n][0] + widths[n] / 2, corner[n][1] + BOX_H
            end = x + widths[node] * (i + 1) / (len(found) + 1), y - 2
            canvas.line([start, end], arrow=True)
    for node, (label, told, colour) in boxes.items():
        x, y = corner[node]
        canvas.box(x, y, widths[node], BOX_H, colour, label, told, round=0 if node.is_leaf else FONT / 2)
    return canvas


__all__ = ["draw"]
