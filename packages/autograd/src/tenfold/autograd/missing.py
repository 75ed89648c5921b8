"""Nodes of operators that no package has a gradient rule for: they say so when a backward pass arrives."""

from __future__ import annotations

from functools import cache
from typing import Any

from tenfold.autograd.node_names import missing_name
from tenfold.autograd.nodes import NUMBERS, ROOM, Node
from tenfold.dispatch.operators import Operator

new = object.__new__


def without_gradient(operator: Operator) -> Any:
    """Results of an operator without a rule carry a node that says so when a backward pass arrives."""

    def attach(result: Any, *arguments: Any) -> None:
        nodes, kind = tuple(_nodes_of(arguments)), without_derivative(operator, missing_name(operator.name, arguments))
        for t in result if isinstance(result, tuple) else (result,):
            if t.dtype.category < 2:
                t._node = None
                continue
            node = t._node = new(kind)
            node._next, node._shape, node._extra, node._number = nodes, t._array.shape, None, next(NUMBERS)

    return attach


@cache
def without_derivative(operator: Operator, name: str = "NotImplemented") -> type[Node]:
    """The class of those nodes, under PyTorch's name for them."""

    class Missing(Node):
        __slots__ = ()
        _room = ROOM if name == "NotImplemented" else ""

        def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
            reason = operator.no_derivative or (
                "no package attaches a gradient rule to it (tenfold.autograd.gradients.gradient), in a module that its plugin "
                f"names for the family {operator.family!r}"
            )
            raise RuntimeError(f"derivative for {operator.name} is not implemented: {reason}")

    Missing.__name__ = name
    return Missing


def _nodes_of(arguments: Any) -> Any:
    for a in arguments:
        if isinstance(a, (list, tuple)):
            yield from _nodes_of(a)
        elif getattr(a, "_node", None) is not None:
            yield a._node
