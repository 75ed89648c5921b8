"""The containers that are trees from the start: their parts, the keys of those, and how they are put together again."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import Any

Context = Any


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A place in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """A place in a dictionary."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """A field of an object."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        return getattr(obj, self.name)


def _tuple_flatten(d: Any) -> tuple[list[Any], Context]:
    return list(d), None


def _tuple_flatten_with_keys(d: Any) -> tuple[list[Any], Context]:
    return _numbered(d), None


def _tuple_unflatten(values: Iterable[Any], context: Context) -> Any:
    return tuple(values)


_list_flatten, _list_flatten_with_keys = _tuple_flatten, _tuple_flatten_with_keys


def _list_unflatten(values: Iterable[Any], context: Context) -> Any:
    return list(values)


def _dict_flatten(d: Any) -> tuple[list[Any], Context]:
    return list(d.values()), list(d)


def _dict_flatten_with_keys(d: Any) -> tuple[list[Any], Context]:
    return [(MappingKey(k), v) for k, v in d.items()], list(d)


def _dict_unflatten(values: Iterable[Any], context: Context) -> Any:
    return dict(zip(context, values))


_ordereddict_flatten, _ordereddict_flatten_with_keys = _dict_flatten, _dict_flatten_with_keys


def _ordereddict_unflatten(values: Iterable[Any], context: Context) -> Any:
    return OrderedDict(zip(context, values))


def _defaultdict_flatten(d: Any) -> tuple[list[Any], Context]:
    return list(d.values()), [d.default_factory, list(d)]


def _defaultdict_flatten_with_keys(d: Any) -> tuple[list[Any], Context]:
    return _dict_flatten_with_keys(d)[0], [d.default_factory, list(d)]


def _defaultdict_unflatten(values: Iterable[Any], context: Context) -> Any:
    return defaultdict(context[0], zip(context[1], values))


def _deque_flatten(d: Any) -> tuple[list[Any], Context]:
    return list(d), d.maxlen


def _deque_flatten_with_keys(d: Any) -> tuple[list[Any], Context]:
    return _numbered(d), d.maxlen


def _deque_unflatten(values: Iterable[Any], context: Context) -> Any:
    return deque(values, maxlen=context)


def _namedtuple_flatten(d: Any) -> tuple[list[Any], Context]:
    return list(d), type(d)


def _namedtuple_flatten_with_keys(d: Any) -> tuple[list[Any], Context]:
    return [(GetAttrKey(field), value) for field, value in zip(d._fields, d)], type(d)


def _namedtuple_unflatten(values: Iterable[Any], context: Context) -> Any:
    return context(*values)


def _numbered(sequence: Iterable[Any]) -> list[Any]:
    """The children of a sequence with their places."""
    return [(SequenceKey(i), value) for i, value in enumerate(sequence)]


_OF_STRUCTSEQ = ("n_fields", "n_sequence_fields", "n_unnamed_fields")


def is_namedtuple_class(cls: Any) -> bool:
    """Whether a class is a named tuple's.

    >>> from collections import namedtuple
    >>> is_namedtuple_class(namedtuple("Point", "x y"))
    True
    """
    fields = getattr(cls, "_fields", None)
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(fields, tuple) and all(type(f) is str for f in fields)


def is_structseq_class(cls: Any) -> bool:
    """Whether a class is one of the interpreter's named tuples, such as `time.struct_time`, or of our results' ones."""
    if not (isinstance(cls, type) and issubclass(cls, tuple)):
        return False
    return cls.__module__.endswith(".return_types") or all(hasattr(cls, name) for name in _OF_STRUCTSEQ)


def is_structseq_instance(obj: Any) -> bool:
    """Whether something is of such a class.

    >>> import tenfold
    >>> is_structseq_instance(tenfold.ones(2).max(0)), is_structseq_instance((1, 2))
    (True, False)
    """
    return is_structseq_class(type(obj))


is_structseq = is_structseq_instance


def is_namedtuple(obj: Any) -> bool:
    """Whether an object is a named tuple, or such a class."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


is_namedtuple_instance = is_namedtuple
