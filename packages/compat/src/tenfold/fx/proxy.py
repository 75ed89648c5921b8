"""What stands in for a value while a program is recorded: each operation on it becomes a node."""

from __future__ import annotations

import dis
import enum
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from tenfold.dispatch.devices import device
from tenfold.fx.arguments import as_passed
from tenfold.fx.code import INFIX, PREFIX
from tenfold.fx.graph import Graph
from tenfold.fx.names import name_of_target
from tenfold.fx.node import BASE_TYPES, Node, map_aggregate
from tenfold.types.dtypes import dtype
from tenfold.types.memory_format import layout, memory_format

_NOT_RECORDED = {"node", "tracer", "_node", "_array", "_key", "_storage"}


class TraceError(ValueError):
    """A program did what a graph cannot hold, as to ask for a number to decide by."""


class TracerBase:
    """What makes nodes and the proxies for them; `Tracer` records modules."""

    graph: Graph
    record_stack_traces = False
    check_mutable_operations = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"

    def create_node(self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None, type_expr: Any = None) -> Node:
        """A node of the graph that is recorded."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> Proxy:
        """What stands in for a node's value."""
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None, type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:  # fmt: skip
        """A node of a call with proxies among its arguments, and what stands in for its value."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a: Any) -> Any:
        """A value as an argument of a node: proxies as their nodes. NotImplementedError for what a graph cannot hold."""
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, tuple):
            made = tuple(self.create_arg(item) for item in a)
            return type(a)(*made) if hasattr(a, "_fields") else made
        if isinstance(a, list):
            return [self.create_arg(item) for item in a]
        if isinstance(a, dict):
            if any(isinstance(key, (Proxy, Node)) for key in a):
                raise RuntimeError("Keys for dictionaries used as an argument cannot contain a Node or Proxy")
            return {key: self.create_arg(item) for key, item in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, (*BASE_TYPES, Node, enum.Enum, type, dtype, device, layout, memory_format)) or callable(a):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj: Proxy) -> bool:
        """What `if proxy` means."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Any) -> Iterator[Any]:
        """What a loop over a proxy means: only `a, b = proxy` says how many there are."""
        frame = sys._getframe(2)
        code = {at.offset: at for at in dis.get_instructions(frame.f_code)}[frame.f_lasti]
        if code.opname == "UNPACK_SEQUENCE":
            return (obj[i] for i in range(int(code.argval)))
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs "
            "function argument: wrap the function that loops with fx.wrap, or make its module a leaf"
        )

    def keys(self, obj: Proxy) -> Any:
        """What `**proxy` means."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds what is done with proxies to a graph that is there.

    >>> graph = Graph()
    >>> x = Proxy(graph.placeholder("x"), GraphAppendingTracer(graph))
    >>> (x + 1).node.op
    'call_function'
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Proxy:
    """Stands in for a node's value: what is done with it is added to the graph.

    >>> graph = Graph()
    >>> x = Proxy(graph.placeholder("x"))
    >>> (x.relu() * 2).node.args
    (relu, 2)
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        # What Python asks of any object, and what Tenfold's dispatch asks to know a tensor of its own.
        if (k.startswith("__") and k.endswith("__")) or k in _NOT_RECORDED:
            raise AttributeError(k)
        return Attribute(self, k)

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __index__(self) -> NoReturn:
        raise TraceError("a Proxy is no integer: its value is known when the graph runs")

    __int__ = __float__ = __index__

    def __len__(self) -> NoReturn:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    def __contains__(self, item: Any) -> NoReturn:
        raise TraceError("'in' is not supported in symbolic tracing: it asks for a truth value")

    def keys(self) -> Any:
        """What `**proxy` asks for."""
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = tracers_of((args, kwargs))
        if len(found) > 1:
            raise RuntimeError(f"Found multiple different tracers {found} while trying to trace operations {orig_method}")
        args, kwargs = as_passed(orig_method, args, kwargs or {})
        return found[0].create_proxy("call_function", orig_method, args, kwargs)


def tracers_of(values: Any) -> list[TracerBase]:
    """The tracers of the proxies in a nest of values, each once.

    >>> tracers_of((1, [2]))
    []
    """
    found: dict[int, TracerBase] = {}
    map_aggregate(values, lambda x: found.setdefault(id(x.tracer), x.tracer) if isinstance(x, Proxy) else None)
    return list(found.values())


class Attribute(Proxy):
    """An attribute of a proxy: called, it is a method; used as a value, it is read."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that reads the attribute, made when it is first wanted."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def _forward(function: Any) -> Any:
    def method(self: Proxy, *args: Any) -> Proxy:
        tracer = (tracers_of((self, args)) or [self.tracer])[0]
        return tracer.create_proxy("call_function", function, (self, *args), {})

    method.__name__ = f"__{name_of_target(function).strip('_')}__"
    return method


def _reflected(function: Any) -> Any:
    def method(self: Proxy, other: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", function, (other, self), {})

    return method


for _function in (*INFIX, *PREFIX, operator.getitem):
    _name = _function.__name__.strip("_")
    setattr(Proxy, f"__{_name}__", _forward(_function))
for _function in (operator.add, operator.sub, operator.mul, operator.matmul, operator.floordiv, operator.truediv, operator.mod,
                  operator.pow, operator.lshift, operator.rshift, operator.and_, operator.or_, operator.xor):  # fmt: skip
    setattr(Proxy, f"__r{_function.__name__.strip('_')}__", _reflected(_function))
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign] # as `__eq__` is recorded
