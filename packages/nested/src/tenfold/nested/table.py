"""Which operators know nested tensors: a table for each layout from their names to functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from tenfold.dispatch.observed import is_attribute

Function = TypeVar("Function", bound=Callable[..., Any])
Table = dict[str, Callable[..., Any]]

STRIDED: Table = {}
JAGGED: Table = {}
ELEMENTWISE = ("pointwise", "activation", "units")  # families of operators that work element by element, but for those in a table


def knows(table: Table, *names: str) -> Callable[[Function], Function]:
    """Decorator: the function carries out the operators of these names. It gets the operator, then the arguments."""

    def register(function: Function) -> Function:
        table.update(dict.fromkeys(names, function))
        return function

    return register


def nested_in(args: Any) -> Iterator[Any]:
    """The nested tensors among arguments, those in lists included."""
    for value in args:
        if isinstance(value, (list, tuple)):
            yield from nested_in(value)
        elif getattr(value, "is_nested", False):
            yield value


def answer(table: Table, elementwise: Callable[..., Any], func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of an operator some of whose arguments are nested; NotImplementedError names one that is not there."""
    operator = getattr(func, "op", None)
    name = operator.name if operator is not None else getattr(func, "__name__", str(func))
    if name in table:
        return table[name](func, *args, **kwargs)
    base = operator.inplace_of if operator is not None else None
    if operator is not None and (base or operator).family in ELEMENTWISE and (base or operator).name not in table:
        return elementwise(func, *args, **kwargs)
    if base is not None and base.name in table:
        return args[0]._written(table[base.name](base.fn, *args, **kwargs))
    if operator is None and is_attribute(func):
        return func(*args, **kwargs)
    layout = next(nested_in((*args, *kwargs.values()))).layout
    raise NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'NestedTensorCPU' backend: of nested tensors of the layout "
        f"{layout} it has no meaning, or tenfold-nested lacks it; unbind() gives the rows, to_padded_tensor() one tensor"
    )


def dimension(dim: int, ndim: int) -> int:
    """A dimension counted from the front."""
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return dim % ndim
