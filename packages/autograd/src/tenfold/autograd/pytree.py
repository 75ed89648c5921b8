"""Trees of Python containers: tuples, lists, dictionaries and named tuples with anything else as leaves."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Spec:
    """The shape of a tree: its container's type (None for a leaf), a dictionary's keys, and the children's shapes."""

    kind: Any = None
    keys: tuple[Any, ...] = ()
    children: tuple[Spec, ...] = ()

    @property
    def size(self) -> int:
        """The number of leaves."""
        return 1 if self.kind is None else sum(child.size for child in self.children)


LEAF = Spec()


def is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _children(tree: Any) -> tuple[Any, tuple[Any, ...], list[Any]] | None:
    """(kind, keys, children) of a container; None for a leaf."""
    if type(tree) in (tuple, list) or is_named_tuple(tree):
        return type(tree), (), list(tree)
    if type(tree) in (dict, OrderedDict):
        return type(tree), tuple(tree), list(tree.values())
    return None


def flatten(tree: Any) -> tuple[list[Any], Spec]:
    """The leaves in order, and the shape from which `unflatten` puts them back.

    >>> from tenfold.autograd.pytree import flatten
    >>> flatten({"a": 1, "b": (2, 3)})[0]
    [1, 2, 3]
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree: Any, leaves: list[Any]) -> Spec:
    found = _children(tree)
    if found is None:
        leaves.append(tree)
        return LEAF
    kind, keys, children = found
    return Spec(kind, keys, tuple(_flatten(child, leaves) for child in children))


def unflatten(leaves: Iterable[Any], spec: Spec) -> Any:
    """The tree of this shape with these leaves."""
    return _unflatten(iter(leaves), spec)


def _unflatten(leaves: Iterator[Any], spec: Spec) -> Any:
    if spec.kind is None:
        return next(leaves)
    children = [_unflatten(leaves, child) for child in spec.children]
    if spec.kind in (dict, OrderedDict):
        return spec.kind(zip(spec.keys, children))
    return spec.kind(*children) if hasattr(spec.kind, "_fields") else spec.kind(children)


def tree_map(function: Callable[..., Any], tree: Any) -> Any:
    """The tree with the function applied to each leaf."""
    leaves, spec = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves], spec)


class _Leaf:
    def __repr__(self) -> str:
        return "*"


def form(tree: Any) -> str:
    """The shape of a tree as messages show it.

    >>> from tenfold.autograd.pytree import form
    >>> form({"a": 1, "b": (2, 3)})
    "{'a': *, 'b': (*, *)}"
    """
    return repr(tree_map(lambda _: _Leaf(), tree))


def broadcast_prefix(prefix: Any, spec: Spec) -> list[Any] | None:
    """A leaf for each leaf of `spec`, from a tree that may stop early with one value for a whole branch; None: no fit."""
    found = _children(prefix)
    if found is None:
        return [prefix] * spec.size
    kind, keys, children = found
    if kind is not spec.kind or len(children) != len(spec.children) or set(keys) != set(spec.keys):
        return None
    if keys:
        children = [prefix[key] for key in spec.keys]
    made: list[Any] = []
    for child, part in zip(children, spec.children):
        leaves = broadcast_prefix(child, part)
        if leaves is None:
            return None
        made += leaves
    return made
