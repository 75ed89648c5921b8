"""Graphs as Python: one line for each node, in which the last user of a value lets go of it."""

from __future__ import annotations

import builtins
import dataclasses
import importlib
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tenfold.dispatch.devices import device
from tenfold.fx.names import Namespace, public_name, qualified_name
from tenfold.fx.node import Node, type_name
from tenfold.types import namespace
from tenfold.types.dtypes import dtype

if TYPE_CHECKING:
    from tenfold.fx.graph import Graph

# Functions that are written as what they mean.
INFIX: dict[Any, str] = {
    operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.gt: ">", operator.le: "<=", operator.ge: ">=",
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.matmul: "@", operator.floordiv: "//",
    operator.truediv: "/", operator.mod: "%", operator.pow: "**", operator.lshift: "<<", operator.rshift: ">>",
    operator.and_: "&", operator.or_: "|", operator.xor: "^",
}  # fmt: skip
PREFIX: dict[Any, str] = {operator.pos: "+", operator.neg: "-", operator.invert: "~"}


@dataclasses.dataclass
class PythonCode:
    """The source of a function, and the global names that it uses."""

    src: str
    globals: dict[str, Any]


class CodeGen:
    """Writes the function of a graph; a class derived from it writes another head, or takes other arguments."""

    def __init__(self) -> None:
        self._body_transformer: Callable[[list[str]], list[str]] | None = None
        self._func_name = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The line that defines the function, of the names of its arguments."""
        arguments = [arg for arg in free_vars if not arg.startswith("self")]
        return f"def {self._func_name}({', '.join(['self', *arguments])}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any, *, descs: Any = None) -> str:
        """The line that returns the result."""
        return f"return {output_args!r}"

    def process_inputs(self, *args: Any) -> Any:
        """A call's arguments as the placeholders take them."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """The output's value as a call returns it."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Names that the head of the function uses."""
        return []

    def generate(self, graph: Graph, root_module: str) -> PythonCode:
        """The code of a graph."""
        writer = _Writer(root_module)
        for name, value in self.additional_globals():
            writer.globals[name] = value
        last = _last_uses(graph)
        lines: list[str] = []
        for node in graph.nodes:
            if node.op == "output":
                lines.append(self.generate_output(writer.argument(node.args[0])))
                continue
            line = writer.line(node)
            done = " = ".join([*(used.name for used in last.get(node, ())), "None"])
            if node.op == "placeholder":
                lines += [line] if line else []
            else:
                lines.append(f"{line};  {done}" if node in last else str(line))
        if self._body_transformer is not None:
            lines = self._body_transformer([f"{line}\n" for line in lines])
        head = self.gen_fn_def(writer.inputs, "")
        body = "\n".join(f"    {line}".rstrip() for text in lines or ["pass"] for line in text.splitlines())
        return PythonCode(f"\n\n\n{head}\n{body}\n    ", writer.globals)


def _last_uses(graph: Graph) -> dict[Node, list[Node]]:
    """For each node the values that nobody needs after it."""
    last: dict[Node, list[Node]] = {}
    seen: set[Node] = set()
    for node in reversed(graph.nodes):
        done = [used for used in node.all_input_nodes if used not in seen]
        if not node.users and node.op != "output":
            done.append(node)
        seen.update(done)
        if done and node.op != "output":
            last[node] = done
    return last


