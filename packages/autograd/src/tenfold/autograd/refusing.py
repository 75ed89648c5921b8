"""Results that may not be differentiated: their node stands in the graph for a derivative that does not exist."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.nodes import NUMBERS, Node


class Error(Node):
    """Refuses the gradient that arrives, with the message that it was given."""

    __slots__ = ("message",)
    message: str

    def apply(self, g: Any, wanted: Any) -> Any:
        raise RuntimeError(self.message)


def refusing(result: Any, sources: tuple[Node, ...], message: str) -> Any:
    """The value of a result, behind a node that says why no gradient passes from it to its sources."""
    node: Any = object.__new__(Error)
    node._next, node._shape, node._extra, node.message = sources, result._array.shape, None, message
    node._number = next(NUMBERS)
    made = result.detach()
    made._node = node
    return made


__all__ = ["refusing"]
