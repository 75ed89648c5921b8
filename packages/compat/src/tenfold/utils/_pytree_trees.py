"""Trees of Python's containers: `torch.utils._pytree`, by which libraries walk through nested arguments.

A tree is a leaf, or a container of a registered type with trees in it. `tree_flatten` gives the leaves and a description, from
which `tree_unflatten` makes the tree again.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from tenfold import Size
from tenfold.utils._pytree_containers import (
    Context,
    _defaultdict_flatten,
    _defaultdict_flatten_with_keys,
    _defaultdict_unflatten,
    _deque_flatten,
    _deque_flatten_with_keys,
    _deque_unflatten,
    _dict_flatten,
    _dict_flatten_with_keys,
    _dict_unflatten,
    _list_flatten,
    _list_flatten_with_keys,
    _list_unflatten,
    _namedtuple_flatten,
    _namedtuple_flatten_with_keys,
    _namedtuple_unflatten,
    _ordereddict_flatten,
    _ordereddict_flatten_with_keys,
    _ordereddict_unflatten,
    _tuple_flatten,
    _tuple_flatten_with_keys,
    _tuple_unflatten,
    is_namedtuple_class,
)

PyTree = Any
FlattenFunc = Callable[[Any], tuple[list[Any], Context]]
UnflattenFunc = Callable[[Iterable[Any], Context], Any]


class NodeDef(NamedTuple):
    """How a type of container is taken apart and made again."""

    type: Any
    flatten_fn: FlattenFunc
    unflatten_fn: UnflattenFunc
    flatten_with_keys_fn: Callable[[Any], tuple[list[Any], Context]] | None = None


SUPPORTED_NODES: dict[Any, NodeDef] = {}
BUILTIN_TYPES: set[Any] = set()
NAMED_TUPLE: Any = namedtuple  # noqa: PYI024 - under which all of their classes are registered
_MAPPINGS = {dict, OrderedDict, defaultdict}  # which stand for one another in trees that are walked together


class _Dumped(NamedTuple):
    """How a type's contexts are written as text: its name there, and what makes JSON of a context and a context of that."""

    name: str
    dump: Callable[[Context], Any] | None
    load: Callable[[Any], Context] | None


SUPPORTED_SERIALIZED_TYPES: dict[Any, _Dumped] = {}


def register_pytree_node(
    cls: type[Any],
    flatten_fn: FlattenFunc,
    unflatten_fn: UnflattenFunc,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Any = None,
    from_dumpable_context: Any = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list[Any], Context]] | None = None,
) -> None:
    """Let a type be a container: `flatten_fn` gives its children and a context, `unflatten_fn` makes it of them."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    if serialized_type_name is not None:
        SUPPORTED_SERIALIZED_TYPES[cls] = _Dumped(serialized_type_name, to_dumpable_context, from_dumpable_context)


def _get_node_type(tree: PyTree) -> Any:
    kind = type(tree)
    return NAMED_TUPLE if kind not in SUPPORTED_NODES and is_namedtuple_class(kind) else kind


def tree_is_leaf(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> bool:
    """Whether nothing is to be taken apart.

    >>> tree_is_leaf(1), tree_is_leaf([1])
    (True, False)
    """
    return (is_leaf is not None and is_leaf(tree)) or _get_node_type(tree) not in SUPPORTED_NODES


@dataclasses.dataclass(init=True, frozen=True, eq=True, repr=False)
class TreeSpec:
    """What a tree is without its leaves: its type, its context and its children's descriptions."""

    type: Any
    _context: Context
    _children: list[TreeSpec]

    @property
    def context(self) -> Context:
        return self._context

    @property
    def children_specs(self) -> list[TreeSpec]:
        return self._children

    @property
    def num_leaves(self) -> int:
        return 1 if self.is_leaf() else sum(child.num_leaves for child in self._children)

    @property
    def num_nodes(self) -> int:
        return 1 + sum(child.num_nodes for child in self._children)

    @property
    def num_children(self) -> int:
        return len(self._children)

    def is_leaf(self) -> bool:
        """Whether this describes a leaf."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """The children's descriptions."""
        return list(self._children)

    def child(self, index: int) -> TreeSpec:
        """One child's description."""
        return self._children[index]

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """The tree with these leaves: ValueError where their number is another."""
        found = list(leaves)
        if len(found) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(found)} but the spec refers to a pytree that holds "
                f"{self.num_leaves} items ({self})."
            )
        return _grow(self, iter(found))

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """The parts of a tree that lie where this description has leaves: ValueError where the tree is of another form."""
        if self.is_leaf():
            return [tree]
        kind = _get_node_type(tree)
        if kind != self.type and not {kind, self.type} <= _MAPPINGS:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {kind!r}.")
        children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        if len(children) != len(self._children):
            raise ValueError(f"Node arity mismatch; expected {len(self._children)}, but got {len(children)}.")
        if kind in _MAPPINGS:
            keys = self._context[1] if self.type is defaultdict else self._context
            if set(keys) != set(tree):
                missing, extra = set(keys) - set(tree), set(tree) - set(keys)
                raise ValueError(f"Node keys mismatch; missing key(s): {missing}; extra key(s): {extra}.")
            children = [tree[key] for key in keys]
        elif context != self._context and kind is not deque:
            raise ValueError(f"Node context mismatch for custom node type {self.type!r}: {self._context!r} and {context!r}.")
        return [part for spec, child in zip(self._children, children) for part in spec.flatten_up_to(child)]

    def __repr__(self) -> str:
        if self.is_leaf():
            return "*"
        children = ",\n".join(map(repr, self._children)).replace("\n", "\n  ")
        return f"TreeSpec({getattr(self.type, '__name__', self.type)}, {self._context}, [{children}])"

    def __hash__(self) -> int:
        return hash((self.type, repr(self._context), tuple(self._children)))


