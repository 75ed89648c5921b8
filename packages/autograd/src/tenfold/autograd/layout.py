"""What the generated `attach` of an operator does, as data: for packages that record in native code."""

from __future__ import annotations

from typing import Any, NamedTuple

from tenfold.autograd.nodes import NUMBERS
from tenfold.autograd.watch import WATCH


class Layout(NamedTuple):
    """The class of nodes, the arguments that edges lead to, what is saved, who wants to see new nodes, what numbers them.

    Saved is ("tensor", "value" or "shape", the argument, the slot's name, which edges need it: a bit each, 0 for all).
    """

    node: Any
    edges: tuple[int, ...]
    saves: tuple[tuple[str, int, str, int], ...]
    watch: Any = WATCH
    numbers: Any = NUMBERS


def layout_of(source: Any, node: Any) -> Layout | None:
    """The layout of a rule from what writes its text (recording.py); None where recording takes more."""
    operator, params, edges = source.operator, source.params, source.diff
    names, plain = list(params), ("tensor", "number", "optional")
    if source.multiple or operator.view or operator.ends_graph or any(p.role not in plain for p in edges):
        return None
    saves = []
    for name in source.saved_names():
        of = name.removesuffix("_shape")
        if name in params and params[name].role != "list":
            users = source.users(name) if source.is_tensor(name) else []
            mask = sum(1 << i for i, p in enumerate(edges) if p.name in users) if len(users) < len(edges) else 0
            saves.append(("tensor" if source.is_tensor(name) else "value", names.index(name), name, mask))
        elif of != name and of in params and params[of].role == "tensor":
            saves.append(("shape", names.index(of), name, 0))
        else:
            return None
    return Layout(node, tuple(names.index(p.name) for p in edges), tuple(saves))
