"""Which operators know sparse tensors: a table from their names to functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

TABLE: dict[str, Callable[..., Any]] = {}


def knows(*names: str) -> Callable[[Function], Function]:
    """Decorator: the function carries out the operators of these names where an argument is sparse."""

    def register(function: Function) -> Function:
        TABLE.update(dict.fromkeys(names, function))
        return function

    return register


def answer(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of an operator some of whose arguments are sparse; NotImplementedError names one that is not there."""
    operator = getattr(func, "op", None)
    name = operator.name if operator is not None else getattr(func, "__name__", str(func))
    if name in TABLE:
        return TABLE[name](*args, **kwargs)
    if operator is not None and operator.inplace_of is not None and operator.inplace_of.name in TABLE:
        return _written(args[0], TABLE[operator.inplace_of.name](*args, **kwargs))
    raise NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'SparseCPU' backend: of sparse tensors it has no meaning, "
        "or tenfold-sparse lacks it; call .to_dense() first"
    )


def _written(target: Any, result: Any) -> Any:
    """The result of an in-place operator in its first argument."""
    if target.is_sparse:
        return target._hold(result._at, result._held, result._is_summed)
    return target.copy_(result)
