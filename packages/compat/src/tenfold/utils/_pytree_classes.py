"""Classes as trees by their fields, and descriptions of trees made by hand."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from tenfold.utils._pytree_containers import GetAttrKey
from tenfold.utils._pytree_trees import (
    SUPPORTED_NODES,
    SUPPORTED_SERIALIZED_TYPES,
    FlattenFunc,
    LeafSpec,
    PyTree,
    TreeSpec,
    UnflattenFunc,
    register_pytree_node,
    tree_is_leaf,
    tree_leaves,
)


def _register_pytree_node(cls: type[Any], flatten_fn: FlattenFunc, unflatten_fn: UnflattenFunc, **options: Any) -> None:
    """`register_pytree_node` by an older name, which warns, and takes the place of an earlier registration."""
    old, new = "`torch.utils._pytree._register_pytree_node`", "`torch.utils._pytree.register_pytree_node`"
    warnings.warn(f"{old} is deprecated. Please use {new} instead.", FutureWarning, stacklevel=2)
    if cls in SUPPORTED_NODES:
        warnings.warn(f"{cls} is already registered as pytree node. Overwriting the previous registration.", stacklevel=2)
        del SUPPORTED_NODES[cls]
    register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


def register_dataclass(
    cls: type[Any], *, field_names: list[str] | None = None, drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:  # fmt: skip
    """Let a dataclass, or a class that is made of its fields by name, be a container; fields that are None are no children.

    Raises ValueError where `field_names` are not the fields that make an object.

    >>> from tenfold.utils._pytree import register_dataclass, tree_map
    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: int
    ...     y: int
    >>> register_dataclass(Point)
    >>> tree_map(lambda v: v + 1, Point(1, 2)).y
    3
    """
    names = _fields(cls, field_names, set(drop_field_names or ()))

    def flatten(obj: Any) -> tuple[list[Any], Any]:
        given = [name for name in names if getattr(obj, name) is not None]
        return [getattr(obj, name) for name in given], [given, [name for name in names if name not in given]]

    def unflatten(values: Iterable[Any], context: Any) -> Any:
        return cls(**dict(zip(context[0], values, strict=True)), **dict.fromkeys(context[1]))

    def flatten_with_keys(obj: Any) -> tuple[list[Any], Any]:
        values, context = flatten(obj)
        return [(GetAttrKey(name), value) for name, value in zip(context[0], values)], context

    register_pytree_node(
        cls, flatten, unflatten, serialized_type_name=serialized_type_name, flatten_with_keys_fn=flatten_with_keys
    )


def _fields(cls: type[Any], given: list[str] | None, dropped: set[str]) -> list[str]:
    if not dataclasses.is_dataclass(cls):
        if given is None:
            raise ValueError(
                f"field_names must be specified with a list of all fields used to initialize {cls}, as it is not a dataclass."
            )
        return given
    own = [field.name for field in dataclasses.fields(cls) if field.init]
    if given is None:
        return own
    missing, unexpected = set(own) - dropped - set(given), set(given) - (set(own) - dropped)
    text = "field_names does not include all dataclass fields.\n"
    if missing:
        text += (
            f"Missing fields in `field_names`: {missing}. If you want to include these fields in the pytree, please add them to "
            "`field_names`, otherwise please add them to `drop_field_names`.\n"
        )
    if unexpected:
        text += (
            f"Unexpected fields in `field_names`: {unexpected}. Please remove these fields, or add them to `drop_field_names`.\n"
        )
    if missing or unexpected:
        raise ValueError(text)
    return given


def _deregister_pytree_node(cls: type[Any]) -> None:
    """Let a type be a leaf again."""
    del SUPPORTED_NODES[cls]
    SUPPORTED_SERIALIZED_TYPES.pop(cls, None)


_is_leaf = tree_is_leaf  # its older name


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves among arguments, those given by name last.

    >>> arg_tree_leaves(1, [2], k=3)
    [1, 2, 3]
    """
    return [leaf for arg in (*args, *kwargs.values()) for leaf in tree_leaves(arg)]


def treespec_leaf() -> LeafSpec:
    """The description of a leaf."""
    return LeafSpec()


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The description of a tuple of trees with these descriptions.

    >>> treespec_tuple([treespec_leaf()])
    TreeSpec(tuple, None, [*])
    """
    children = list(iterable)
    if not all(isinstance(child, TreeSpec) for child in children):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {children!r}.")
    return TreeSpec(tuple, None, children)


def treespec_dict(mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The description of a dictionary of trees with these descriptions.

    >>> treespec_dict({"a": treespec_leaf()})
    TreeSpec(dict, ['a'], [*])
    """
    children = dict(mapping, **kwargs)
    if not all(isinstance(child, TreeSpec) for child in children.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {children!r}.")
    return TreeSpec(dict, list(children), list(children.values()))
