"""Records what a module's `forward`, or a function, does with its inputs."""

from __future__ import annotations

import collections
import contextlib
import functools
import importlib
import inspect
import math
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from tenfold.dispatch.overrides import TorchFunctionMode
from tenfold.fx.graph import Graph
from tenfold.fx.node import BASE_TYPES, map_aggregate
from tenfold.fx.proxy import Proxy, TracerBase, tracers_of
from tenfold.tensor.tensor import Tensor

nn: Any = importlib.import_module("tenfold.nn")  # a package that is only wanted here
Module: Any = nn.Module
Wrapped = TypeVar("Wrapped", str, Callable[..., Any])

# Functions that a graph shows as one call: (the module's names, a name among them).
_wrapped: dict[tuple[int, str], tuple[dict[str, Any], str]] = {}
_tracing = 0


def is_fx_tracing() -> bool:
    """Whether a program is being recorded.

    >>> is_fx_tracing()
    False
    """
    return _tracing > 0


class PHBase:
    """A placeholder among concrete arguments: this part of the structure is an input of the graph."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


def wrap(fn_or_name: Wrapped) -> Wrapped:
    """Let graphs show a function as one call: `wrap("my_function")` or `@wrap`, in the module that has it.

    >>> wrap("len")
    'len'
    """
    given: Any = fn_or_name
    if not callable(given) and not isinstance(given, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = given.__name__ if callable(given) else given
    if callable(given) and not isinstance(given, types.FunctionType):
        raise RuntimeError(f"fx.wrap: {given!r} is no function of the module; wrap it by its name there")
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped[id(frame.f_globals), name] = (frame.f_globals, name)
    return fn_or_name


class _Recording(TorchFunctionMode):
    """Sees the operators whose proxies are among what is no tensor argument, such as sizes."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if tracers_of((args, kwargs)):
            return Proxy.__torch_function__(func, types, args, kwargs)
        return func(*args, **kwargs)


