"""User tensor types and modes that see every operator call: PyTorch's `__torch_function__` protocol."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import RUNTIME, STATE, Layer


def disabled_torch_function(*given: Any, **named: Any) -> Any:
    """As a class's `__torch_function__`: this plain subclass does not override (as `Parameter`)."""
    with DisableTorchFunctionSubclass():
        return _call(*given, **named)


def _call(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    return func(*args, **(kwargs or {}))


class DisableTorchFunctionSubclass:
    """Treat subclasses as plain tensors inside."""

    def __enter__(self) -> None:
        self._previous = STATE.overrides_off
        STATE.overrides_off = True

    def __exit__(self, *exc: object) -> None:
        STATE.overrides_off = self._previous


def call_overrides(operator: Operator, tensors: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Ask for an operator the classes among its arguments."""
    return _ask(_seen(operator), tensors, args, kwargs)


def _ask(func: Any, relevant: Iterable[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Ask each overriding class among the arguments, subclasses first, until one answers."""
    types = _overriding_types(relevant)
    for cls in types:
        result = cls.__torch_function__(func, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"tenfold.{func.op.name}" if hasattr(func, "op") else f"{getattr(func, '__module__', 'tenfold')}.{func.__name__}"
    raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {list(types)}")


def _seen(operator: Operator) -> Any:
    """What classes and modes are asked for: the operator's function, or the method that stands for it."""
    return RUNTIME["Tensor"].__getitem__ if operator.name == "getitem" else operator.fn


def _overriding_types(values: Iterable[Any]) -> tuple[Any, ...]:
    """The classes among values that override, each before those that it is derived from."""
    types: list[Any] = []
    for value in () if STATE.overrides_off else values:
        cls = type(value)
        if cls not in types and _overrides(value):
            place = next((i for i, known in enumerate(types) if issubclass(cls, known)), len(types))
            types.insert(place, cls)
    return tuple(types)


def _overrides(value: Any) -> bool:
    cls = type(value)  # an attribute of the value may be one that it hands on
    return bool(value._key.override) if hasattr(cls, "_key") else hasattr(cls, "__torch_function__")


def default_torch_function(cls: Any, func: Any, types: tuple[type, ...], args: Any = (), kwargs: Any = None) -> Any:
    """Tensor's own `__torch_function__`: compute as plain tensors, give results the subclass."""
    # While overrides are off Tenfold asks nobody: a library that asks all the same cannot use this tensor.
    if STATE.overrides_off or not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
    return result if func in default_nowrap_functions() else _as_class(result, cls)


@cache
def default_nowrap_functions() -> frozenset[Any]:
    """What Tensor's own `__torch_function__` does not give the subclass to."""
    return frozenset((RUNTIME["Tensor"].grad.__get__,))


def _as_class(result: Any, cls: type) -> Any:
    plain = RUNTIME["Tensor"]
    if type(result) is plain:
        return result.as_subclass(cls)
    if isinstance(result, tuple) and any(type(r) is plain for r in result):
        made = [_as_class(r, cls) for r in result]
        return type(result)(*made) if hasattr(result, "_fields") else tuple(made)
    return result


class TorchFunctionMode(Layer):
    """A mode that sees every operator call while entered; subclasses define `__torch_function__`.

    >>> import tenfold
    >>> from tenfold.dispatch.overrides import TorchFunctionMode
    >>> class Doubled(TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         result = func(*args, **(kwargs or {}))
    ...         return result * 2 if func is tenfold.add else result
    >>> with Doubled():
    ...     tenfold.ones(1) + 1
    tensor([4.])
    """

    def handle(self, operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._first(_seen(operator), (*args, *kwargs.values()), args, kwargs)

    def _first(self, func: Any, relevant: Iterable[Any], args: Any, kwargs: Any) -> Any:
        """Ask this mode, which is off meanwhile, and then the classes among the arguments, for which it is on again."""
        asked = self.__torch_function__
        if getattr(asked, "__self__", self) is not self:
            raise RuntimeError("__torch_function__: a mode's classmethod is not supported, please make it a plain method")
        result = asked(func, _overriding_types(relevant), args, kwargs)
        if result is not NotImplemented:
            return result
        with self:
            return _ask(func, relevant, args, kwargs)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no __torch_function__")


def has_torch_function(relevant_args: Any) -> bool:
    """Whether any of the arguments overrides operators, or a mode is entered that does."""
    return _mode() is not None or (not STATE.overrides_off and any(_overrides(a) for a in relevant_args))


def _mode() -> Any:
    """The innermost layer of this thread if it is a mode that sees functions."""
    return next((layer for layer in STATE.layers[-1:] if isinstance(layer, TorchFunctionMode)), None)


def is_tensor_like(value: Any) -> bool:
    """Whether a value is a tensor or implements `__torch_function__`."""
    return hasattr(type(value), "_array") or hasattr(type(value), "__torch_function__")


def handle_torch_function(public_api: Any, relevant_args: Any, *args: Any, **kwargs: Any) -> Any:
    """Ask the mode that is entered, then the classes among the arguments."""
    mode, layers = _mode(), STATE.layers
    if mode is None:
        return _ask(public_api, relevant_args, args, kwargs)
    STATE.layers = layers[:-1]
    try:
        return mode._first(public_api, relevant_args, args, kwargs)
    finally:
        STATE.layers = layers
