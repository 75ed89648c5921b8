"""One step of a graph: an input, a call, an attribute that is read, or the result."""

from __future__ import annotations

import inspect
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tenfold.fx.immutable_collections import immutable_dict, immutable_list
from tenfold.fx.names import qualified_name

if TYPE_CHECKING:
    from tenfold.fx.graph import Graph

OPS = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root")
BASE_TYPES = (str, int, float, bool, complex, type(None), type(Ellipsis), bytes, types.FunctionType, types.BuiltinFunctionType)
_side_effects: set[Any] = set()
# What annotations of programs call a node's target, and one of its arguments.
Target: Any = Callable[..., Any] | str
Argument: Any = Any


def has_side_effect(fn: Any) -> Any:
    """Mark a function that a graph keeps though nobody uses its result; it stays what it is.

    >>> has_side_effect(len) is len
    True
    """
    _side_effects.add(fn)
    return fn


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """A nest of tuples, lists, dicts and slices with `fn` of each leaf in its place.

    >>> map_aggregate((1, [2, {"a": 3}], slice(4, None)), lambda x: x and -x)
    (-1, [-2, {'a': -3}], slice(-4, None, None))
    """
    if isinstance(a, tuple):
        made = tuple(map_aggregate(item, fn) for item in a)
        return type(a)(*made) if hasattr(a, "_fields") else made
    if isinstance(a, list):
        return immutable_list(map_aggregate(item, fn) for item in a)
    if isinstance(a, dict):
        return immutable_dict((key, map_aggregate(value, fn)) for key, value in a.items())
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """A nest of arguments with `fn` of each node in its place.

    >>> from tenfold.fx import Graph
    >>> map_arg((Graph().placeholder("x"), 2), str)
    ('x', 2)
    """
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