class Tracer(TracerBase):
    """Records a module as a graph; derived classes say what is one call (`is_leaf_module`) and what nodes are made.

    Functions of `autowrap_modules` and `autowrap_functions` are recorded as one call where proxies come to them.

    >>> import tenfold
    >>> [node.op for node in Tracer().trace(tenfold.nn.Sequential(tenfold.nn.ReLU())).nodes]
    ['placeholder', 'call_module', 'output']
    """

    def __init__(
        self, autowrap_modules: tuple[Any, ...] = (math,), autowrap_functions: tuple[Any, ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:  # fmt: skip
        self._autowrap_modules = autowrap_modules
        self._autowrap_functions = set(autowrap_functions)
        self.param_shapes_constant = param_shapes_constant
        self.root: Any = None
        self.tensor_attrs: dict[int, str] = {}
        self.submodule_paths: dict[Any, str] | None = None
        self._proxies: dict[str, Proxy] = {}

    def create_arg(self, a: Any) -> Any:
        """A value as a node's argument: what the root owns by its path, another tensor as a new constant of the root."""
        if isinstance(a, Tensor):
            return self.create_node("get_attr", self._path_of_tensor(a), (), {})
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        return super().create_arg(a)

    def _path_of_tensor(self, tensor: Any) -> str:
        for name, owned in (*self.root.named_parameters(), *self.root.named_buffers()):
            if owned is tensor:
                return str(name)
        path = self.tensor_attrs.get(id(tensor))
        if path is None:
            number = 0
            while hasattr(self.root, f"_tensor_constant{number}"):
                number += 1
            path = self.tensor_attrs[id(tensor)] = f"_tensor_constant{number}"
            setattr(self.root, path, tensor)
        return path

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
        """Whether a module is recorded as one call: those of `nn` itself are, but for `Sequential`."""
        return m.__module__.startswith(("tenfold.nn", "torch.nn")) and not isinstance(m, nn.Sequential)

    def path_of_module(self, mod: Any) -> str:
        """The path of a submodule of the root; NameError where it is none."""
        for path, found in self.root.named_modules():
            if found is mod:
                return str(path)
        raise NameError("module is not installed as a submodule")

    def call_module(self, m: Any, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a submodule: one node, or what its `forward` does."""
        path = self.path_of_module(m)
        if not self.is_leaf_module(m, path):
            return forward(*args, **kwargs)
        return self.create_proxy("call_module", path, args, kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What an attribute of a module is while it is recorded."""
        return attr_val

    def get_fresh_qualname(self, prefix: str) -> str:
        """A name after `prefix` that the root has no attribute of."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    def trace(self, root: Any, concrete_args: dict[str, Any] | None = None) -> Graph:
        """The graph of a module's `forward`, or of a function; `concrete_args` are arguments that stay values."""
        if isinstance(root, Module):
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
            self.root, recorded = root, getattr(type(root), self.traced_func_name)
        else:
            self.root, recorded = Module(), root
        recorded = inspect.unwrap(recorded)
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs = {id(value): path for path, value in _tensors_of(self.root)}
        function, inputs = self.create_args_for_root(recorded, isinstance(root, Module), concrete_args)
        with self._recording():
            result = function(*inputs)
            self.create_node("output", "output", (self.create_arg(result),), {})
        self.graph.owning_module = self.root
        return self.graph

    def create_args_for_root(
        self, root_fn: Any, is_module: bool, concrete_args: dict[str, Any] | None = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """The function, taking all by position, and the proxies that it is called with, the module first."""
        given, values = dict(concrete_args or {}), list[Any]()
        parameters = list(inspect.signature(root_fn).parameters.values())
        bound = [root_fn.__self__] if isinstance(root_fn, types.MethodType) else [self.root] if is_module else []
        parameters = parameters[1:] if is_module and not isinstance(root_fn, types.MethodType) else parameters
        # In the order of a function's local variables: names that are only passed by name come before *args.
        parameters.sort(key=lambda p: (p.kind is p.VAR_KEYWORD, p.kind is p.VAR_POSITIONAL, p.kind is p.KEYWORD_ONLY))
        hints = getattr(root_fn, "__annotations__", {})
        for p in parameters:
            stars = "**" if p.kind is p.VAR_KEYWORD else "*" if p.kind is p.VAR_POSITIONAL else ""
            if p.name in given:
                if isinstance(given[p.name], BASE_TYPES):  # still an argument, whose value is the one recorded
                    self._input(f"{p.name}_1", (given[p.name],), None)
                values.append(map_aggregate(given[p.name], functools.partial(self._input_at, p.name)))
                continue
            default = () if stars or p.default is p.empty else (p.default,)
            hint = hints.get(p.name)
            values.append(self._input(stars + p.name, default, hint if isinstance(hint, type) else None))
        return _by_position(root_fn), [*bound, *values]

    def _input_at(self, name: str, value: Any) -> Any:
        return self._input(name, (), None) if value is PH else value

    def _input(self, name: str, default: tuple[Any, ...], hint: Any) -> Proxy:
        return self.create_proxy("placeholder", name, default, {}, type_expr=hint)

    @contextlib.contextmanager
    def _recording(self) -> Iterator[None]:
        """While a program runs here its calls of modules and of wrapped functions are recorded."""
        global _tracing
        call, read, attributes = Module.__call__, Module.__getattr__, dict[str, Any]()

        @functools.wraps(call)
        def called(mod: Any, *args: Any, **kwargs: Any) -> Any:
            return self.call_module(mod, lambda *a, **k: call(mod, *a, **k), args, kwargs)

        @functools.wraps(read)
        def reads(mod: Any, name: str) -> Any:
            return self.getattr(name, read(mod, name), attributes)

        changed = [(vars(module), name) for module in self._autowrap_modules for name in vars(module)]
        changed = [(names, name) for names, name in changed if name[0] != "_" and callable(names[name])]
        changed += list(_wrapped.values()) + self._places_of_functions()
        kept = [(names, name, names.get(name)) for names, name in changed]
        _tracing += 1
        try:
            Module.__call__, Module.__getattr__ = called, reads
            for names, name, function in kept:
                names[name] = _recorded(function if function is not None else _builtin(name))
            with _Recording():
                yield
        finally:
            _tracing -= 1
            Module.__call__, Module.__getattr__ = call, read
            for names, name, function in kept:
                if function is None:
                    del names[name]
                else:
                    names[name] = function

    def _places_of_functions(self) -> list[tuple[dict[str, Any], str]]:
        names = getattr(sys.modules.get(type(self.root).__module__), "__dict__", {})
        return [(names, name) for name, value in list(names.items())
                if isinstance(value, collections.abc.Hashable) and value in self._autowrap_functions]  # fmt: skip


def _by_position(function: Any) -> Any:
    """A function that takes its `*args` and `**names`, and what is only passed by name, as one argument each in this order."""
    function = function.__func__ if isinstance(function, types.MethodType) else function
    code = getattr(function, "__code__", None)
    if code is None:
        return function
    stars = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + stars.bit_count()
    changed = code.replace(co_flags=code.co_flags & ~stars, co_argcount=count, co_kwonlyargcount=0, co_posonlyargcount=0)
    return types.FunctionType(changed, function.__globals__, function.__name__, None, function.__closure__)


def _builtin(name: str) -> Any:
    found = getattr(__import__("builtins"), name, None)
    if found is None:
        raise NameError(f"fx.wrap({name!r}): the module has no such function")
    return found


def _recorded(function: Any) -> Any:
    """A function that becomes a node where a proxy comes to it."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        found = tracers_of((args, kwargs))
        if not found:
            return function(*args, **kwargs)
        return found[0].create_proxy("call_function", function, args, kwargs)

    return wrapped


def _tensors_of(module: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The tensors that are plain attributes of a module or of those below, by path."""
    for name, value in vars(module).items():
        if isinstance(value, Tensor):
            yield prefix + name, value
    for name, child in module.named_children():
        yield from _tensors_of(child, f"{prefix}{name}.")
