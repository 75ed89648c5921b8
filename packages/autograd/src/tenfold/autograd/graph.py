"""The visible graph: `Node`, and hooks on what it saves (PyTorch's `torch.autograd.graph`)."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.nodes import Node, Output
from tenfold.tensor.tensor import Tensor


class GradientEdge(tuple[Any, int]):
    """(node, output number): where a gradient enters the graph."""

    __slots__ = ()

    @property
    def node(self) -> Any:
        return self[0]

    @property
    def output_nr(self) -> int:
        return self[1]


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge into which the tensor's gradient flows.

    >>> import tenfold
    >>> from tenfold.autograd.graph import get_gradient_edge
    >>> x = tenfold.ones(1, requires_grad=True)
    >>> get_gradient_edge(x * 2).node.name()
    'MulBackward0'
    """
    node = tensor._node
    if node is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge((node.parent, node.index) if isinstance(node, Output) else (node.shown, 0))


__all__ = ["GradientEdge", "Node", "get_gradient_edge"]