class _Name(str):
    """Text that is written as it stands."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _Writer:
    """The lines of a function, and what it wants of the world around it."""

    def __init__(self, root_module: str) -> None:
        self.root = root_module
        self.globals: dict[str, Any] = {}
        self.inputs: list[str] = []
        self._names = Namespace()

    def line(self, node: Node) -> str | None:
        """What computes a node."""
        if node.op == "placeholder":
            return self._input(node)
        return f"{node.name}{self._annotation(node)} = {self._value(node)}"

    def _input(self, node: Node) -> str | None:
        default = f" = {self.argument(node.args[0])!r}" if node.args else ""
        self.inputs.append(f"{node.target}{self._annotation(node)}{default}")
        raw = node.target.replace("*", "")
        return f"{node.name} = {raw}" if raw != node.name else None

    def _annotation(self, node: Node) -> str:
        if node.type is None:
            return ""
        return f" : {self.argument(node.type) if isinstance(node.type, type) else repr(type_name(node.type))}"

    def _value(self, node: Node) -> str:
        args = [repr(self.argument(arg)) for arg in node.args]
        given = ", ".join([*args, *(f"{key} = {self.argument(value)!r}" for key, value in node.kwargs.items())])
        if node.op == "get_attr":
            return _path(self.root, node.target)
        if node.op == "call_module":
            return f"{_path(self.root, node.target)}({given})"
        if node.op == "call_method":
            rest = ", ".join([*args[1:], *(f"{key} = {self.argument(value)!r}" for key, value in node.kwargs.items())])
            return f"{args[0]}.{node.target}({rest})"
        if not node.kwargs and len(args) == 2:
            if node.target in INFIX:
                return f"{args[0]} {INFIX[node.target]} {args[1]}"
            if node.target is operator.getitem:
                return f"{args[0]}[{args[1]}]"
            if node.target is getattr and isinstance(node.args[1], str) and node.args[1].isidentifier():
                return f"{args[0]}.{node.args[1]}"
        if not node.kwargs and len(args) == 1 and node.target in PREFIX:
            return f"{PREFIX[node.target]}{args[0]}"
        return f"{self.name(node.target)}({given})"

    def name(self, value: Any) -> str:
        """The name of a function or class, which the code finds among its globals."""
        public = public_name(value)
        if public is not None:
            self.globals[namespace()] = importlib.import_module(namespace())
            return public
        full = qualified_name(value)
        if getattr(builtins, full, None) is value:
            return full
        known = next((name for name, found in self.globals.items() if found is value), None)
        if known is None:
            known = self._names.create_name(full.replace(".", "_").replace("<", "_").replace(">", "_"), None)
            self.globals[known] = value
        return known

    def argument(self, value: Any) -> Any:
        """An argument, whose `repr` is how it is written."""
        if isinstance(value, Node):
            return _Name(value.name)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return _Name(f"{self.name(type(value))}({', '.join(repr(self.argument(item)) for item in value)})")
        if isinstance(value, tuple):
            return tuple(self.argument(item) for item in value)
        if isinstance(value, list):
            return [self.argument(item) for item in value]
        if isinstance(value, dict):
            return {key: self.argument(item) for key, item in value.items()}
        if isinstance(value, slice):
            return slice(*(self.argument(part) for part in (value.start, value.stop, value.step)))
        if isinstance(value, dtype):
            self.globals[namespace()] = importlib.import_module(namespace())
            return _Name(repr(value))
        if isinstance(value, device):
            self.globals["device"] = device
            return _Name(repr(value))
        if isinstance(value, float) and not math.isfinite(value):
            return _Name(f"float({str(value)!r})")
        if value is None or (isinstance(value, (str, int, float, complex, bytes, type(...))) and type(value) in _PLAIN):
            return value
        if hasattr(value, "__name__") and callable(value):
            return _Name(self.name(value))
        return _Name(self._constant(value))

    def _constant(self, value: Any) -> str:
        """Any other value: an enum's member, a layout; it is a global of its own."""
        known = next((name for name, found in self.globals.items() if found is value), None)
        if known is None:
            known = self._names.create_name(f"_{type(value).__name__}", None)
            self.globals[known] = value
        return known


_PLAIN = (str, int, float, complex, bytes, bool, type(...))


def _path(root: str, target: str) -> str:
    """An attribute by its path: `self.layers[0].weight` has a number in it, which no attribute's name may be."""
    text = root
    for part in target.split("."):
        text = f"{text}.{part}" if part.isidentifier() else f'getattr({text}, "{part}")'
    return text
