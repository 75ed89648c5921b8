"""`torch.overrides`: which functions ask the classes of their arguments, and what a program needs that asks by itself."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tenfold import Tensor
from tenfold.dispatch.operators import TENSOR_ROLES
from tenfold.dispatch.overrides import (
    DisableTorchFunctionSubclass,
    TorchFunctionMode,
    _overriding_types,
    default_nowrap_functions,
    handle_torch_function,
    has_torch_function,
    is_tensor_like,
)
from tenfold.dispatch.runtime import STATE

__all__ = [
    "BaseTorchFunctionMode", "DisableTorchFunctionSubclass", "TorchFunctionMode",
    "enable_reentrant_dispatch", "get_ignored_functions", "get_overridable_functions", "get_testing_overrides",
    "handle_torch_function", "has_torch_function", "is_tensor_like", "is_tensor_method_or_property", "redispatch_function",
    "resolve_name", "wrap_torch_function",
]  # fmt: skip

_ROLES = (*TENSOR_ROLES, "args")
_LISTS = ("tensors", "operands", "elements")  # which such a function looks through itself
_METHODS_ALONE = frozenset(  # PyTorch has no functions of these names
    "contiguous expand expand_as new_empty new_empty_strided new_full new_ones new_tensor new_zeros repeat reshape_as "
    "sum_to_size to type_as unfold view view_as".split()
)
_NAMESPACES = ("torch.linalg", "torch.fft", "torch", "torch.functional", "torch.nn.functional", "torch.special")


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that lets every call through; subclasses change some and hand them to `super().__torch_function__`.

    >>> import tenfold
    >>> from tenfold.overrides import BaseTorchFunctionMode
    >>> with BaseTorchFunctionMode():
    ...     tenfold.tensor([1.0]) + 1
    tensor([2.])
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _members(namespace: Any) -> Iterator[tuple[str, Any]]:
    """The public functions of a module, by name."""
    for name in getattr(namespace, "__all__", None) or dir(namespace):
        value = None if name.startswith("_") else getattr(namespace, name, None)
        if callable(value) and not isinstance(value, type):
            yield name, value


def _asks(function: Any) -> bool:
    """Whether a function takes tensors, and so asks their classes: itself, or by the operators that it is made of."""
    operator = getattr(function, "op", None)
    if operator is not None:
        return any(p.role in _ROLES or p.name in _LISTS for p in operator.params)
    first = next(iter(getattr(function, "__annotations__", {}).values()), None)
    return isinstance(first, str) and "Tensor" in first


def _of_tensors() -> Iterator[tuple[str, Any]]:
    """What a tensor has: methods, and the getters of properties, each with its name."""
    for name in dir(Tensor):
        value: Any = inspect.getattr_static(Tensor, name)
        if isinstance(value, types.GetSetDescriptorType) and getattr(Tensor, name) is not value:
            continue  # it is of the class itself, such as __dict__
        if isinstance(value, property) or (hasattr(type(value), "__get__") and hasattr(type(value), "__set__")):
            yield f"{name}.__get__", value.__get__
        elif isinstance(value, types.FunctionType) and _asks(value):
            yield name, value


@functools.cache
def _overridable() -> tuple[dict[Any, list[Any]], dict[Any, str]]:
    """The functions of each namespace that ask, and the name of each function: the first one found for it."""
    functions: dict[Any, list[Any]] = {}
    names: dict[Any, str] = {}
    for path in _NAMESPACES:
        module = importlib.import_module(path.replace("torch", "tenfold", 1))
        found = [(name, value) for name, value in _members(module) if _asks(value)]
        functions[sys.modules.get("torch", module) if path == "torch" else module] = [value for _, value in found]
        for name, value in found:
            if not name.endswith("_") and name not in _METHODS_ALONE:  # methods, which Tenfold has as functions, too
                names.setdefault(value, f"{path}.{name}")
    functions[Tensor] = []
    for name, value in _of_tensors():
        functions[Tensor].append(value)
        names.setdefault(value, f"torch.Tensor.{name}")
    for path in _NAMESPACES:  # those that ask nobody have names, too
        for name, value in _members(importlib.import_module(path.replace("torch", "tenfold", 1))):
            if _is_hashable(value):
                names.setdefault(value, f"{path}.{name}")
    return functions, names


def get_overridable_functions() -> dict[Any, list[Any]]:
    """The functions that ask `__torch_function__` of their arguments' classes, by module or class.

    >>> import tenfold
    >>> tenfold.Tensor.shape.__get__ in get_overridable_functions()[tenfold.Tensor]
    True
    """
    return {namespace: list(found) for namespace, found in _overridable()[0].items()}


@functools.cache
def get_ignored_functions() -> set[Any]:
    """The public functions that ask nobody: those that take no tensors, and questions about the library."""
    modules = [importlib.import_module(path.replace("torch", "tenfold", 1)) for path in _NAMESPACES]
    ignored = {value for module in modules for _, value in _members(module) if _is_hashable(value) and not _asks(value)}
    methods = (getattr(Tensor, name) for name in ("__init__", "__new__", "__torch_function__", "new_tensor", "as_subclass"))
    return ignored.union(method for method in methods if not _asks(method))


def _is_hashable(value: Any) -> bool:
    return type(value).__hash__ is not None


@functools.cache
def get_testing_overrides() -> dict[Any, Callable[..., int]]:
    """For each function that asks, one of the same arguments that gives -1: what a class of a test can answer with.

    >>> import tenfold
    >>> get_testing_overrides()[tenfold.add](1, 2)
    -1
    """
    return {function: _dummy(function) for found in _overridable()[0].values() for function in found}


def _dummy(function: Any) -> Callable[..., int]:
    try:
        signature: inspect.Signature | None = inspect.signature(function)
    except (TypeError, ValueError):  # getters
        signature = None

    def answer(*args: Any, **kwargs: Any) -> int:
        if signature is not None:
            signature.bind(*args, **kwargs)
        return -1

    answer.__name__ = getattr(function, "__name__", "answer")
    if signature is not None:
        vars(answer)["__signature__"] = signature
    return answer


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function is a method of tensors, or reads or writes a property.

    A method that is also a function, as `torch.add` is `torch.Tensor.add` here, counts as the function.

    >>> import tenfold
    >>> is_tensor_method_or_property(tenfold.Tensor.add_), is_tensor_method_or_property(tenfold.Tensor.grad.__get__)
    (True, True)
    """
    if getattr(func, "__name__", None) in ("__get__", "__set__"):
        return True
    return (resolve_name(func) or "").startswith("torch.Tensor.")


