"""Descriptions of trees as text, in PyTorch's form: JSON with each container's registered name and its context."""

from __future__ import annotations

import enum
import importlib
import json
from collections import defaultdict
from typing import Any

from tenfold.utils._pytree_trees import (
    NAMED_TUPLE,
    SUPPORTED_NODES,
    SUPPORTED_SERIALIZED_TYPES,
    LeafSpec,
    TreeSpec,
    _Dumped,
)

DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1
_PROTOCOLS = [DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL]
_NAMED_TUPLES: dict[type[Any], str] = {}  # classes of named tuples by what their descriptions are called


def _register_namedtuple(cls: type[Any], *, serialized_type_name: str) -> None:
    """Give a class of named tuples the name by which descriptions of it are written."""
    _NAMED_TUPLES[cls] = serialized_type_name


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A description as text, from which `treespec_loads` makes it again, in PyTorch too.

    Raises NotImplementedError for a type without a registered name, TypeError for a context that JSON cannot hold.

    >>> from tenfold.utils._pytree import tree_structure, treespec_dumps
    >>> treespec_dumps(tree_structure(0))
    '[1, {"type": null, "context": null, "children_spec": []}]'
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    _check(DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL if protocol is None else protocol)
    return json.dumps([DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL, _written(treespec)])


def treespec_loads(serialized: str) -> TreeSpec:
    """The description that `treespec_dumps`, of Tenfold or PyTorch, has written.

    >>> from tenfold.utils._pytree import tree_structure, treespec_dumps, treespec_loads
    >>> treespec_loads(treespec_dumps(tree_structure((1, [2]))))
    TreeSpec(tuple, None, [*,
      TreeSpec(list, None, [*])])
    """
    protocol, written = json.loads(serialized)
    _check(protocol)
    return _read(written)


def _check(protocol: int) -> None:
    if protocol not in _PROTOCOLS:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {_PROTOCOLS}")


def _written(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    name, dump, _ = _by_type(spec.type)
    try:
        context = json.dumps(spec.context, default=_enumerated) if dump is None else dump(spec.context)
    except TypeError as error:
        raise TypeError(
            "Unable to serialize context. Please make the context json dump-able, or register a custom serializer using "
            "_register_pytree_node."
        ) from error
    return {"type": name, "context": context, "children_spec": [_written(child) for child in spec.children()]}


def _by_type(kind: Any) -> _Dumped:
    if kind not in SUPPORTED_NODES:
        raise NotImplementedError(f"Serializing {kind} in pytree is not registered.")
    if kind not in SUPPORTED_SERIALIZED_TYPES:
        raise NotImplementedError(
            f"No registered serialization name for {kind} found. Please update your _register_pytree_node call with a "
            "`serialized_type_name` kwarg."
        )
    return SUPPORTED_SERIALIZED_TYPES[kind]


def _read(written: dict[str, Any]) -> TreeSpec:
    name, context = written["type"], written["context"]
    if name is None and context is None and not written["children_spec"]:
        return LeafSpec()
    kind = next((kind for kind, dumped in SUPPORTED_SERIALIZED_TYPES.items() if dumped.name == name), None)
    if kind is None:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    load = SUPPORTED_SERIALIZED_TYPES[kind].load
    made = json.loads(context, object_hook=_member) if load is None else load(context)
    return TreeSpec(kind, made, [_read(child) for child in written["children_spec"]])


def _enumerated(value: object) -> Any:
    """A member of an enumeration by its class and name; TypeError for what else JSON does not know."""
    if not isinstance(value, enum.Enum):
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    kind = type(value)
    return {"__enum__": True, "fqn": f"{kind.__module__}:{kind.__qualname__}", "name": value.name}


def _member(found: dict[str, Any]) -> Any:
    if "__enum__" not in found:
        return found
    module, _, path = found["fqn"].partition(":")
    kind: Any = importlib.import_module(module)
    for part in path.split("."):
        kind = getattr(kind, part)
    return kind[found["name"]]


def _defaultdict_written(context: Any) -> dict[str, Any]:
    factory, keys = context
    where = type(None) if factory is None else factory
    return {
        "default_factory_module": where.__module__, "default_factory_name": where.__qualname__, "dict_context": keys,
    }  # fmt: skip


def _defaultdict_read(written: Any) -> Any:
    module, name = written["default_factory_module"], written["default_factory_name"]
    factory = None if (module, name) == ("builtins", "NoneType") else getattr(importlib.import_module(module), name)
    return [factory, written["dict_context"]]


def _namedtuple_written(cls: Any) -> str:
    if cls not in _NAMED_TUPLES:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {cls} because we didn't register a serializated_type_name. Please "
            "register using `_register_namedtuple`."
        )
    return _NAMED_TUPLES[cls]


def _namedtuple_read(name: str) -> Any:
    found = next((cls for cls, known in _NAMED_TUPLES.items() if known == name), None)
    if found is None:
        raise NotImplementedError(
            f"Can't deserialize TreeSpec of namedtuple class {name} because we couldn't find a serializated name."
        )
    return found


def treespec_pprint(treespec: TreeSpec) -> str:
    """A description as text."""
    return repr(treespec.unflatten("*" * treespec.num_leaves)).replace("'*'", "*")


SUPPORTED_SERIALIZED_TYPES[defaultdict] = _Dumped("collections.defaultdict", _defaultdict_written, _defaultdict_read)
SUPPORTED_SERIALIZED_TYPES[NAMED_TUPLE] = _Dumped("collections.namedtuple", _namedtuple_written, _namedtuple_read)
