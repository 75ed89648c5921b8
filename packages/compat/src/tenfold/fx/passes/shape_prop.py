"""Shapes and dtypes of every value of a graph, found by running it."""

from __future__ import annotations

from typing import Any, NamedTuple

from tenfold.fx.interpreter import Interpreter
from tenfold.fx.node import Node, map_aggregate
from tenfold.tensor.tensor import Tensor
from tenfold.types import memory_format as formats


class TensorMetadata(NamedTuple):
    """What is known of a tensor without its numbers."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _of(tensor: Any) -> TensorMetadata:
    known = [formats.contiguous_format]
    known += [formats.channels_last] if tensor.dim() == 4 else [formats.channels_last_3d] if tensor.dim() == 5 else []
    order = next((order for order in known if tensor.is_contiguous(memory_format=order)), None)
    return TensorMetadata(tensor.shape, tensor.dtype, tensor.requires_grad, tensor.stride(), order, False, {})


class ShapeProp(Interpreter):
    """Runs a module's graph and notes each tensor's shape and dtype in `meta["tensor_meta"]` of its node.

    >>> import tenfold
    >>> from tenfold.fx import symbolic_trace
    >>> traced = symbolic_trace(lambda x: x.sum(0))
    >>> _ = ShapeProp(traced).propagate(tenfold.ones(2, 3))
    >>> [tuple(node.meta["tensor_meta"].shape) for node in traced.graph.nodes]
    [(2, 3), (3,), (3,)]
    """

    def run_node(self, n: Node) -> Any:
        """A node's value; what it is like is noted."""
        result = super().run_node(n)
        found: list[Any] = []

        def noted(x: Any) -> Any:
            found.append(_of(x) if isinstance(x, Tensor) else x)
            return found[-1]

        described = map_aggregate(result, noted)
        if any(isinstance(x, TensorMetadata) for x in found):
            n.meta["tensor_meta"] = described
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph on these inputs."""
        return super().run(*args)