def resolve_name(f: Any) -> str | None:
    """The name under which a program finds a function that asks, or None.

    >>> import tenfold
    >>> resolve_name(tenfold.Tensor.add_), resolve_name(tenfold.linalg.inv), resolve_name(len)
    ('torch.Tensor.add_', 'torch.linalg.inv', None)
    """
    return _overridable()[1].get(f) if _is_hashable(f) else None


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that lets a function ask: `dispatcher` has its arguments and gives those whose classes are asked.

    >>> import tenfold
    >>> @wrap_torch_function(lambda a: (a,))
    ... def negative(a):
    ...     return a + 0
    >>> negative(tenfold.ones(1))
    tensor([1.])
    """

    def inner(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return inner


def get_default_nowrap_functions() -> set[Any]:
    """The getters whose results Tensor's own `__torch_function__` leaves as they are."""
    return set(default_nowrap_functions())


def has_torch_function_unary(value: Any) -> bool:
    """Whether one argument overrides functions."""
    return has_torch_function((value,))


def has_torch_function_variadic(*values: Any) -> bool:
    """Whether any of the arguments overrides functions."""
    return has_torch_function(values)


def _get_overloaded_args(relevant_args: Iterable[Any], get_type_fn: Callable[[Any], type] | None = None) -> list[Any]:
    """The arguments whose classes are asked, in the order of asking, one of each class."""
    given = list(relevant_args)
    return [next(value for value in given if type(value) is cls) for cls in _overriding_types(given)]


@contextlib.contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """A context in which a function may ask again while it is asked; here it always may."""
    yield


def redispatch_function(func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Call a function from within `__torch_function__` without asking the classes again; modes that are left are asked."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def _get_current_function_mode_stack() -> list[Any]:
    """The modes that this thread has entered, innermost last."""
    return [layer for layer in STATE.layers if isinstance(layer, TorchFunctionMode)]


def _get_current_function_mode() -> Any:
    """The innermost mode, or None."""
    return (_get_current_function_mode_stack() or [None])[-1]
