"""Which operators know sparse tensors: a table from their names to functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import tenfold
from tenfold.dispatch.observed import is_attribute
from tenfold.types.dtypes import type_name

Function = TypeVar("Function", bound=Callable[..., Any])

TABLE: dict[str, Callable[..., Any]] = {}
NEEDS_SUM: set[str] = set()  # operators that sum values of equal coordinates first, which their in-place forms do not do


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
        return _into(kwargs, TABLE[name], args)
    if operator is not None and operator.inplace_of is not None and operator.inplace_of.name in TABLE:
        base = operator.inplace_of.name
        if base in NEEDS_SUM and not args[0].is_coalesced():
            raise RuntimeError(f"{name} requires coalesced input: call .coalesce() first")
        return written(args[0], TABLE[base](*args, **kwargs))
    if operator is None and is_attribute(func):
        return func(*args, **kwargs)
    raise NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'SparseCPU' backend: of sparse tensors it has no meaning, "
        "or tenfold-sparse lacks it; call .to_dense() first"
    )


def _into(kwargs: dict[str, Any], function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result of an operator, in the tensor that `out=` names if one does."""
    out = kwargs.get("out")
    if out is None:
        return function(*args, **{k: v for k, v in kwargs.items() if k != "out"})
    others = {k: v for k, v in kwargs.items() if k != "out"}
    if function is TABLE["zeros"]:
        return function(*args, out=out, **others)
    return written(out, function(*args, **others))


def written(target: Any, result: Any) -> Any:
    """The result of an operator in the tensor that is to have it: the one it is called of in place, or that of `out=`."""
    if not tenfold.can_cast(result.dtype, target.dtype):
        raise RuntimeError(
            f"result type {type_name(result.dtype)} can't be cast to the desired output type {type_name(target.dtype)}"
        )
    if not target.is_sparse:
        return target.copy_(result.to_dense() if result.is_sparse else result)
    if not result.is_sparse:
        raise RuntimeError(f"a sparse tensor of {list(target.shape)} cannot take a dense result; give a dense one as out=")
    return target.become(result.to(target.dtype))


def answer_compressed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of an operator some of whose arguments are compressed: by a function of their own, or in coordinates."""
    operator = getattr(func, "op", None)
    name = operator.name if operator is not None else getattr(func, "__name__", str(func))
    base = operator.inplace_of.name if operator is not None and operator.inplace_of is not None else None
    if name not in COMPRESSED and operator is None and is_attribute(func):
        return func(*args, **kwargs)
    first = args[0] if args else None
    out, others = kwargs.get("out"), {k: v for k, v in kwargs.items() if k != "out"}
    known = COMPRESSED.get(name, COMPRESSED.get(base or name))
    if known is not None:
        result = known(*args, **others)
    else:
        plain = func if base is None else operator.inplace_of.fn  # type: ignore[union-attr]
        result = _like(first, answer(plain, *_in_coordinates(args, others)))
    if out is None and (base is None or name in COMPRESSED):
        return result
    return _written_compressed(first if out is None else out, result)


def _written_compressed(target: Any, result: Any) -> Any:
    """The result of an operator in the compressed or dense tensor that is to have it."""
    if not tenfold.can_cast(result.dtype, target.dtype):
        raise RuntimeError(
            f"result type {type_name(result.dtype)} can't be cast to the desired output type {type_name(target.dtype)}"
        )
    if target.layout is tenfold.strided:
        return target.copy_(result.to_dense())
    if result.layout is tenfold.strided:
        raise RuntimeError(f"a tensor of the layout {target.layout} cannot take a dense result; give a dense one as out=")
    same = result.layout is target.layout
    made = (result if same else result.to_sparse(layout=target.layout)).to(target.dtype)
    if not _has_places_of(made, target):
        return target.become(made)
    target._held.copy_(made._held)  # which other tensors share: a transposed matrix and the one that it is of
    return target


def _has_places_of(made: Any, target: Any) -> bool:
    """Whether a tensor has elements at the same places as another of its layout, in the same order."""
    pairs = ((made._starts, target._starts), (made._places, target._places))
    alike = made.shape == target.shape and made._held.shape == target._held.shape
    return alike and all(a is b or (a.shape == b.shape and bool((a == b).all())) for a, b in pairs)


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