class Node:
    """A step of a `Graph`: its operation (`op`), what it calls or reads (`target`), and with what (`args`, `kwargs`).

    `op` is "placeholder", "get_attr", "call_function", "call_module", "call_method" or "output". `users` are the nodes that use
    the result; `meta` is a dict for whoever analyses the graph. Make nodes by the graph's methods.

    >>> from tenfold.fx import Graph
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> y = graph.call_method("neg", (x,))
    >>> y.op, y.target, y.args, x.users
    ('call_method', 'neg', (x,), {neg: None})
    """

    def __init__(self, graph: Graph, name: str, op: str, target: Any, args: Any, kwargs: Any, return_type: Any = None) -> None:
        if op not in OPS:
            raise AssertionError(f"Node: op {op!r}, expected one of {', '.join(OPS)}")
        if op == "call_function" and not callable(target):
            raise ValueError(f"Node {name!r}: a call_function wants a function, got the target {target!r}")
        if op != "call_function" and not isinstance(target, str):
            raise ValueError(f"Node {name!r}: {op} wants a name as target, got {type(target).__name__}")
        self.graph, self.name, self.op, self.target = graph, name, op, target
        self._input_nodes: dict[Node, None] = {}
        self.users: dict[Node, None] = {}
        self.type = return_type
        self.meta: dict[str, Any] = {}
        self._prev = self._next = self
        self._erased = False
        self._set_arguments(map_aggregate(args, lambda x: x), map_aggregate(kwargs, lambda x: x))

    def _set_arguments(self, args: Any, kwargs: Any) -> None:
        for used in self._input_nodes:
            used.users.pop(self, None)
        self._args, self._kwargs, self._input_nodes = args, kwargs, {}
        map_arg((args, kwargs), self._input_nodes.setdefault)
        for used in self._input_nodes:
            used.users.setdefault(self)

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments; nodes in them are this node's inputs."""
        found: tuple[Any, ...] = self._args
        return found

    @args.setter
    def args(self, args: tuple[Any, ...]) -> None:
        self._set_arguments(map_aggregate(tuple(args), lambda x: x), self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The named arguments."""
        found: dict[str, Any] = self._kwargs
        return found

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Any]) -> None:
        self._set_arguments(self._args, map_aggregate(dict(kwargs), lambda x: x))

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    @property
    def next(self) -> Node:
        """The node after this one; after the last, the graph's root."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one."""
        return self._prev

    @property
    def stack_trace(self) -> str | None:
        """Where the call stood, if the tracer noted it."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def update_arg(self, idx: int, arg: Any) -> None:
        """Replace one positional argument."""
        self.args = (*self.args[:idx], arg, *self.args[idx + 1 :])

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put a positional argument in front of the one at `idx`."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_arg index must be between 0 and {len(self.args)}, got {idx}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Replace or add one named argument."""
        self.kwargs = {**self.kwargs, key: arg}

    def prepend(self, x: Node) -> None:
        """Move a node of the same graph in front of this one."""
        if x.graph is not self.graph:
            raise AssertionError(f"prepend: {x.name!r} belongs to another graph")
        if x is self:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x: Node) -> None:
        """Move a node of the same graph behind this one."""
        self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def replace_all_uses_with(
        self, replace_with: Node, delete_user_cb: Callable[[Node], bool] = lambda user: True, *, propagate_meta: bool = False
    ) -> list[Node]:
        """Let the users of this node use another; returns them. `delete_user_cb` says for each whether it shall."""
        if propagate_meta:
            replace_with.meta.update({key: value for key, value in self.meta.items() if key not in replace_with.meta})
        changed = [user for user in self.users if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def replace_input_with(self, old_input: Node, new_input: Any) -> None:
        """Let this node use another node, or a value, in place of one of its inputs."""
        swapped = map_arg((self._args, self._kwargs), lambda n: new_input if n is old_input else n)
        self._set_arguments(*swapped)

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether the node does something besides its result, so that it has to stay."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            return self.target in _side_effects or self.target is operator.setitem or _writes(self.target)
        if self.op == "call_method":
            return self.target.endswith("_") and not self.target.endswith("__")
        return False

    def format_node(self, placeholder_names: list[str] | None = None, maybe_return_typename: Any = None) -> str | None:
        """The node's line in the text of its graph; an input's name goes to `placeholder_names` where that is given."""
        if self.op == "placeholder":
            if placeholder_names is not None:
                placeholder_names.append(f"{self.target}" + (f": {type_name(self.type)}" if self.type else ""))
                return None
            default = f"(default={self.args[0]})" if self.args else ""
            return f"%{self.name} : [num_users={len(self.users)}] = placeholder[target={self.target}]{default}"
        if self.op == "output":
            return f"return {self.args[0]}"
        head = f"%{self.name} : {f'{type_name(self.type)} ' if self.type else ''}[num_users={len(self.users)}] = {self.op}"
        target = qualified_name(self.target) if callable(self.target) else self.target
        target = f"builtins.{target}" if callable(self.target) and "." not in target else target
        if self.op == "get_attr":
            return f"{head}[target={target}]"
        return f"{head}[target={target}](args = {_shown(self.args)}, kwargs = {_shown(self.kwargs)})"

    def __repr__(self) -> str:
        return self.name

    def __lt__(self, other: Node) -> bool:
        """Whether this node runs before another of its graph."""
        order = {node: place for place, node in enumerate(self.graph.nodes)}
        return order[self] < order[other]


def _writes(function: Any) -> bool:
    name = getattr(function, "__name__", "")
    return name.endswith("_") and not name.endswith("__") and getattr(operator, name, None) is not function


def type_name(annotation: Any) -> str:
    """A type as it is written in code."""
    return inspect.formatannotation(annotation) if not isinstance(annotation, str) else annotation


def _shown(value: Any) -> str:
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_shown, value)) + (",)" if len(value) == 1 else ")")
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_shown(item)}" for key, item in value.items()) + "}"
    return str(value)