class LeafSpec(TreeSpec):
    """The description of a leaf."""

    def __init__(self) -> None:
        super().__init__(None, None, [])

    def __repr__(self) -> str:
        return "*"


PyTreeSpec = TreeSpec
_LEAF = LeafSpec()


def _grow(spec: TreeSpec, leaves: Iterator[Any]) -> PyTree:
    if spec.is_leaf():
        return next(leaves)
    children = [_grow(child, leaves) for child in spec._children]
    return SUPPORTED_NODES[spec.type].unflatten_fn(children, spec._context)


def tree_flatten(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree from left to right, and its description.

    >>> tree_flatten({"a": [1, 2], "b": 3})[0]
    [1, 2, 3]
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: PyTree, leaves: list[Any], is_leaf: Callable[[PyTree], bool] | None) -> TreeSpec:
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return _LEAF
    kind = _get_node_type(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree of a description with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec, got {type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> Iterator[Any]:
    """The leaves of a tree, one by one."""
    yield from tree_leaves(tree, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> list[Any]:
    """The leaves of a tree from left to right."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> TreeSpec:
    """The description of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> PyTree:
    """A tree of the same form with what a function makes of each leaf, and of those in the same place of other trees.

    >>> tree_map(lambda a, b: a + b, (1, [2]), (10, [20]))
    (11, [22])
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(spec.flatten_up_to(rest) for rest in rests)]
    return spec.unflatten(map(func, *columns))


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> PyTree:
    """Call a function for each leaf and return the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def map_only(kind: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """A decorator: the function is called for objects of a type, or for which a test holds; others stay as they are."""
    holds = kind if callable(kind) and not isinstance(kind, type) else lambda value: isinstance(value, kind)
    return lambda func: lambda value: func(value) if holds(value) else value


def tree_map_only(
    kind: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> PyTree:
    """`tree_map` for the leaves of a type.

    >>> tree_map_only(int, lambda x: x + 1, [1, "a"])
    [2, 'a']
    """
    return tree_map(map_only(kind)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    kind: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> PyTree:
    """`tree_map_` for the leaves of a type."""
    return tree_map_(map_only(kind)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> bool:
    """Whether a test holds for every leaf."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> bool:
    """Whether a test holds for some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    kind: type[Any], /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> bool:
    """Whether a test holds for every leaf of a type."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, kind))


def tree_any_only(
    kind: type[Any], /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> bool:
    """Whether a test holds for some leaf of a type."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, kind))


def tree_flatten_with_path(
    tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> tuple[list[tuple[tuple[Any, ...], Any]], TreeSpec]:
    """The leaves with their paths from the root, and the description."""
    return list(_paths((), tree, is_leaf)), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> list[tuple[tuple[Any, ...], Any]]:
    """The leaves with their paths from the root.

    >>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path({"a": [1, 2]})]
    [("['a'][0]", 1), ("['a'][1]", 2)]
    """
    return list(_paths((), tree, is_leaf))


def _paths(
    path: tuple[Any, ...], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    kind = _get_node_type(tree)
    with_keys = SUPPORTED_NODES[kind].flatten_with_keys_fn
    if with_keys is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass one to register_pytree_node.")
    for key, child in with_keys(tree)[0]:
        yield from _paths((*path, key), child, is_leaf)


def tree_map_with_path(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> PyTree:
    """`tree_map` with the leaf's path as the function's first argument."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [[path for path, _ in found], [leaf for _, leaf in found], *(spec.flatten_up_to(rest) for rest in rests)]
    return spec.unflatten(map(func, *columns))


def keystr(kp: tuple[Any, ...]) -> str:
    """A path as text."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: tuple[Any, ...]) -> Any:
    """What lies at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def _broadcast_to_and_flatten(
    tree: PyTree, treespec: TreeSpec, is_leaf: Callable[[PyTree], bool] | None = None
) -> list[Any] | None:
    """The leaves of a tree of which some stand for whole branches of a description; None where the forms differ."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or _get_node_type(tree) != treespec.type:
        return None
    children, context = SUPPORTED_NODES[treespec.type].flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    parts = [_broadcast_to_and_flatten(child, spec, is_leaf) for child, spec in zip(children, treespec._children)]
    return None if any(part is None for part in parts) else [leaf for part in parts for leaf in part or ()]


for _type, _name, _functions in (
    (tuple, "builtins.tuple", (_tuple_flatten, _tuple_unflatten, _tuple_flatten_with_keys)),
    (list, "builtins.list", (_list_flatten, _list_unflatten, _list_flatten_with_keys)),
    (dict, "builtins.dict", (_dict_flatten, _dict_unflatten, _dict_flatten_with_keys)),
    (OrderedDict, "collections.OrderedDict", (_ordereddict_flatten, _ordereddict_unflatten, _ordereddict_flatten_with_keys)),
    (defaultdict, "collections.defaultdict", (_defaultdict_flatten, _defaultdict_unflatten, _defaultdict_flatten_with_keys)),
    (deque, "collections.deque", (_deque_flatten, _deque_unflatten, _deque_flatten_with_keys)),
    (NAMED_TUPLE, "collections.namedtuple", (_namedtuple_flatten, _namedtuple_unflatten, _namedtuple_flatten_with_keys)),
):
    register_pytree_node(_type, *_functions[:2], serialized_type_name=_name, flatten_with_keys_fn=_functions[2])
BUILTIN_TYPES.update(SUPPORTED_NODES)
register_pytree_node(  # what is made of its numbers anew may hold anything, and so is a plain tuple
    Size, _tuple_flatten, _tuple_unflatten, serialized_type_name="torch.Size", flatten_with_keys_fn=_tuple_flatten_with_keys
)
