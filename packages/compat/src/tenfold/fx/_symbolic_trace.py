"""The module of a recorded program, under PyTorch's path; the recording is in `tracer`."""

from __future__ import annotations

from typing import Any

from tenfold.fx.graph_module import GraphModule, Module
from tenfold.fx.tracer import PH, PHBase, Tracer, is_fx_tracing, wrap

__all__ = ["PH", "PHBase", "Tracer", "is_fx_tracing", "symbolic_trace", "wrap"]


def symbolic_trace(root: Any, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """The module that runs the graph of a module or function, as `code` shows it.

    >>> import tenfold
    >>> traced = symbolic_trace(lambda x: tenfold.relu(x) + 1)
    >>> print(traced.code.strip())
    def forward(self, x):
        relu = tenfold.relu(x);  x = None
        add = relu + 1;  relu = None
        return add
    >>> traced(tenfold.tensor([-1.0, 1.0]))
    tensor([1., 2.])
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
