"""Runs a graph node by node, so that a class derived from it can watch or change each step."""

from __future__ import annotations

from typing import Any

from tenfold.fx.graph import Graph
from tenfold.fx.graph_module import GraphModule
from tenfold.fx.node import Node, map_aggregate
from tenfold.fx.proxy import Proxy
from tenfold.fx.tracer import Tracer


class Interpreter:
    """Runs a `GraphModule`'s graph; override `run_node`, or `call_function` and its kin.

    >>> import tenfold
    >>> from tenfold.fx import symbolic_trace
    >>> class Doubled(Interpreter):
    ...     def call_function(self, target, args, kwargs):
    ...         return 2 * super().call_function(target, args, kwargs)
    >>> Doubled(symbolic_trace(lambda x: tenfold.relu(x))).run(tenfold.tensor([-1.0, 1.0]))
    tensor([0., 2.])
    """

    def __init__(self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        seen: set[Node] = set()
        for node in reversed(self.graph.nodes):
            for used in node.all_input_nodes:
                if used not in seen:
                    seen.add(used)
                    self.user_to_last_uses.setdefault(node, []).append(used)

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """The graph's result for these inputs; values in `initial_env` are not computed."""
        self.env = {} if initial_env is None else initial_env
        given = self.graph.process_inputs(*args) if enable_io_processing else args
        self.args_iter = iter(given)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    error.add_note(f"While executing {node.format_node()}")
                raise
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
            if self.garbage_collect_values:
                for done in self.user_to_last_uses.get(node, ()):
                    del self.env[done]
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """As `run`, on a list that is emptied so that nobody holds the inputs."""
        args = list(args_list)
        args_list.clear()
        return self.run(*args)

    def run_node(self, n: Node) -> Any:
        """The value of one node, from those of its inputs."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The next input, all the rest for one with a star, or its default."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!") from None

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the module has at a path."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function's result."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a method of the first argument."""
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A submodule's result."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of it all."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """What the module has at a path; RuntimeError where there is nothing."""
        at, walked = self.module, list[str]()
        for part in target.split("."):
            walked.append(part)
            if not hasattr(at, part):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(walked)}")
            at = getattr(at, part)
        return at

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A node's arguments with values for nodes."""
        args, kwargs = self.map_nodes_to_values((n.args, dict(n.kwargs)), n)
        return args, dict(kwargs)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """A nest with values for nodes; plain lists and dicts again."""

        def value_of(used: Node) -> Any:
            if used not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {used}! Run Graph.lint() to diagnose such issues")
            return self.env[used]

        return _plain(args, value_of)


def _plain(a: Any, value_of: Any) -> Any:
    if isinstance(a, Node):
        return value_of(a)
    if isinstance(a, tuple):
        made = [_plain(item, value_of) for item in a]
        return type(a)(*made) if hasattr(a, "_fields") else tuple(made)
    if isinstance(a, list):
        return [_plain(item, value_of) for item in a]
    if isinstance(a, dict):
        return {key: _plain(item, value_of) for key, item in a.items()}
    return map_aggregate(a, lambda x: value_of(x) if isinstance(x, Node) else x)


class _TransformerTracer(Tracer):
    def __init__(self, graph: Graph, root: Any) -> None:
        super().__init__()
        self.graph, self.root = graph, root

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
        return True


class Transformer(Interpreter):
    """Makes a new graph of an old one: the overridden steps work with proxies.

    >>> import tenfold
    >>> from tenfold.fx import symbolic_trace
    >>> class Swapped(Transformer):
    ...     def call_function(self, target, args, kwargs):
    ...         return tenfold.sigmoid(*args) if target is tenfold.relu else super().call_function(target, args, kwargs)
    >>> Swapped(symbolic_trace(lambda x: tenfold.relu(x))).transform()(tenfold.tensor([0.0]))
    tensor([0.5000])
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph._codegen = module.graph._codegen
        self.tracer = _TransformerTracer(self.new_graph, module)

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An input of the new graph."""
        return Proxy(self.new_graph.placeholder(target, default_value=args[0] if args else ...), self.tracer)

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An attribute that the new graph reads."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a submodule in the new graph."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a function in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The module of the new graph."""
        with self.tracer._recording():
            result = super().run(enable_io_processing=False)
        self.new_graph.output(map_aggregate(result, lambda x: x.node if isinstance(x, Proxy) else x))
        return GraphModule(self.module, self.new_graph, type(self.module).__name__)
