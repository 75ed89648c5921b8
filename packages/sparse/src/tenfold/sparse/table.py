"""Which operators know sparse tensors: a table from their names to functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tenfold.dispatch.observed import is_attribute

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
    if operator is None and is_attribute(func):
        return func(*args, **kwargs)
    raise NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'SparseCPU' backend: of sparse tensors it has no meaning, "
        "or tenfold-sparse lacks it; call .to_dense() first"
    )


def _written(target: Any, result: Any) -> Any:
    """The result of an in-place operator in its first argument."""
    if target.is_sparse:
        return target._hold(result._at, result._held, result._is_summed)
    return target.copy_(result)


def answer_compressed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of an operator some of whose arguments are compressed: by a function of their own, or in coordinates."""
    operator = getattr(func, "op", None)
    name = operator.name if operator is not None else getattr(func, "__name__", str(func))
    if name in COMPRESSED:
        return COMPRESSED[name](*args, **kwargs)
    if operator is None and is_attribute(func):
        return func(*args, **kwargs)
    base = operator.inplace_of.name if operator is not None and operator.inplace_of is not None else None
    first = args[0] if args else None
    result = answer(func if base is None else operator.inplace_of.fn, *_in_coordinates(args, kwargs))  # type: ignore[union-attr]
    result = _like(first, result)
    if base is None:
        return result
    if not hasattr(first, "_starts"):
        return first.copy_(result)  # type: ignore[union-attr]
    first._starts, first._places, first._held = result._starts, result._places, result._held  # type: ignore[union-attr]
    return first


COMPRESSED: dict[str, Callable[..., Any]] = {}


def _in_coordinates(args: Any, kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    def one(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(one(v) for v in value) if any(hasattr(v, "_starts") for v in value) else value
        return value.coordinates() if hasattr(value, "_starts") else value

    return tuple(one(a) for a in args), {k: one(v) for k, v in kwargs.items()}


def _like(first: Any, result: Any) -> Any:
    """A sparse matrix in the layout of the first argument."""
    fits = hasattr(first, "_starts") and hasattr(result, "_at") and result.sparse_dim() == 2
    if not fits:
        return result
    return result.to_sparse(layout=first.layout, blocksize=first.blocksize if first.blocksize != (1, 1) else None)
