"""A program as a list of steps, which can be changed and written as Python again."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any

from tenfold.fx.code import CodeGen, PythonCode
from tenfold.fx.names import Namespace, name_of_target
from tenfold.fx.node import Node, map_arg


class NodeList:
    """The nodes of a graph in the order in which they run; `reversed` works, and erasing while going through them, too."""

    def __init__(self, graph: Graph, backwards: bool = False) -> None:
        self.graph, self._backwards = graph, backwards

    def __len__(self) -> int:
        return self.graph._count

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        at = root._prev if self._backwards else root._next
        while at is not root:
            if not at._erased:
                yield at
            at = at._prev if self._backwards else at._next

    def __reversed__(self) -> NodeList:
        return NodeList(self.graph, not self._backwards)


class Graph:
    """Steps of a program: inputs, calls, and the result.

    >>> import tenfold
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> _ = graph.output(graph.call_function(tenfold.relu, (x,)))
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=tenfold.relu](args = (%x,), kwargs = {})
        return relu
    """

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: dict[str, Any] | None = None) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._count = 0
        self._names = Namespace()
        self._insert: Callable[[Node], None] = self._root.prepend
        self._codegen = CodeGen()
        self.owning_module, self._tracer_cls, self._tracer_extras = owning_module, tracer_cls, tracer_extras
        self._co_fields: dict[str, Any] = {}

    @property
    def nodes(self) -> NodeList:
        """The nodes in order."""
        return NodeList(self)

    def output_node(self) -> Node:
        """The node of the result."""
        found = next(iter(reversed(self.nodes)), None)
        if found is None or found.op != "output":
            raise RuntimeError("Graph.output_node: the graph has no output; make one with graph.output(node)")
        return found

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The nodes of an operation, of `target` where that is given."""
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    def create_node(
        self, op: str, target: Any, args: Any = None, kwargs: Any = None, name: str | None = None, type_expr: Any = None
    ) -> Node:
        """A new node at the place where the graph inserts, the end unless `inserting_before` or `inserting_after` says so."""
        candidate = name if name is not None else name_of_target(target)
        node = Node(self, self._names.create_name(candidate, None), op, target, args or (), kwargs or {}, type_expr)
        self._insert(node)
        self._count += 1
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """An input."""
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """A parameter, buffer, submodule or other attribute of the module, by its path."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """A call of a submodule."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """The result."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def erase_node(self, to_erase: Node) -> None:
        """Take a node out; RuntimeError while others use it."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            return
        to_erase._unlink()  # it keeps its own links, so that a loop that stands on it goes on
        to_erase._erased = True
        self._count -= 1
        to_erase.args, to_erase.kwargs = (), {}

    def _inserting(self, insert: Callable[[Node], None]) -> contextlib.AbstractContextManager[None]:
        before, self._insert = self._insert, insert  # at once: programs call it without `with`, too
        place = contextlib.ExitStack()
        place.callback(setattr, self, "_insert", before)
        return place  # type: ignore[return-value]

    def inserting_before(self, n: Node | None = None) -> contextlib.AbstractContextManager[None]:
        """A context in which new nodes come in front of `n`, or at the beginning; without `with` from now on."""
        return self.inserting_after(self._root) if n is None else self._inserting(self._checked(n).prepend)

    def inserting_after(self, n: Node | None = None) -> contextlib.AbstractContextManager[None]:
        """A context in which new nodes come directly behind `n`, the last first, or at the end; without `with` from now on."""
        return self._inserting(self._root.prepend if n is None else self._checked(n).append)

    def _checked(self, n: Node) -> Node:
        if n.graph is not self:
            raise AssertionError(f"Node to insert at is not in graph: {n.name!r}")
        return n

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """A copy of another graph's node, with `arg_transform` of each of its inputs."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Copy another graph's nodes in; returns the value of its output, as nodes of this graph."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                found = map_arg(node.args[0], lambda n: val_map[n])
                return (found, node) if return_output_node else found
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: Any = None) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        made._codegen = copy.deepcopy(self._codegen)
        found = made.graph_copy(self, {}, return_output_node=True)
        if found is not None:
            result, old = found
            copied = made.create_node("output", "output", (result,), type_expr=old.type)
            copied.meta = copy.copy(old.meta)
        return made

    def lint(self) -> None:
        """RuntimeError where a node is of another graph, uses what comes later, or reads what its module has not."""
        seen: set[Node] = set()
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for used in node.all_input_nodes:
                if used not in seen:
                    raise RuntimeError(f"Argument '{used}' of Node '{node}' was used before it has been defined!")
            seen.add(node)
        names = [node.name for node in self.nodes]
        if len(set(names)) < len(names):
            raise RuntimeError(f"Node redefined name {next(n for n in names if names.count(n) > 1)}!")
        for node in self.nodes:
            if self.owning_module is not None and node.op in ("get_attr", "call_module"):
                _attribute(self.owning_module, node)

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Take out what nobody uses and what does nothing else; whether anything was."""
        self.lint()
        impure = is_impure_node or self._is_impure
        before = self._count
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
        return self._count < before

    def _is_impure(self, node: Node) -> bool:
        if node.op == "call_module" and self.owning_module is not None:
            return bool(getattr(self.owning_module.get_submodule(node.target), "_is_impure", False))
        return node.is_impure()

    def python_code(self, root_module: str = "self", verbose: bool = False, **options: Any) -> PythonCode:
        """The graph as a function of Python's; `root_module` is the name of the module whose attributes it reads."""
        return self._codegen.generate(self, root_module)

    def on_generate_code(self, make_transformer: Callable[[Any], Callable[[list[str]], list[str]]]) -> Any:
        """Change the lines of the function's body as they are written; the result is a context that takes it back."""
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextlib.contextmanager
        def taken_back() -> Iterator[None]:
            try:
                yield
            finally:
                self._codegen._body_transformer = before

        return taken_back()

    def set_codegen(self, codegen: CodeGen) -> None:
        """Write code in another manner."""
        self._codegen = codegen

    def process_inputs(self, *args: Any) -> Any:
        """A call's arguments as the placeholders take them."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """The output's value as a call returns it."""
        return self._codegen.process_outputs(out)

    def print_tabular(self) -> None:
        """Print a table of the nodes."""
        rows = [("opcode", "name", "target", "args", "kwargs")]
        rows += [(n.op, n.name, str(n.target), str(n.args), str(n.kwargs)) for n in self.nodes]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in rows]
        lines.insert(1, "  ".join("-" * width for width in widths))
        print("\n".join(line.rstrip() for line in lines))

    def _target_to_str(self, target: Any) -> str:
        return name_of_target(target)

    def __str__(self) -> str:
        inputs: list[str] = []
        lines = [node.format_node() for node in self.nodes]
        return f"graph({', '.join(inputs)}):\n" + "\n".join(f"    {line}" for line in lines if line)


def _attribute(module: Any, node: Node) -> Any:
    for part in node.target.split("."):
        if not hasattr(module, part):
            raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {part} of {module}")
        module = getattr(module, part)
    return module
