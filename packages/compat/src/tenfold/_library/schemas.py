"""An operator's schema, read from PyTorch's language: its arguments, what they may be, and which of them it changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import tenfold
from tenfold import Tensor

_NONE = object()  # the default of an argument that has to be given
_NAMED = {"None": None, "True": True, "False": False, "contiguous_format": tenfold.contiguous_format}
_ARGUMENT = re.compile(
    r"(?P<type>[A-Za-z]+!?(?:\([a-z0-9|!* ->]*\))?(?:\[\d*\]|\?)*)\s+(?P<name>\w+)\s*(?:=\s*(?P<default>.+))?$"
)


@dataclass(frozen=True)
class Argument:
    """One argument: its type as the schema writes it, its default, whether it is given by name alone, or changed."""

    name: str
    type: str
    default_value: Any
    kwarg_only: bool
    mutated: bool

    def has_default_value(self) -> bool:
        return self.default_value is not _NONE

    def takes(self, value: Any) -> bool:
        """Whether a value may be of the type, as far as that can be told at once; what stands in for a tensor may."""
        if value is None or hasattr(value, "__torch_function__") or hasattr(value, "__torch_dispatch__"):
            return value is not None or self.type.endswith("?") or self.default_value is None
        if self.type.rstrip("?").endswith("]"):
            return isinstance(value, Sequence) and not isinstance(value, str)
        accepted = _KINDS.get(re.sub(r"\(.*\)|[?!]", "", self.type))
        return accepted is None or isinstance(value, accepted)


_KINDS: dict[str, Any] = {"Tensor": Tensor, "str": str}  # numbers become one another, and tensors of one element numbers
for _kind in ("int", "SymInt", "float", "bool"):
    _KINDS[_kind] = (int, float, Tensor)


class FunctionSchema:
    """`namespace::name(Tensor x, int k=2, *, float s=1.0) -> Tensor`.

    >>> schema = parse("mine::scaled(Tensor x, float factor=2.0, *, bool flag=False) -> Tensor")
    >>> schema, schema.is_mutable
    (mine::scaled(Tensor x, float factor=2., *, bool flag=False) -> Tensor, False)
    >>> schema.bind((1.0,), {})
    Traceback (most recent call last):
    RuntimeError: mine::scaled() Expected a value of type 'Tensor' for argument 'x' but instead found type 'float'.
    """

    def __init__(self, name: str, arguments: Sequence[Argument], returns: str) -> None:
        full, _, self.overload_name = name.partition(".")
        self.name, self.arguments, self._returns = full, list(arguments), returns
        self.is_mutable = any(a.mutated for a in arguments)
        plain = re.sub(r"(?<=\w)\([a-z0-9|!* ->]*\)", "", returns)  # without what the results share memory with
        self.results = [part.split()[0] for part in _parts(plain[1:-1] if plain.startswith("(") else plain)]
        self.by_name_alone = [a.name for a in arguments if a.kwarg_only and a.type.startswith("Tensor")]  # tensors
        self._positional = [a for a in arguments if not a.kwarg_only]
        self._by_name = {a.name: a for a in arguments}

    def returns_nothing(self) -> bool:
        return self._returns == "()"

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """All arguments by place, and those given by name alone, with defaults; RuntimeError for what does not fit."""
        if len(args) > len(self._positional):
            raise RuntimeError(
                f"{self.name}() expected at most {len(self._positional)} argument(s) but received {len(args)} argument(s). "
                f"Declaration: {self}"
            )
        given = {a.name: value for a, value in zip(self._positional, args, strict=False)}
        for name, value in kwargs.items():
            if name not in self._by_name:
                raise RuntimeError(f"Unknown keyword argument '{name}' for operator '{self.name}'. Schema: {self}")
            if name in given:
                raise RuntimeError(f"{self.name}() got multiple values for argument '{name}'. Declaration: {self}")
            given[name] = value
        places, names = [], {}
        for a in self.arguments:
            value = given.get(a.name, a.default_value)
            if value is _NONE:
                raise RuntimeError(f"{self.name}() is missing value for argument '{a.name}'. Declaration: {self}")
            if a.name in given and not a.takes(value):
                raise RuntimeError(
                    f"{self.name}() Expected a value of type '{a.type}' for argument '{a.name}' but instead found type "
                    f"'{type(value).__name__}'."
                )
            if a.kwarg_only:
                names[a.name] = value
            else:
                places.append(value)
        return places, names

    def __str__(self) -> str:
        written: list[str] = []
        for a in self.arguments:
            if a.kwarg_only and "*" not in written:
                written.append("*")
            written.append(f"{a.type} {a.name}{_shown(a)}")
        overload = f".{self.overload_name}" if self.overload_name else ""
        return f"{self.name}{overload}({', '.join(written)}) -> {self._returns}"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionSchema) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def _shown(a: Argument) -> str:
    value = a.default_value
    if value is _NONE:
        return ""
    if isinstance(value, str):
        return f'="{value}"'
    if isinstance(value, float) and a.type.startswith("float"):
        return f"={value:g}" + "." * (value.is_integer() and "e" not in f"{value:g}")
    return f"={value}"


@cache
def parse(text: str) -> FunctionSchema:
    """The schema that a text says; RuntimeError for one that says none."""
    name, opened, rest = text.strip().partition("(")
    inner, arrow, returns = rest.rpartition("->")
    inner = inner.strip()
    if not opened or not arrow or not inner.endswith(")") or not name.strip():
        raise RuntimeError(f"expected a schema such as 'name(Tensor x, int k=2) -> Tensor', got {text!r}")
    arguments, by_name = [], False
    for part in _parts(inner[:-1]):
        if part == "*":
            by_name = True
            continue
        found = _ARGUMENT.match(part)
        if found is None:
            raise RuntimeError(f"expected an argument such as 'Tensor x' or 'int k=2' in a schema, got {part!r} in {text!r}")
        kind, default = found["type"], found["default"]
        value = _NONE if default is None else _value(default.strip())
        arguments.append(Argument(found["name"], kind, value, by_name, "!" in kind))
    return FunctionSchema(name.strip(), arguments, returns.strip())


def _parts(text: str) -> list[str]:
    """What commas outside of brackets part."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return [part for part in [*parts, text[start:].strip()] if part]


def _value(text: str) -> Any:
    """A default: a number, a text, a list of them, or a name that stands for a value or itself."""
    if text.startswith("[") and text.endswith("]"):
        return [_value(part) for part in _parts(text[1:-1])]
    if text in _NAMED:
        return _NAMED[text]
    if text[:1] in "\"'":
        return text[1:-1]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return getattr(tenfold, text, text)
