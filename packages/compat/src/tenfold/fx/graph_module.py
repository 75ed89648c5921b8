"""A module whose `forward` is written from a graph."""

from __future__ import annotations

import copy
import importlib
import itertools
import linecache
from typing import Any, Self

from tenfold.fx.code import PythonCode
from tenfold.fx.graph import Graph
from tenfold.fx.tracer import Tracer
from tenfold.tensor.tensor import Tensor

nn: Any = importlib.import_module("tenfold.nn")  # a package that is only wanted here
Module: Any = nn.Module
_numbers = itertools.count()


class GraphModule(Module):  # type: ignore[misc]
    """A module that runs a graph; `graph` may be changed, and `recompile` writes `forward` anew from it.

    `root` is the module, or the dict of paths and values, that has what the graph reads; only that is taken over.

    >>> import tenfold
    >>> from tenfold.fx import symbolic_trace
    >>> traced = symbolic_trace(tenfold.nn.Sequential(tenfold.nn.Linear(2, 1)))
    >>> [name for name, _ in traced.named_parameters()]
    ['0.weight', '0.bias']
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """An object of a class of its own, as each has a `forward` of its own."""
        plain = next(base for base in cls.__mro__ if "_is_of_one_graph" not in vars(base))
        own = type(plain.__name__, (plain,), {"_is_of_one_graph": True, "__module__": plain.__module__})
        own.__qualname__ = "GraphModule.__new__.<locals>.GraphModuleImpl"  # by which libraries that wrap `forward` know it
        made: Self = super().__new__(own)
        return made

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        targets = [str(node.target) for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            self.training = root.training
            for target in targets:
                _copy_attribute(root, self, target)
        elif isinstance(root, dict):
            missing = [target for target in targets if target not in root]
            if missing:
                raise RuntimeError(
                    f"Node in a graph referenced target {missing[0]} but that target was not provided in ``root``!"
                )
            for target in sorted(set(targets), key=lambda path: path.count(".")):
                _assign(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.meta: dict[str, Any] = dict(getattr(root, "meta", {})) if isinstance(root, Module) else {}
        self.graph = graph

    @property
    def graph(self) -> Graph:
        """The graph; a new one is written as `forward` at once."""
        found: Graph = self._graph
        return found

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self.__dict__["_graph"] = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source of `forward`."""
        return str(self._code)

    def recompile(self) -> PythonCode:
        """Write `forward` from the graph as it is now."""
        made: PythonCode = self._graph.python_code("self")
        self.__dict__["_code"] = made.src
        type(self).forward = _compiled(made)
        return made

    def add_submodule(self, target: str, m: Any) -> bool:
        """Put a module at a path, with empty ones on the way; False where something else is on the way."""
        *path, leaf = target.split(".")
        at: Any = self
        for part in path:
            inner = getattr(at, part, None)
            if inner is None:
                inner = Module()
                at.add_module(part, inner)
            if not isinstance(inner, Module):
                return False
            at = inner
        at.add_module(leaf, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Take the module at a path out; False where there is none."""
        *path, leaf = target.split(".")
        at: Any = self
        for part in path:
            at = getattr(at, part, None)
            if not isinstance(at, Module):
                return False
        if not isinstance(getattr(at, leaf, None), Module):
            return False
        delattr(at, leaf)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Take out every submodule that the graph neither calls nor reads from."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[: i + 1]) for i in range(len(parts)))
                if node.op == "call_module":
                    used.update(f"{node.target}.{name}" for name, _ in self.get_submodule(node.target).named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    def print_readable(self, print_output: bool = True, **options: Any) -> str:
        """The class's code, printed and returned."""
        text = f"class {self._get_name()}(torch.nn.Module):\n" + "\n".join(
            f"    {line}".rstrip() for line in self.code.strip().splitlines()
        )
        if print_output:
            print(text)
        return text

    def __deepcopy__(self, memo: Any) -> GraphModule:
        holder = Module()
        holder.__dict__.update(copy.deepcopy({k: v for k, v in self.__dict__.items() if k not in ("_graph", "_code")}, memo))
        made: GraphModule = _plain_class(self)(holder, copy.deepcopy(self._graph), type(self).__name__)
        for name, value in holder.__dict__.items():
            made.__dict__.setdefault(name, value)
        made.__dict__.update({name: holder.__dict__[name] for name in holder.__dict__ if name.endswith("_hooks")})
        made.meta = copy.copy(getattr(self, "meta", {}))
        return made

    def __copy__(self) -> GraphModule:
        made: GraphModule = _plain_class(self)(self, copy.deepcopy(self._graph), type(self).__name__)
        return made

    def __reduce__(self) -> Any:
        state = {name: value for name, value in self.__dict__.items() if name not in ("_graph", "_code")}
        made = self._graph.python_code("self")
        names = {name: value for name, value in made.globals.items() if not hasattr(value, "__path__")}
        modules = {name: value.__name__ for name, value in made.globals.items() if hasattr(value, "__path__")}
        plain = _plain_class(self)
        return _rebuilt, (plain, state, made.src, names, modules, type(self).__name__)

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self._code}"


def _plain_class(module: GraphModule) -> Any:
    return next(base for base in type(module).__mro__ if "_is_of_one_graph" not in vars(base))


def _rebuilt(plain: Any, state: Any, source: str, names: Any, modules: Any, class_name: str) -> GraphModule:
    """A pickled module again: its code is run on proxies, which gives the graph."""

    class WithAllModules(Tracer):
        def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
            return True

    found = {**names, **{name: importlib.import_module(module) for name, module in modules.items()}}
    holder = type(class_name, (Module,), {"forward": _compiled(PythonCode(source, found))})()
    holder.__dict__.update(state)
    graph = WithAllModules().trace(holder)
    made: GraphModule = plain(holder, graph, class_name)
    for name, value in state.items():
        made.__dict__.setdefault(name, value)
    return made


def _compiled(code: PythonCode) -> Any:
    """The function of a piece of code; its lines can be looked at in a debugger and in tracebacks."""
    file = f"<eval_with_key>.{next(_numbers)}"
    linecache.cache[file] = (len(code.src), None, code.src.splitlines(keepends=True), file)
    names = dict(code.globals)
    exec(compile(code.src, file, "exec"), names)  # noqa: S102 - that is what the class is for
    return names["forward"]


def _copy_attribute(source: Any, into: Any, target: str) -> None:
    *path, leaf = target.split(".")
    for part in path:
        inner = getattr(source, part)
        if inner is getattr(into, part, None):
            return
        if getattr(into, part, None) is None:
            into.add_module(part, Module())
        source, into = inner, getattr(into, part)
    value = getattr(source, leaf)
    if isinstance(value, Tensor) and leaf in source._buffers:
        into.register_buffer(leaf, value, persistent=leaf not in source._non_persistent_buffers_set)
    elif isinstance(value, Tensor) and not isinstance(value, nn.Parameter):
        into.register_buffer(leaf, value)
    else:
        setattr(into, leaf, value)


def _assign(value: Any, into: Any, target: str) -> None:
    *path, leaf = target.split(".")
    for part in path:
        if getattr(into, part, None) is None:
            into.add_module(part, Module())
        into = getattr(into, part)
    if isinstance(value, Tensor) and not isinstance(value, nn.Parameter):
        into.register_buffer(leaf, value)
    else:
        setattr(into, leaf, value)
