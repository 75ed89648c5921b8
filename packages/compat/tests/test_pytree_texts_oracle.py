"""Descriptions of trees as text, and classes as trees: PyTorch's texts, and each library reads the other's."""

from __future__ import annotations

import enum
import time
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

from tenfold.utils import _pytree as ours

torch = pytest.importorskip("torch")
from torch.utils import _pytree as theirs  # noqa: E402

Named = namedtuple("Named", "x y")  # noqa: PYI024 - as programs do
Unnamed = namedtuple("Unnamed", "x y")  # noqa: PYI024


class Colour(enum.Enum):
    RED = 1


class Node:
    def __init__(self, value: Any, context: Any) -> None:
        self.value, self.context = value, context


class Custom(Node):
    pass


class Nameless(Node):
    pass


@dataclass
class Fields:
    x: Any
    y: Any = None
    z: Any = 3


@dataclass
class Some:
    x: Any
    y: Any = 1


for _library in (ours, theirs):
    _library._register_namedtuple(Named, serialized_type_name="a.Named")
    _register = _library.register_pytree_node
    _register(Node, lambda n: ([n.value], n.context), lambda v, c: Node(*v, c), serialized_type_name="a.Node")
    _register(
        Custom, lambda n: ([n.value], n.context), lambda v, c: Custom(*v, c), serialized_type_name="a.Custom",
        to_dumpable_context=lambda c: f"<{c}>", from_dumpable_context=lambda text: text[1:-1],
    )  # fmt: skip
    _register(Nameless, lambda n: ([n.value], n.context), lambda v, c: Nameless(*v, c))
    _library.register_dataclass(Fields, serialized_type_name="a.Fields")
    _library.register_dataclass(Some, field_names=["x"], drop_field_names=["y"])

TREES = [
    1, None, [], {}, [1, (2, {"b": 3, "a": [4]})], {1: 2}, OrderedDict(q=6, p=[7]), deque([7, (8,)], maxlen=3),
    deque([1]), defaultdict(list, k=[8]), Named(1, [2]), Node(1, [2, "c"]), Node([1], {"a": Colour.RED}), Node(1, Colour.RED),
    Custom((1, 2), "text"), Fields(1, [2, 3]), Fields(None), time.gmtime(0), Unnamed(1, 2), Nameless(1, 2), Node(1, object()),
]  # fmt: skip


def outcome(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is compared
        return type(error).__name__, str(error)


@pytest.mark.parametrize("tree", TREES, ids=lambda t: type(t).__name__)
def test_texts_are_pytorchs_and_come_back(tree: Any) -> None:
    mine, wanted = ours.tree_structure(tree), theirs.tree_structure(tree)
    text = outcome(ours.treespec_dumps, mine)
    assert text == outcome(theirs.treespec_dumps, wanted)
    if isinstance(text, str):
        assert ours.treespec_loads(text) == mine
        assert theirs.treespec_loads(text) == wanted


@pytest.mark.parametrize(
    "text",
    ["[2, null]", '["x"]', "x", '[1, {"type": "nope", "context": "null", "children_spec": []}]',
     '[1, {"type": "collections.namedtuple", "context": "nope", "children_spec": []}]'],
)  # fmt: skip
def test_texts_that_are_refused(text: str) -> None:
    assert outcome(ours.treespec_loads, text) == outcome(theirs.treespec_loads, text)


def test_other_refusals() -> None:
    for library in (ours, theirs):
        with pytest.raises(TypeError, match=r"Expected `treespec` to be an instance of PyTreeSpec but got item of type"):
            library.treespec_dumps("text")
        with pytest.raises(ValueError, match=r"Unknown protocol -1. Available protocols: \[1\]"):
            library.treespec_dumps(library.tree_structure([1]), -1)
        with pytest.raises(ValueError, match="Both to_dumpable_context and from_dumpable_context"):
            library.register_pytree_node(
                type("Half", (), {}), lambda n: ([], None), lambda v, c: None, serialized_type_name="h", to_dumpable_context=str
            )
    assert outcome(ours.treespec_dumps, ours.tree_structure([1]), 1) == outcome(theirs.treespec_dumps, theirs.tree_structure([1]))


@pytest.mark.parametrize("tree", [Fields(1, [2]), Fields([None], None, None), Some([1, 2])], ids=repr)
def test_classes_are_trees_by_their_fields(tree: Any) -> None:
    for library in (ours, theirs):
        assert library.tree_map(lambda v: v, tree) == tree
    paths = [[(library.keystr(p), v) for p, v in library.tree_leaves_with_path(tree)] for library in (ours, theirs)]
    assert paths[0] == paths[1]
    assert repr(ours.tree_structure(tree)) == repr(theirs.tree_structure(tree))


@pytest.mark.parametrize(
    "options", [{"field_names": ["x"]}, {"field_names": ["x", "y", "q"]}, {"field_names": ["x", "y"], "drop_field_names": ["y"]}]
)
def test_fields_that_are_refused(options: Any) -> None:
    fresh = dataclass(type("Fresh", (), {"__annotations__": {"x": int, "y": int}}))
    assert outcome(lambda: ours.register_dataclass(fresh, **options)) == outcome(
        lambda: theirs.register_dataclass(fresh, **options)
    )
    plain = type("Plain", (), {})
    assert outcome(ours.register_dataclass, plain) == outcome(theirs.register_dataclass, plain)


def test_descriptions_made_by_hand() -> None:
    for library in (ours, theirs):
        leaf = library.treespec_leaf()
        assert library.treespec_tuple([leaf, leaf]) == library.tree_structure((1, 2))
        assert library.treespec_dict({"a": leaf}, b=leaf) == library.tree_structure({"a": 1, "b": 2})
        assert library.arg_tree_leaves(1, [2], k=(3, None)) == [1, 2, 3, None]
    for make, wrong in (("treespec_tuple", [1]), ("treespec_dict", {"a": 1})):
        assert outcome(getattr(ours, make), wrong) == outcome(getattr(theirs, make), wrong)


def test_a_type_is_a_leaf_again() -> None:
    kind = type("Passing", (), {})
    for library in (ours, theirs):
        library.register_pytree_node(kind, lambda n: ([1, 2], None), lambda v, c: kind(), serialized_type_name="passing")
        assert library.tree_leaves(kind()) == [1, 2]
        library._deregister_pytree_node(kind)
        assert len(library.tree_leaves(kind())) == 1
