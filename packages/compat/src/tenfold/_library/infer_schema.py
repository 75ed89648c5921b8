"""The schema of an operator, in PyTorch's language, from the annotations of its function."""

from __future__ import annotations

import collections.abc
import inspect
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

import tenfold
from tenfold import Tensor

_SCALARS = {
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", tenfold.dtype: "ScalarType",
    tenfold.device: "Device",
}  # fmt: skip
_NUMBER = frozenset((int, float, bool))
_LISTS = (list, collections.abc.Sequence)
_LISTED = ("Tensor", "Tensor?", "SymInt", "float", "bool", "Scalar")
_RETURNED = ("Tensor", "SymInt", "float", "bool", "Scalar")


def infer_schema(
    prototype_function: Callable[..., Any], /, *, mutates_args: str | Iterable[str], op_name: str | None = None, tags: Any = ()
) -> str:
    """The schema that a function's annotations say, with a mark at arguments that it changes.

    Raises ValueError for a parameter or result without a type, or of one that a schema cannot say.

    >>> def scaled(x: Tensor, sizes: list[int], factor: float = 2.0, *, out: Tensor | None = None) -> Tensor: ...
    >>> infer_schema(scaled, mutates_args={"out"}, op_name="mine::scaled")
    'mine::scaled(Tensor x, SymInt[] sizes, float factor=2.0, *, Tensor(a3!)? out=None) -> Tensor'
    """
    signature = inspect.signature(prototype_function)

    def fail(what: str) -> typing.NoReturn:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    hints = typing.get_type_hints(prototype_function)
    if isinstance(mutates_args, str) and mutates_args != "unknown":
        raise ValueError(
            "mutates_args must either be a sequence of the names of the arguments that are mutated or the string 'unknown'. "
        )
    changed = set() if mutates_args == "unknown" else set(mutates_args)
    if absent := changed - set(signature.parameters):
        fail(
            f"{absent} in mutates_args were not found in the custom op's signature. mutates_args should contain the names of all "
            "args that the custom op mutates, or just the string 'unknown' if you don't know."
        )
    written, keywords = [], False
    for i, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            fail("We do not support positional-only args, varargs, or varkwargs.")
        if name not in hints:
            fail(f"Parameter {name} must have a type annotation.")
        kind = _schema_type(hints[name])
        if kind is None:
            fail(f"Parameter {name} has unsupported type {hints[name]}.")
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            written.append("*")
            keywords = True
        if name in changed or (mutates_args == "unknown" and kind.startswith("Tensor")):
            if not kind.startswith("Tensor"):
                fail(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
            kind = kind.replace("Tensor", f"Tensor(a{i}!)", 1)
        written.append(f"{kind} {name}{_default(parameter, fail)}")
    if "return" not in hints:
        fail("No return type annotation was provided. Please add one.")
    name = "" if op_name is None else op_name
    return f"{name}({', '.join(written)}) -> {_returned(hints['return'], fail)}"


def _schema_type(hint: Any) -> str | None:
    """A type as schemas write it, or None where they cannot."""
    if isinstance(hint, type) and hint in _SCALARS:
        return _SCALARS[hint]
    origin, members = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        some = frozenset(members) - {type(None)}
        inner = "Scalar" if some == _NUMBER else _schema_type(next(iter(some))) if len(some) == 1 else None
        if inner is None or len(some) == len(members):
            return inner
        return None if inner == "Tensor[]" else f"{inner}?"
    if origin in _LISTS:
        inner = _schema_type(members[0])
        return f"{inner}[]" if inner in _LISTED else None
    return None


def _default(parameter: inspect.Parameter, fail: Callable[[str], typing.NoReturn]) -> str:
    value = parameter.default
    if value is parameter.empty:
        return ""
    if value is None or isinstance(value, int | float):
        return f"={value}"
    if isinstance(value, str):
        return f'="{value}"'
    if isinstance(value, tenfold.dtype):
        return f"={value.name}"
    if isinstance(value, tenfold.device):
        return f'="{value}"'
    return fail(f"Parameter {parameter.name} has an unsupported default value type {type(value)}.")


def _returned(hint: Any, fail: Callable[[str], typing.NoReturn]) -> str:
    if hint is None or hint is type(None):
        return "()"
    if typing.get_origin(hint) is tuple:
        return f"({', '.join(_returned(member, fail) for member in typing.get_args(hint))})"
    kind = _schema_type(hint)
    if kind is None or kind.removesuffix("[]") not in _RETURNED or (kind.endswith("[]") and kind != "Tensor[]"):
        fail(f"Return has unsupported type {hint}.")
    return kind
