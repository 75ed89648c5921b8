"""What a program's operator gave, as its schema declares it: values of other kinds are refused, lists and numbers converted."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold._library.schemas import FunctionSchema


def as_declared(schema: FunctionSchema, result: Any) -> Any:
    """The result of an operator's function: a value, or a tuple where the schema declares several.

    Raises: RuntimeError for values of another kind or number, TypeError for a single one in place of several.
    """
    kinds = schema.results
    if len(kinds) == 1:
        return _as_kind(schema, kinds[0], result)
    if not kinds:
        if result is not None:
            raise RuntimeError(f"Expected {schema.name} to return None, as it declares {schema}, but it returned something else")
        return None
    if not isinstance(result, (list, tuple)):
        raise TypeError(f"{schema.name}: Object of type '{type(result).__name__}' is not an instance of 'sequence': {schema}")
    if len(result) != len(kinds):
        raise RuntimeError(f"{schema.name} returned {len(result)} values, but declares {len(kinds)}: {schema}")
    return tuple(_as_kind(schema, kind, value) for kind, value in zip(kinds, result, strict=True))


def _as_kind(schema: FunctionSchema, kind: str, value: Any) -> Any:
    if kind == "Tensor":
        if not (value is None or _stands_for_a_tensor(value)):
            raise RuntimeError(f"{schema.name}: Unable to cast {value!r} to Tensor, which it declares to return: {schema}")
        return value
    if kind == "Tensor[]":
        if not (isinstance(value, (list, tuple)) and all(map(_stands_for_a_tensor, value))):
            raise RuntimeError(f"{schema.name}: Unable to cast {value!r} to a list of tensors, which it declares: {schema}")
        return list(value)
    accepted, convert = _NUMBERS.get(kind, (object, None))
    if not isinstance(value, accepted):
        raise RuntimeError(f"{schema.name}: Unable to cast a {type(value).__name__} to {kind}, which it declares: {schema}")
    return convert(value) if convert is not None and isinstance(value, (int, float)) else value


def _stands_for_a_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "__torch_function__")


_NUMBERS: dict[str, tuple[Any, Any]] = {
    "int": (int, None), "SymInt": (int, None), "float": ((int, float), float), "bool": (int, bool),
}  # fmt: skip
