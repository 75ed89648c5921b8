"""Programs as graphs: recorded from modules, changed, and written as Python again.

`symbolic_trace` runs a module on stand-ins for its inputs (`Proxy`) and keeps what it does with them as the nodes of a `Graph`;
`GraphModule` runs a graph as a module. `Interpreter` and `Transformer` go over one node by node.
"""

from __future__ import annotations

from tenfold.fx._symbolic_trace import symbolic_trace as symbolic_trace
from tenfold.fx.code import CodeGen as CodeGen
from tenfold.fx.graph import Graph as Graph
from tenfold.fx.graph_module import GraphModule as GraphModule
from tenfold.fx.interpreter import Interpreter as Interpreter, Transformer as Transformer
from tenfold.fx.node import Node as Node, has_side_effect as has_side_effect, map_aggregate as map_aggregate, map_arg as map_arg
from tenfold.fx.proxy import Proxy as Proxy
from tenfold.fx.subgraph_rewriter import replace_pattern as replace_pattern
from tenfold.fx.tracer import PH as PH, Tracer as Tracer, is_fx_tracing as is_fx_tracing, wrap as wrap

__all__ = [
    "CodeGen", "Graph", "GraphModule", "Interpreter", "Node", "PH", "Proxy", "Tracer", "Transformer", "has_side_effect",
    "is_fx_tracing", "map_aggregate", "map_arg", "replace_pattern", "symbolic_trace", "wrap",
]  # fmt: skip
