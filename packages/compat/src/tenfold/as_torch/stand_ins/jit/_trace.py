"""`torch.jit.trace`: the function or module itself behind PyTorch's checks of what goes in and what comes out.

What it returns replays by running the Python again. So branches follow the inputs, where a trace of PyTorch's keeps to the
way that the example went; nothing else differs, and what would need the recorded graph (`graph`, `code`, `save`) is not there.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.as_torch.stand_ins.jit import WHY, ScriptFunction
from tenfold.as_torch.stand_ins.jit._script import ScriptModule

Module: Any = importlib.import_module("tenfold.nn").Module  # tenfold-nn, which only tracing needs
_CONTAINER = (
    "Encountering a {} at the output of the tracer might cause the trace to be incorrect, this is only valid if the container "
    "structure does not change based on the module's inputs; return a tuple or a named tuple, or pass strict=False to trace()"
)


class TracerWarning(Warning):
    """A trace that may not do what the function does."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Nothing here warns from inside the library."""


class TracingCheckError(Exception):
    """What `check_inputs` found out."""


class TracedModule(ScriptModule):
    """A module in the place of the traced one, whose parameters, buffers and submodules it has."""

    def __init__(self, original: Any) -> None:
        Module.__init__(self)
        self.__dict__.update(_original=original, training=original.training)
        for members in ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"):
            self.__dict__[members] = original.__dict__[members]

    @property
    def original_name(self) -> str:
        """The name of the traced module's class."""
        return type(self._original).__name__

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        original = self._original
        _check_call("forward", original.forward, args, kwargs)
        return original(*args, **kwargs)

    def train(self, mode: bool = True) -> Any:
        self._original.train(mode)
        return super().train(mode)

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


class TopLevelTracedModule(TracedModule):
    """What `trace` returns for a module."""


class TracedFunction(ScriptFunction):  # type: ignore[misc]
    """What `trace` returns for a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        functools.update_wrapper(self, function)
        self.name = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        _check_call(self.name, self._function, args, kwargs)
        return self._function(*args, **kwargs)

    def save(self, f: Any, **options: Any) -> None:
        """Not here: only a graph could be saved without the function."""
        raise NotImplementedError(f"ScriptFunction.save: {WHY}")


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    *_: Any,
    example_kwarg_inputs: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Run a function or module on examples, check it, and return what calls it again: a module for a module.

    Examples and results are tensors, or nested tuples, lists and dictionaries of tensors; lists and dictionaries come out with a
    TracerWarning, unless `strict` is False. With `check_trace` it runs a second time: other results within
    `check_tolerance` give a TracerWarning, as do those for each of `check_inputs`. Raises RuntimeError for other types.

    >>> import tenfold
    >>> double = trace(lambda x: x * 2, tenfold.ones(2))
    >>> double(tenfold.ones(3))
    tensor([2., 2., 2.])
    """
    if isinstance(func, ScriptModule | ScriptFunction):
        warnings.warn(
            "The input to trace is already a ScriptModule, tracing it is a no-op. Returning the object as is.", stacklevel=2
        )
        return func
    owner = getattr(func, "__self__", None)
    if isinstance(owner, Module) and getattr(func, "__name__", "") == "forward":
        func = owner  # as PyTorch does: the module, without losing its parameters
    traced: Any = TopLevelTracedModule(func) if isinstance(func, Module) else TracedFunction(func)
    examples = _as_arguments(example_inputs) if example_kwarg_inputs is None else example_kwarg_inputs
    _try(func, examples, strict)
    for given in () if not check_trace else [examples] if check_inputs is None else map(_as_arguments, check_inputs):
        _compare(func, traced, given, check_tolerance)
    return traced


def trace_module(
    mod: Any,
    inputs: Any,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    **options: Any,
) -> Any:
    """`trace` for several methods of a module: `inputs` has each one's examples by its name."""
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    traced = TopLevelTracedModule(mod)
    for name, examples in inputs.items():
        method = mod if name == "forward" else getattr(mod, name)
        _try(method, _as_arguments(examples), strict)
        if name != "forward":
            traced.__dict__[name] = TracedFunction(method)
        if check_trace:
            _compare(method, traced if name == "forward" else traced.__dict__[name], _as_arguments(examples), check_tolerance)
    return traced


def _as_arguments(examples: Any) -> tuple[Any, ...]:
    return (examples,) if isinstance(examples, (Tensor, dict)) else tuple(examples)


def _call(function: Any, given: Any) -> Any:
    return function(**given) if isinstance(given, dict) else function(*given)


def _try(function: Any, given: Any, strict: bool) -> None:
    """Run once, and check both ends."""
    _check_inputs(list(given.values()) if isinstance(given, dict) else given)
    result = _call(function, given)
    if not _only_tensors(result):
        raise RuntimeError("Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions")
    if strict and type(result) is dict:
        raise RuntimeError(_CONTAINER.format("dict"))
    if strict and type(result) is list:
        warnings.warn(_CONTAINER.format("list"), TracerWarning, stacklevel=3)


def _check_call(name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse a call of what was traced that does not fit it, in PyTorch's exception type."""
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise RuntimeError(f"{name}() {error}. Declaration: {name}{inspect.signature(function)}") from None
    for position, value in enumerate((*args, *kwargs.values())):
        if not _only_tensors(value):
            raise RuntimeError(
                f"{name}() Expected a value of type 'Tensor' for argument {position} but instead found type "
                f"'{type(value).__name__}'."
            )


def _check_inputs(values: Any) -> None:
    if not _only_tensors(values):
        types = ", ".join(type(value).__name__ for value in values)
        raise RuntimeError(
            f"Type 'Tuple[{types}]' cannot be traced. Only Tensors and (possibly nested) Lists, Dicts, and Tuples of Tensors can "
            "be traced"
        )


def _only_tensors(value: Any) -> bool:
    if isinstance(value, (dict, tuple, list)):
        return all(map(_only_tensors, value.values() if isinstance(value, dict) else value))
    return isinstance(value, Tensor)


def _compare(function: Any, traced: Any, given: Any, tolerance: float) -> None:
    """Warn of each result that a second run gives otherwise."""
    with tenfold.no_grad(), tenfold.random.fork_rng():
        once, again = _tensors(_call(function, given)), _tensors(_call(traced, given))
    for i, (expected, actual) in enumerate(zip(once, again, strict=True), 1):
        if actual.shape != expected.shape or not tenfold.allclose(actual, expected, tolerance, tolerance, equal_nan=True):
            warnings.warn(
                f"Output nr {i}. of the traced function does not match the corresponding output of the Python function: "
                f"{actual} and {expected}",
                TracerWarning,
                stacklevel=3,
            )


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, (dict, tuple, list)):
        return [t for item in (value.values() if isinstance(value, dict) else value) for t in _tensors(item)]
    return [value]
